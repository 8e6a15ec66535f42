use super::*;
use crate::articulated::{JointDrive, JointFriction, JointLimits};
use osculate_math::check::{self, Law, Smoothness};

const DT: f64 = 1e-2;

fn friction() -> JointFriction {
    JointFriction {
        viscous: 0.02,
        coulomb: 0.1,
        stiction_extra: 0.05,
        stribeck_speed: 0.3,
        falloff_speed: 0.05,
    }
}

fn limits() -> JointLimits {
    JointLimits { damping: 0.4, ..JointLimits::new(-0.3, 0.6) }
}

fn drive() -> JointDrive {
    JointDrive {
        effort: 0.1,
        stiffness: 5.0,
        damping: 0.2,
        target: 0.5,
        target_velocity: 0.3,
        effort_limit: Some(2.0),
    }
}

fn none() -> JointLaws {
    JointLaws::default()
}

fn with_limits() -> JointLaws {
    JointLaws { limits: Some(limits()), ..none() }
}

fn with_drive(change: impl FnOnce(&mut JointDrive)) -> JointLaws {
    let mut drive = drive();
    change(&mut drive);
    JointLaws { drive: Some(drive), ..none() }
}

/// Potential and force of `(q, q⁰)`.
struct Both(JointLaws);
impl Law<2, 2> for Both {
    fn value<T: Scalar>(&self, [position, start]: [T; 2]) -> [T; 2] {
        let laws = self.0.map(&T::from);
        let stage = CoordinateStage { position, start, duration: DT };
        [laws.potential(&stage), laws.force(&stage)]
    }
}

/// Checks derivatives, and that the force is minus the gradient of the potential, both exactly.
fn check(laws: JointLaws, regime: &str, x: [f64; 2], smoothness: Smoothness) {
    check::gradients(&Both(laws), regime, x, [1e-5; 2], smoothness, 1e-6);
    let [potential, _] = Both(laws).value([Jet::<2>::variable(x[0], 0), Jet::variable(x[1], 1)]);
    let stage = CoordinateStage { position: x[0], start: x[1], duration: DT };
    let (force, [by_position, by_start]) = laws.force_derivatives(&stage);
    let scale = force.abs() + potential.eps[1].abs();
    assert!((potential.eps[0] + force).abs() <= 1e-12 * scale, "{regime}: {force}");
    assert!((laws.force(&stage) - force).abs() <= 1e-15 * force.abs(), "{regime}");
    let [_, jet] = Both(laws).value([Jet::<2>::variable(x[0], 0), Jet::variable(x[1], 1)]);
    assert!((by_position - jet.eps[0]).abs() <= 0.0, "{regime}");
    assert!((by_start - jet.eps[1]).abs() <= 0.0, "{regime}");
}

#[test]
fn friction_is_minus_the_gradient_of_its_dissipation() {
    let laws = JointLaws { friction: friction(), ..none() };
    for (regime, v, smoothness) in [
        ("rest", 0.0, Smoothness::Joint),
        ("stick", 0.02, Smoothness::Smooth),
        ("stick, backwards", -0.03, Smoothness::Smooth),
        ("slip, falling torque", 0.2, Smoothness::Smooth),
        ("slip, fast", -0.9, Smoothness::Smooth),
        ("slip, no stiction left", 3.0, Smoothness::Smooth),
    ] {
        check(laws, regime, [v * DT, 0.0], smoothness);
    }
    // Exactly on the falloff speed the force has a slope, and its second derivative jumps.
    check(laws, "falloff speed", [0.05 * DT, 0.0], Smoothness::Joint);
}

#[test]
fn friction_has_the_torques_of_its_parameters() {
    let f = friction();
    let torque = |v: f64| v * f.resistance(v * v) - v * f.viscous;
    assert!((torque(f.falloff_speed) - 0.15).abs() < 1e-15, "stiction at the falloff speed");
    assert!((torque(10.0) - 0.1).abs() < 1e-15, "Coulomb at high speed");
    let at_rest = f.resistance(0.0);
    assert!((at_rest - (0.02 + 2.0 * 0.15 / 0.05)).abs() < 1e-13, "{at_rest}");
    let falling = torque(f.falloff_speed + f.stribeck_speed);
    assert!((falling - (0.1 + 0.05 * (-1.0_f64).exp())).abs() < 1e-15);
}

#[test]
fn friction_never_drives() {
    let f = friction();
    for v in [-2.0, -0.1, -1e-9, 0.0, 1e-3, 0.05, 0.7_f64] {
        assert!(f.resistance(v * v) > 0.0 && f.dissipation(v * v) >= 0.0);
    }
}

