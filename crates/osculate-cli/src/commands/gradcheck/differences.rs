//! Derivatives of a scene's outcome by differences of roll-outs that are run again.
//!
//! ```text
//! D(h)    = (f(p + h) − f(p − h)) / 2h
//! D₁(h)   = (4 D(h/2) − D(h)) / 3              D₂(h) = (16 D₁(h/2) − D₁(h)) / 15
//! ```
//!
//! `D₂` is taken at four steps, a decade apart. Its truncation error falls with `h⁶` and its rounding error grows
//! with `1/h`, so the two neighbours that agree best are the best estimate, and what they differ by is its error.

use osculate_dynamics::file::BuiltScene;
use osculate_dynamics::sensitivity::tangent;
use osculate_dynamics::{Layout, Trajectory};

/// Steps, relative to the scale of the parameter.
const STEPS: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];

/// A derivative by differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) value: f64,
    pub(super) error: f64,
}

/// Derivative by parameter `i` of the layout; none where a roll-out fails or the parameter is at the edge of its
/// range.
pub(super) fn derivative(
    scene: &BuiltScene,
    layout: &Layout,
    (i, scale): (usize, f64),
    scratch: &mut Trajectory,
) -> Option<Difference> {
    let mut outcome = |x: f64| {
        let mut parameters = scene.parameters.clone();
        layout.add(&mut parameters, i, x);
        scene.simulator.run_into(&parameters, scratch).ok()?;
        let steps = scene.simulator.steps();
        Some(tangent::evaluate(&scratch.path, &parameters, steps, &scene.outcome))
    };
    let mut central = |h: f64| Some((outcome(h)? - outcome(-h)?) / (2.0 * h));
    let mut extrapolated = |h: f64| {
        let d = [central(h)?, central(h * 0.5)?, central(h * 0.25)?];
        let first = [(4.0 * d[1] - d[0]) / 3.0, (4.0 * d[2] - d[1]) / 3.0];
        Some((16.0 * first[1] - first[0]) / 15.0)
    };
    // A step that fails takes its neighbours with it, no more.
    let found = STEPS.map(|h| extrapolated(h * scale));
    let pairs = found.windows(2).filter_map(|pair| {
        let (coarse, fine) = (pair[0]?, pair[1]?);
        let error = (coarse - fine).abs();
        error.is_finite().then_some(Difference { value: coarse, error })
    });
    pairs.min_by(|a, b| a.error.total_cmp(&b.error))
}

/// What is a large change of each parameter, and whether it may change to both sides.
pub(super) fn scales(scene: &BuiltScene, layout: &Layout) -> Vec<Option<f64>> {
    let values = layout.values(&scene.parameters);
    let entries = layout.entries().iter().zip(&values);
    entries.map(|(e, &x)| scale(scene, layout, (&e.path, e.unit, x))).collect()
}

fn scale(scene: &BuiltScene, layout: &Layout, (path, unit, x): (&str, &str, f64)) -> Option<f64> {
    let (body, symbol) = path.rsplit_once('.').unwrap_or(("", path));
    let values = |name: &str| {
        let i = layout.index(&format!("{body}.{name}"))?;
        Some(layout.values(&scene.parameters)[i].abs())
    };
    match symbol {
        // Bounded below by zero: the step stays inside, and there is none at the bound.
        "k" | "epsilon" | "delta_extra" | "mu" | "c_t" | "c_n" | "v_f" | "mass" | "radius" => {
            (x > 0.0).then_some(x)
        }
        "delta" => Some(if x == 0.0 { 1e-3 } else { x.abs() }),
        "m" => (x.abs() < 1.0).then_some(1.0 - x.abs()),
        _ if symbol.starts_with("inertia") => {
            let trace = ["xx", "yy", "zz"].iter().filter_map(|a| values(&format!("inertia_{a}")));
            Some(trace.fold(0.0, f64::max))
        }
        _ if symbol.starts_with("half_extent") => Some(x),
        _ => Some(x.abs().max(match unit {
            "m" | "N m" => 0.1,
            "m/s²" => 10.0,
            _ => 1.0,
        })),
    }
}
