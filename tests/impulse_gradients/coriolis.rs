//! Coriolis forces that act on the way, after contacts.

use crate::case::force;
use crate::joints::{FRICTIONLESS, NO_FRICTION, arm, case, machine, settings};
use osculate_dynamics::articulated::ClosureKind;
use osculate_dynamics::impulse::sensitivity::ImpulseLayout;
use osculate_dynamics::impulse::{Coriolis, ImpulseSettings};

fn conserving(anchor_beta: f64) -> ImpulseSettings {
    ImpulseSettings { coriolis: Coriolis::Conserving, ..settings(anchor_beta) }
}

#[test]
fn arm_that_drags_its_tip_has_exact_derivatives_with_conserving_coriolis_forces() {
    let case = case("arm", arm(0.4), conserving(0.2), (0.004, 12), force(0.2, -0.3, 0.1));
    let gradient = case.adjoint_is_tangent();
    case.agrees_with_differences(&gradient, NO_FRICTION);
    let layout = ImpulseLayout::new(&case.simulator, &case.parameters);
    let at = |path: &str| gradient[layout.index(path).unwrap()];
    for path in ["fore.mu", "joint.upper.k_p", "fore.mass", "joint.turret.armature"] {
        assert!(at(path).abs() > 1e-6, "{path}: {:e}", at(path));
    }
}

/// A floating base, balls, slides and closures, in the air and on a corner.
#[test]
fn machine_has_exact_derivatives_with_conserving_coriolis_forces() {
    for (height, steps) in [(0.3, 5), (0.05, 6)] {
        let (scene, wrench) = (machine(ClosureKind::Fixed, height), force(0.02, 0.01, -0.01));
        let case = case("machine", scene, conserving(0.2), (0.003, steps), wrench);
        let gradient = case.adjoint_is_tangent();
        case.agrees_with_differences(&gradient, FRICTIONLESS);
    }
}
