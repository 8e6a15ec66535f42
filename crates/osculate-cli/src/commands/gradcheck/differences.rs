//! Derivatives of a scene's outcome by differences of roll-outs that are run again.
//!
//! ```text
//! D(h)    = (f(p + h) − f(p − h)) / 2h
//! D₁(h)   = (4 D(h/2) − D(h)) / 3              D₂(h) = (16 D₁(h/2) − D₁(h)) / 15
//! ```
//!
//! `D₂` is taken at four steps, a decade apart. Its truncation error falls with `h⁶` and its rounding error grows
//! with `1/h`, so the two neighbours that agree best are the best estimate, and what they differ by is its error.

use super::Check;
use osculate_dynamics::sensitivity::Outcome;
use osculate_fit::contact_model::{ContactModel, Entry, index_of};

/// Steps, relative to the scale of the parameter.
const STEPS: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];

/// A derivative by differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) value: f64,
    pub(super) error: f64,
}

/// Derivative by parameter `i` of the layout; none where roll-outs fail or the parameter is at the edge of its range.
pub(super) fn derivative<S: ContactModel, O: Outcome>(
    check: &Check<'_, S, O>,
    (i, scale): (usize, f64),
    scratch: &mut S::Trajectory,
) -> Option<Difference> {
    let mut outcome = |x: f64| check.value_at((i, x), scratch);
    let mut central = |h: f64| Some((outcome(h)? - outcome(-h)?) / (2.0 * h));
    best(|h| {
        let h = h * scale;
        let d = [central(h)?, central(h * 0.5)?, central(h * 0.25)?];
        let first = [(4.0 * d[1] - d[0]) / 3.0, (4.0 * d[2] - d[1]) / 3.0];
        Some((16.0 * first[1] - first[0]) / 15.0)
    })
}

/// Derivatives below and above the value of a parameter: the same extrapolation of differences to one side.
///
/// * `value`: of the outcome.
pub(super) fn one_sided<S: ContactModel, O: Outcome>(
    check: &Check<'_, S, O>,
    value: f64,
    (i, scale): (usize, f64),
    scratch: &mut S::Trajectory,
) -> Option<[Difference; 2]> {
    let mut side = |sign: f64| {
        let mut forward = |h: f64| {
            let moved = check.value_at((i, sign * h), scratch)?;
            Some((moved - value) / (sign * h))
        };
        best(|h| {
            let h = h * scale;
            let d = [forward(h)?, forward(h * 0.5)?, forward(h * 0.25)?];
            let first = [2.0 * d[1] - d[0], 2.0 * d[2] - d[1]];
            Some((4.0 * first[1] - first[0]) / 3.0)
        })
    };
    Some([side(-1.0)?, side(1.0)?])
}

/// Of an extrapolation at every step, the two neighbours that agree best.
fn best(extrapolated: impl FnMut(f64) -> Option<f64>) -> Option<Difference> {
    // A step that fails takes its neighbours with it, no more.
    let found = STEPS.map(extrapolated);
    let pairs = found.windows(2).filter_map(|pair| {
        let (coarse, fine) = (pair[0]?, pair[1]?);
        let error = (coarse - fine).abs();
        error.is_finite().then_some(Difference { value: coarse, error })
    });
    pairs.min_by(|a, b| a.error.total_cmp(&b.error))
}

/// What is a large change of each parameter, and whether it may change to both sides.
pub(super) fn scales(entries: &[Entry], values: &[f64]) -> Vec<Option<f64>> {
    let each = entries.iter().zip(values);
    each.map(|(e, &x)| scale((entries, values), (&e.path, e.unit, x))).collect()
}

fn scale((entries, all): (&[Entry], &[f64]), (path, unit, x): (&str, &str, f64)) -> Option<f64> {
    let (body, symbol) = path.rsplit_once('.').unwrap_or(("", path));
    let values = |name: &str| {
        let i = index_of(entries, &format!("{body}.{name}"))?;
        Some(all[i].abs())
    };
    match symbol {
        // Bounded below by zero: the step stays inside, and there is none at the bound.
        "k" | "epsilon" | "delta_extra" | "mu" | "c_t" | "c_n" | "v_f" | "mass" | "radius" => {
            (x > 0.0).then_some(x)
        }
        "slop" | "cfm" | "speculative" | "normal_stiffness" | "normal_damping"
        | "friction_scale" | "torsional_radius" | "spin_friction" | "rolling_friction" => {
            (x > 0.0).then_some(x)
        }
        // No limit is no number.
        "max_correction_speed" => (x > 0.0 && x.is_finite()).then_some(x),
        // Bounded above too.
        "restitution" | "erp" | "anchor_beta" => (x > 0.0 && x < 1.0).then_some(x.min(1.0 - x)),
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
