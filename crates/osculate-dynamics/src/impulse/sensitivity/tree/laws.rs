//! Pullback of the laws of joints that have no rows, in closed form.
//!
//! ```text
//! p = h (c v⁺ − f),   f = τ + k_p (q* − q − h v⁺) + k_d (v* − v⁺) within ± τ_max, ± τ_max beyond
//! ```
//!
//! `p` is [`smooth_impulse`](super::balance::smooth_impulse); the tests compare the two.

use crate::articulated::JointLaws;
use crate::reduction::NUMBER_COUNT;

/// Where the numbers of a joint stand, see [`crate::reduction::NUMBERS`].
const VISCOUS: usize = 6;
const EFFORT: usize = 15;
const STIFFNESS: usize = 16;
const DAMPING: usize = 17;
pub(super) const TARGET: usize = crate::reduction::TARGET;
const TARGET_VELOCITY: usize = 19;
const EFFORT_LIMIT: usize = 20;

/// Adds `−ψ ∂p` by the numbers of a joint; returns that by its coordinate.
pub(super) fn pull_smooth(
    laws: &JointLaws,
    q: Option<f64>,
    (after, psi, h): (f64, f64, f64),
    numbers: &mut [f64; NUMBER_COUNT],
) -> f64 {
    let by_force = h * psi;
    numbers[VISCOUS] -= by_force * after;
    let (Some(drive), Some(q)) = (&laws.drive, q) else { return 0.0 };
    if drive.effort_limit.is_some() && drive.slope(h) > 0.0 {
        // It has a row.
        return 0.0;
    }
    let end = q + after * h;
    let demand = drive.demand(end, after);
    if let Some(limit) = drive.effort_limit.filter(|limit| demand.abs() > *limit) {
        numbers[EFFORT_LIMIT] += if demand > limit { by_force } else { -by_force };
        return 0.0;
    }
    numbers[EFFORT] += by_force;
    numbers[STIFFNESS] += by_force * (drive.target - end);
    numbers[DAMPING] += by_force * (drive.target_velocity - after);
    numbers[TARGET] += by_force * drive.stiffness;
    numbers[TARGET_VELOCITY] += by_force * drive.damping;
    -by_force * drive.stiffness
}

#[cfg(test)]
mod tests {
    use super::super::adjoint::{SEEDS, Seeded, seeded};
    use super::super::balance::smooth_impulse;
    use super::*;
    use crate::articulated::{JointDrive, JointFriction};

    #[test]
    fn closed_form_is_the_dual_one_on_every_branch() {
        let friction = JointFriction { viscous: 0.3, ..JointFriction::default() };
        let drive = |stiffness: f64, damping: f64, effort_limit: Option<f64>| {
            let (effort, target, target_velocity) = (0.4, 0.7, -0.2);
            Some(JointDrive { effort, stiffness, damping, target, target_velocity, effort_limit })
        };
        let drives = [
            None,
            drive(40.0, 2.0, None),
            drive(40.0, 2.0, Some(1e3)),
            drive(0.0, 0.0, Some(1.0)),
            drive(0.0, 0.0, Some(0.1)),
        ];
        for drive in drives {
            for (q, after) in [(Some(0.2), 0.5), (Some(1.2), -3.0), (None, 0.5)] {
                let laws = JointLaws { friction, limits: None, drive };
                let (psi, h) = (-0.7, 0.01);
                let mut numbers = [0.0; NUMBER_COUNT];
                let by_q = pull_smooth(&laws, q, (after, psi, h), &mut numbers);
                let moved = q.map(|q| Seeded::variable(q, NUMBER_COUNT));
                let p = smooth_impulse(&seeded(&laws), moved, Seeded::constant(after), h);
                let all = numbers.iter().chain([&by_q]);
                assert_eq!(p.eps.len(), SEEDS);
                for (i, (found, by)) in all.zip(p.eps).enumerate() {
                    let wanted = -psi * by;
                    assert!((found - wanted).abs() <= 1e-15, "{drive:?} {i}: {found} {wanted}");
                }
            }
        }
    }
}