#[test]
fn dissipation_without_stiction_is_the_viscous_and_the_coulomb_part() {
    let f = JointFriction { stiction_extra: 0.0, ..friction() };
    for v in [0.01, 0.05, 0.8_f64] {
        let rho = osculate_contact::FrictionRamp::C1.rho(v * v, 0.05);
        let expected = 0.01 * v * v + 0.1 * rho;
        assert!((f.dissipation(v * v) - expected).abs() < 1e-16);
    }
}

#[test]
fn limits_push_back_with_minus_the_gradient_of_their_potential() {
    let laws = with_limits();
    for (regime, q, start, smoothness) in [
        ("apart", 0.2, 0.1, Smoothness::Smooth),
        ("deep above", 0.75, 0.7, Smoothness::Smooth),
        ("deep below", -0.5, -0.4, Smoothness::Smooth),
        ("entering", 0.61, 0.5, Smoothness::Smooth),
        ("on the upper limit, from inside", 0.6, 0.5, Smoothness::Kink),
        ("on the lower limit, from inside", -0.3, -0.2, Smoothness::Kink),
        ("on the upper limit, from outside: the damped force jumps", 0.6, 0.7, Smoothness::Kink),
        ("touching now and before", 0.6, 0.6, Smoothness::Kink),
    ] {
        check(laws, regime, [q, start], smoothness);
    }
}

/// Potential alone: its slope is continuous where the force has a kink.
struct Potential(JointLaws);
impl Law<1, 1> for Potential {
    fn value<T: Scalar>(&self, [position]: [T; 1]) -> [T; 1] {
        let stage = CoordinateStage { position, start: T::from(0.2), duration: DT };
        [self.0.map(&T::from).potential(&stage)]
    }
}

#[test]
fn potential_of_the_limits_joins_with_continuous_slope() {
    let limits = JointLimits { stiffness: 10.0, ..JointLimits::new(-0.3, 0.6) };
    let laws = JointLaws { limits: Some(limits), ..none() };
    for q in [-0.3, 0.6] {
        check::gradients(&Potential(laws), "limit", [q], [1e-3], Smoothness::Joint, 1e-6);
    }
}

#[test]
fn limits_do_nothing_between_them_and_infinite_limits_nowhere() {
    let stage = |position| CoordinateStage { position, start: 0.3, duration: DT };
    for q in [-0.3, 0.0, 0.6] {
        assert!(limits().force(&stage(q)).abs() <= 0.0);
    }
    let open = JointLimits::new(f64::NEG_INFINITY, f64::INFINITY);
    assert!(open.force(&stage(1e6)).abs() <= 0.0 && open.potential(&stage(-1e6)).abs() <= 0.0);
    assert!((limits().force(&stage(0.7)) + (100.0 * 0.1 + 0.4 * 0.1 / DT)).abs() < 1e-12);
}

#[test]
fn drive_is_minus_the_gradient_of_its_potential() {
    // v = (q − q⁰)/Δt; the demand is within the limit, above it and below it.
    for (regime, q, start) in
        [("within", 0.45, 0.45), ("held above", -0.5, -0.5), ("held below", 1.5, 1.4)]
    {
        check(with_drive(|_| ()), regime, [q, start], Smoothness::Smooth);
    }
    // e = 0.1 + 5 (0.5 − q) + 0.2·0.3 = 2 with q = q⁰: exactly on the limit.
    check(with_drive(|_| ()), "on the limit", [0.132, 0.132], Smoothness::Kink);
    let torque = with_drive(|d| (d.stiffness, d.damping) = (0.0, 0.0));
    check(torque, "torque alone", [0.3, 0.2], Smoothness::Smooth);
    check(with_drive(|d| d.effort_limit = None), "no limit", [-5.0, 0.2], Smoothness::Smooth);
}

#[test]
fn drive_never_exceeds_its_effort_limit() {
    for q in [-100.0, -0.1, 0.5, 0.9, 100.0] {
        let force = drive().force(q, 0.7);
        assert!(force.abs() <= 2.0, "{force}");
    }
    assert!((drive().force(0.5, 0.3) - 0.1).abs() < 1e-16, "on target the effort is left");
}

#[test]
fn all_laws_of_a_joint_add() {
    let all = JointLaws { friction: friction(), limits: Some(limits()), drive: Some(drive()) };
    let stage = CoordinateStage { position: 0.7, start: 0.69, duration: DT };
    let parts = [JointLaws { friction: friction(), ..none() }, with_limits(), with_drive(|_| ())];
    let sum: f64 = parts.iter().map(|p| p.force(&stage)).sum();
    assert!((all.force(&stage) - sum).abs() < 1e-14);
    check(all, "everything at once", [0.7, 0.69], Smoothness::Smooth);
}
