//! Where the impulse of a sliding contact lands.

use super::Limit;
use crate::CliError;
use crate::validate::{Check, Findings};
use nalgebra::{Matrix2, Vector2};
use osculate_contact::impulse::Disk;
use osculate_contact::impulse::radial::{self, Radii};
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;
use std::f64::consts::TAU;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Landing {
    block: [[f64; 2]; 2],
    radius: f64,
    distance: f64,
    points: usize,
    fine: usize,
}

/// A stick solution and what becomes of it.
struct Landed {
    angle: f64,
    stick: Vector2<f64>,
    radial: Vector2<f64>,
    least: Vector2<f64>,
    /// Angle between slip and −friction \[rad\], of both.
    off: [f64; 2],
    /// Cosine of that of the radial projection.
    cosine: f64,
}

impl Landing {
    fn block(&self) -> Matrix2<f64> {
        let [[a, b], [c, d]] = self.block;
        Matrix2::new(a, b, c, d)
    }

    fn land(&self, angle: f64) -> Result<Landed, CliError> {
        let block = self.block();
        let (sin, cos) = angle.sin_cos();
        let stick = Vector2::new(cos, sin) * (self.distance * self.radius);
        let (old, drive) = (Vector2::zeros(), block * stick);
        let least = Disk { block, drive, radius: self.radius }.solve(&old)?.impulse;
        let radial = radial::update(&block, &Radii::equal(self.radius), &old, &-drive);
        let turn = |x: &Vector2<f64>| {
            let slip = block * x - drive;
            f64::atan2(x.perp(&-slip), x.dot(&-slip))
        };
        let off = [turn(&radial), turn(&least)];
        Ok(Landed { angle, stick, radial, least, off, cosine: off[0].cos() })
    }

    fn ring(&self, points: usize) -> Result<Vec<Landed>, CliError> {
        (0..points).map(|i| self.land(TAU * i as f64 / points as f64)).collect()
    }
}

pub(super) fn run(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let landing = &limit.landing;
    let fine = landing.ring(landing.fine)?;
    let eigenvalues = landing.block().symmetric_eigenvalues();
    let (product, sum) = (eigenvalues.x * eigenvalues.y, eigenvalues.x + eigenvalues.y);
    let least = fine.iter().map(|x| x.cosine).fold(1.0, f64::min);
    let worst = fine.iter().map(|x| x.off[1].abs()).fold(0.0, f64::max);
    let allowed = &limit.tolerance;
    findings.checks.extend([
        Check::absolute(
            "landing: largest angle between slip and −friction, constrained minimum",
            "rad",
            [worst, 0.0],
            allowed.landing,
        ),
        Check::absolute(
            "landing: least cosine of that angle, radial projection",
            "",
            [least, 2.0 * product.sqrt() / sum],
            allowed.least_cosine,
        ),
    ]);
    findings.figures.push(("friction_limit_landing".into(), plane(landing)?));
    let drawn: Vec<&Landed> = fine.iter().step_by(super::stride(fine.len(), 360)).collect();
    let degrees: Vec<f64> = drawn.iter().map(|x| x.angle.to_degrees()).collect();
    let off = |which: usize| drawn.iter().map(|x| x.off[which].to_degrees()).collect();
    let figure = LineFigure {
        title: "Angle from the friction of a sliding contact to the direction against its slip"
            .into(),
        x: Axis::linear("direction of the stick solution", "°"),
        y: Axis::linear("angle", "°"),
        series: vec![
            Series::line("radial projection", degrees.clone(), off(0)),
            Series::line("constrained minimum", degrees, off(1)),
        ],
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_angle".into(), figure));
    Ok(())
}

/// The disk, stick solutions around it, and where they land.
fn plane(landing: &Landing) -> Result<LineFigure, CliError> {
    let landed = landing.ring(landing.points)?;
    let axis = |pick: fn(&Landed) -> Vector2<f64>, axis: usize| {
        landed.iter().map(|x| pick(x)[axis]).collect::<Vec<f64>>()
    };
    let dots = |name: &str, pick: fn(&Landed) -> Vector2<f64>| {
        Series::dots(name, axis(pick, 0), axis(pick, 1))
    };
    let ways = |i: usize| {
        let way = |x: &Landed| [x.stick[i], x.least[i], f64::NAN];
        landed.iter().flat_map(way).collect::<Vec<f64>>()
    };
    let circle = |f: fn(f64) -> f64| {
        (0..=180).map(|i| landing.radius * f(TAU * f64::from(i) / 180.0)).collect()
    };
    Ok(LineFigure {
        title: "Where the impulse of a sliding contact lands".into(),
        x: Axis::equal("first tangential impulse", "N s"),
        y: Axis::equal("second tangential impulse", "N s"),
        series: vec![
            Series::line("friction disk", circle(f64::cos), circle(f64::sin)),
            dots("stick solution", |x| x.stick),
            dots("radial projection", |x| x.radial),
            dots("constrained minimum", |x| x.least),
            Series::line("stick solution to its minimum", ways(0), ways(1)).coloured(3),
        ],
        slopes: vec![],
    })
}
