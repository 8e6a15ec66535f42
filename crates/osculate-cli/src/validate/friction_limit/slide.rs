//! A disk slides and spins to a stop under three laws of one budget.
//!
//! The stepper has the linear budget and the ellipsoid. The limit surface is a law without a row in the stepper: here it moves the
//! three velocities of one disk, each step as implicit as those of the stepper.

use super::spin::disk;
use super::{Limit, Mode, on_ground, roll, steps, stride};
use crate::CliError;
use crate::validate::scenes::{G, root};
use crate::validate::{Check, Findings};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::impulse::torsion::{DiskPatch, uniform_disk_radius};
use osculate_contact::impulse::{Condim, limit_surface};
use osculate_plot::{Axis, LineFigure, Series};
use serde::Deserialize;

/// ε₀ of Farkas et al.
const FIXED_POINT: f64 = 0.653;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Slide {
    friction: f64,
    speed: f64,
    ratios: Vec<f64>,
    late: f64,
    dt: f64,
    duration: f64,
}

/// What couples sliding and spin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Budget {
    LimitSurface,
    Ellipsoid,
    Linear,
}

impl Budget {
    const ALL: [Self; 3] = [Self::LimitSurface, Self::Ellipsoid, Self::Linear];

    fn name(self) -> &'static str {
        match self {
            Self::LimitSurface => "limit surface",
            Self::Ellipsoid => "ellipsoid (condim 4)",
            Self::Linear => "linear budget",
        }
    }
}

/// `[v, R ω]` after each step, until one of them is late.
type Motion = Vec<[f64; 2]>;

pub(super) fn run(limit: &Limit, findings: &mut Findings) -> Result<(), CliError> {
    let slide = &limit.slide;
    // Along the disk's own ratio friction slows both velocities alike: dv/v = dω/ω.
    let fixed = root(
        |x| {
            let g = limit_surface::gradient(&Vector3::new(x, 0.0, 1.0));
            g.x - 2.0 * x * g.z
        },
        0.3,
        0.95,
    );
    let allowed = &limit.tolerance;
    findings.checks.push(Check::absolute(
        "fixed point of the limit surface, against the published one",
        "",
        [fixed, FIXED_POINT],
        5e-4,
    ));
    let mut series = Vec::new();
    for (place, budget) in Budget::ALL.into_iter().enumerate() {
        for (which, &ratio) in slide.ratios.iter().enumerate() {
            let motion = limit.slid(budget, ratio)?;
            let what = format!("slide and spin from ε = {ratio}, {}", budget.name());
            findings.checks.push(judge(&what, budget, &motion, (slide, allowed)));
            let every = stride(motion.len(), 300);
            let points = motion.iter().step_by(every).chain(motion.last());
            let (x, y) = points.map(|[v, w]| (v / slide.speed, v / w)).unzip();
            let name = format!("{} from ε = {ratio}", budget.name());
            series.push(Series::line(name, x, y).coloured(place + 7 * usize::from(which > 0)));
        }
    }
    series.push(Series::line("ε₀ = 0.6530", vec![slide.late, 1.0], vec![fixed; 2]).coloured(3));
    let figure = LineFigure {
        title: "A disk slides and spins to a stop: which way the ratio of its speeds goes".into(),
        x: Axis::log("v over v at the start", ""),
        y: Axis::log("ε = v/(R ω)", ""),
        series,
        slopes: vec![],
    };
    findings.figures.push(("friction_limit_slide".into(), figure));
    Ok(())
}

/// What the law of a budget says about the end of a motion.
fn judge(
    what: &str,
    budget: Budget,
    motion: &[[f64; 2]],
    (slide, allowed): (&Slide, &super::Tolerances),
) -> Check {
    let nothing = [f64::NAN; 2];
    let (start, end) = match motion {
        [start, .., end] => (*start, *end),
        _ => (nothing, nothing),
    };
    match budget {
        Budget::LimitSurface => Check::absolute(
            format!("{what}: ε at {} of the speed", slide.late),
            "",
            [end[0] / end[1], FIXED_POINT],
            allowed.ratio,
        ),
        // I/(m r²) = (1/2)/(4/9).
        Budget::Ellipsoid => Check::absolute(
            format!("{what}: d ln v/d ln ω, of this law"),
            "",
            [(end[0] / start[0]).ln() / (end[1] / start[1]).ln(), 9.0 / 8.0],
            allowed.exponent,
        ),
        Budget::Linear => Check::absolute(
            format!("{what}: part of the spin lost while it slides, of this law"),
            "",
            [1.0 - end[1] / start[1], 0.0],
            allowed.linear,
        ),
    }
}

impl Limit {
    fn slid(&self, budget: Budget, ratio: f64) -> Result<Motion, CliError> {
        let (slide, radius) = (&self.slide, self.spin.radius);
        let start = [slide.speed, slide.speed / ratio];
        let late = start.map(|x| x * slide.late);
        let count = steps(slide.duration, slide.dt)?;
        let mut motion = vec![start];
        if budget == Budget::LimitSurface {
            let inertia = 0.5 * self.mass * radius * radius;
            let inverse = Vector3::new(1.0 / self.mass, 1.0 / self.mass, 1.0 / inertia);
            let mut patch = DiskPatch {
                block: Matrix3::from_diagonal(&inverse),
                velocity: Vector3::new(start[0], 0.0, start[1] / radius),
                budget: slide.friction * self.mass * G * slide.dt,
                radius,
            };
            for _ in 0..count {
                patch.velocity = patch.solve()?.slip;
                let now = [patch.velocity.x, patch.velocity.z * radius];
                if now[0] < late[0] || now[1] < late[1] {
                    break;
                }
                motion.push(now);
            }
            return Ok(motion);
        }
        let mut body = disk(self.mass, radius, slide.friction)?;
        if budget == Budget::Linear {
            body.impulse.torsional_radius = uniform_disk_radius(radius);
        } else {
            body.impulse.condim = Condim::Spinning;
            body.impulse.spin_friction = slide.friction * uniform_disk_radius(radius);
        }
        body.velocity.x = start[0];
        body.angular_velocity.z = start[1] / radius;
        let scene = on_ground(body, slide.friction)?;
        let settings = Mode::Points.warm(1000, 1e-12);
        roll(&scene, settings, &[], (slide.dt, count), |state, _| {
            let now = [state.velocity.x, state.angular_velocity.z * radius];
            let goes_on = now[0] >= late[0] && now[1] >= late[1];
            if goes_on {
                motion.push(now);
            }
            goes_on
        })?;
        Ok(motion)
    }
}
