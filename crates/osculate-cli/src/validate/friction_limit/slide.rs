//! A disk slides and spins to a stop under three laws of one budget.

use super::spin::disk;
use super::{Limit, Mode, on_ground, roll, steps, stride};
use crate::CliError;
use crate::validate::scenes::root;
use crate::validate::{Check, Findings};
use nalgebra::Vector3;
use osculate_contact::impulse::limit_surface;
use osculate_contact::impulse::torsion::uniform_disk_radius;
use osculate_dynamics::impulse::{ImpulseSettings, Torsion};
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

/// What couples sliding and spin, and its name.
const LAWS: [(Torsion, &str); 3] = [
    (Torsion::LimitSurface, "limit surface"),
    (Torsion::Ellipsoid, "ellipsoid"),
    (Torsion::Linear, "linear budget"),
];

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
    for (place, (law, law_name)) in LAWS.into_iter().enumerate() {
        for (which, &ratio) in slide.ratios.iter().enumerate() {
            let motion = limit.slid(law, ratio)?;
            let what = format!("slide and spin from ε = {ratio}, {law_name}");
            findings.checks.push(judge(&what, law, &motion, (slide, allowed)));
            let every = stride(motion.len(), 300);
            let points = motion.iter().step_by(every).chain(motion.last());
            let (x, y) = points.map(|[v, w]| (v / slide.speed, v / w)).unzip();
            let name = format!("{law_name} from ε = {ratio}");
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

/// What a law says about the end of a motion.
fn judge(
    what: &str,
    law: Torsion,
    motion: &[[f64; 2]],
    (slide, allowed): (&Slide, &super::Tolerances),
) -> Check {
    let nothing = [f64::NAN; 2];
    let (start, end) = match motion {
        [start, .., end] => (*start, *end),
        _ => (nothing, nothing),
    };
    match law {
        Torsion::LimitSurface => Check::absolute(
            format!("{what}: ε at {} of the speed", slide.late),
            "",
            [end[0] / end[1], FIXED_POINT],
            allowed.ratio,
        ),
        // I/(m r²) = (1/2)/(4/9).
        Torsion::Ellipsoid => Check::absolute(
            format!("{what}: d ln v/d ln ω, of this law"),
            "",
            [(end[0] / start[0]).ln() / (end[1] / start[1]).ln(), 9.0 / 8.0],
            allowed.exponent,
        ),
        Torsion::Linear => Check::absolute(
            format!("{what}: part of the spin lost while it slides, of this law"),
            "",
            [1.0 - end[1] / start[1], 0.0],
            allowed.linear,
        ),
    }
}

impl Limit {
    fn slid(&self, law: Torsion, ratio: f64) -> Result<Motion, CliError> {
        let (slide, radius) = (&self.slide, self.spin.radius);
        let start = [slide.speed, slide.speed / ratio];
        let late = start.map(|x| x * slide.late);
        let count = steps(slide.duration, slide.dt)?;
        let mut motion = vec![start];
        let mut body = disk(self.mass, radius, slide.friction)?;
        body.impulse.torsional_radius = uniform_disk_radius(radius);
        body.velocity.x = start[0];
        body.angular_velocity.z = start[1] / radius;
        let scene = on_ground(body, slide.friction)?;
        let settings = ImpulseSettings { torsion: law, ..Mode::Points.warm(1000, 1e-12) };
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
