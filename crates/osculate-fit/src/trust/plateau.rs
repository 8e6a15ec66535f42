//! Does a difference of the outcome agree with its derivative, and over how many decades of the step?

use super::Subject;
use crate::contact_model::ContactModel;
use osculate_dynamics::sensitivity::Outcome;
use serde::Serialize;

/// Steps, relative to the scale of the parameter, in decades.
const DECADES: std::ops::RangeInclusive<i32> = 1..=8;
/// A difference within this of the derivative is on the plateau \[–\].
pub const ON_PLATEAU: f64 = 0.01;

/// A central difference of the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Step, in the unit of the parameter.
    pub step: f64,
    /// `(J(θ + h) − J(θ − h))/2h`; none where a roll-out fails.
    pub value: Option<f64>,
}

/// The steps over which differences agree with the derivative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Plateau {
    /// Smallest of them, in the unit of the parameter.
    pub from: f64,
    /// Largest.
    pub to: f64,
    /// `log₁₀(to/from)`: 0 for a single step.
    pub decades: f64,
}

/// Differences to one side of a parameter that stands at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sides {
    /// `(J(θ) − J(θ − h))/h`.
    pub below: f64,
    /// `(J(θ + h) − J(θ))/h`.
    pub above: f64,
}

/// Steps of differences to one side, relative to the scale: a kink looks alike over both, a bend does not.
const SIDES: [f64; 2] = [1e-3, 1e-5];
/// What the two steps may differ by, relative to what the sides do \[–\].
const ALIKE: f64 = 0.1;

/// Differences over all steps, largest first, and one at the standard error; and those to one side, where they differ however
/// small the step.
///
/// * `value`: of the outcome.
pub(super) fn scan<S: ContactModel, O: Outcome>(
    subject: &Subject<'_, S, O>,
    (layout, value): (&S::Layout, f64),
    parameter: usize,
    (scale, sigma): (f64, f64),
    scratch: &mut S::Trajectory,
) -> (Vec<Difference>, Option<Sides>) {
    let mut outcome = |x: f64| {
        let at = (layout, subject.parameters);
        subject.simulator.value_at(at, (parameter, x), subject.outcome, scratch)
    };
    let mut steps: Vec<f64> = DECADES.map(|d| scale * 10f64.powi(-d)).collect();
    if steps.iter().all(|s| (s / sigma - 1.0).abs() > 1e-9) {
        steps.push(sigma);
        steps.sort_by(|a, b| b.total_cmp(a));
    }
    let mut of_sides = [None; 2];
    let mut central = |h: f64| {
        let (above, below) = (outcome(h)?, outcome(-h)?);
        for (found, step) in of_sides.iter_mut().zip(SIDES) {
            if (h / (scale * step) - 1.0).abs() < 1e-9 {
                *found = Some(Sides { below: (value - below) / h, above: (above - value) / h });
            }
        }
        Some((above - below) / (2.0 * h))
    };
    let differences =
        steps.into_iter().map(|step| Difference { step, value: central(step) }).collect();
    (differences, kink(of_sides))
}

/// The differences of the smaller step, where those of the larger one have the same two sides.
fn kink([large, small]: [Option<Sides>; 2]) -> Option<Sides> {
    let (large, small) = (large?, small?);
    let gap = (small.above - small.below).abs();
    let off = (large.above - small.above).abs().max((large.below - small.below).abs());
    (gap > 2.0 * ON_PLATEAU * small.above.abs().max(small.below.abs()) && off <= ALIKE * gap)
        .then_some(small)
}

/// The widest run of neighbouring steps whose differences agree with the derivative.
pub fn plateau(differences: &[Difference], derivative: f64) -> Option<Plateau> {
    let agrees = |d: &Difference| {
        let off = d.value.map(|v| (v - derivative).abs());
        off.is_some_and(|x| x <= ON_PLATEAU * derivative.abs())
    };
    let runs = differences.split(|d| !agrees(d)).filter_map(|run| {
        let (first, last) = (run.first()?, run.last()?);
        let (from, to) = (first.step.min(last.step), first.step.max(last.step));
        Some(Plateau { from, to, decades: (to / from).log10() })
    });
    runs.max_by(|a, b| a.decades.total_cmp(&b.decades))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_of_a_kink_are_seen_and_those_of_a_bend_are_not() {
        let sides = |f: fn(f64) -> f64| {
            let at = |h: f64| Sides { below: (f(0.0) - f(-h)) / h, above: (f(h) - f(0.0)) / h };
            kink(SIDES.map(|h| Some(at(h))))
        };
        let found = sides(|x| if x < 0.0 { 2.0 * x } else { 3.0 * x + x * x }).unwrap();
        assert!((found.below - 2.0).abs() < 1e-9 && (found.above - 3.0).abs() < 1e-4);
        assert_eq!(sides(|x| 2.0 * x + 50.0 * x * x), None);
        assert_eq!(sides(|x| 2.0 * x), None);
    }

    /// Central differences of `f` at 1, with rounding of a relative `1e-12`.
    fn of(f: impl Fn(f64) -> f64) -> Vec<Difference> {
        let noisy = |x: f64, s: f64| f(x) * (1.0 + 1e-12 * s);
        let d = |h: f64| (noisy(1.0 + h, 1.0) - noisy(1.0 - h, -1.0)) / (2.0 * h);
        (1..=14)
            .map(|k| 10f64.powi(-k))
            .map(|h| Difference { step: h, value: Some(d(h)) })
            .collect()
    }

    #[test]
    fn plateau_lies_between_curvature_and_rounding() {
        let p = plateau(&of(|x| x.powi(3)), 3.0).unwrap();
        // h²/3 < 1 % above, 1e-12/(3h) < 1 % below.
        assert!((p.to / 0.1 - 1.0).abs() < 1e-9 && (p.from / 1e-10 - 1.0).abs() < 1e-9, "{p:?}");
        assert!((p.decades - 9.0).abs() < 1e-9);
    }

    #[test]
    fn jump_within_a_step_ends_the_plateau_there() {
        let p = plateau(&of(|x| x + f64::from(x > 1.0 + 3e-5)), 1.0).unwrap();
        assert!((p.to / 1e-5 - 1.0).abs() < 1e-9, "{p:?}");
    }

    #[test]
    fn wrong_derivative_has_no_plateau() {
        // Below the derivative: the rounding of the differences leads away from it.
        assert_eq!(plateau(&of(|x| x * x), 1.9), None);
    }
}
