//! Law tests of one sample: every collider, schedule, ramp and regime.

use super::*;
use crate::test_fields;
use osculate_math::check::{self, Law, Smoothness};
use osculate_math::{Jet, lift};

fn pair() -> PairParams {
    PairParams {
        stiffness: 2.0,
        smoothing: 0.1,
        threshold: 0.05,
        max_alignment: 0.2,
        friction: 0.4,
        viscous_friction: 0.3,
        damping: 0.7,
        falloff_speed: 0.5,
        collider_normal: true,
    }
}

/// Traction as a function of p (3), p⁰ (3), N_A (3), pair parameters (8) and collider dimensions (7).
struct SampleLaw {
    law: ContactLaw,
    collider: Collider,
    collider_normal: bool,
}

impl Law<24, 3> for SampleLaw {
    fn value<T: Scalar>(&self, x: [T; 24]) -> [T; 3] {
        let v = |i: usize| Vector3::new(x[i], x[i + 1], x[i + 2]);
        let pair = PairParams::from_array(std::array::from_fn(|i| x[9 + i]), self.collider_normal);
        let collider = self.collider.with_dimensions(&std::array::from_fn(|i| x[17 + i]));
        let sample = Sample { position: v(0), start: v(3), normal: Some(v(6)), duration: 0.01 };
        self.law.traction(&pair, &collider, &sample).total().into()
    }
}

/// A query at depth `phi` on a patch of each collider, moved by `velocity`·Δt during the stage.
fn arguments(collider: &Collider, phi: f64, velocity: [f64; 3]) -> [f64; 24] {
    let (surface, n) = match collider {
        Collider::HalfSpace(_) => (Vector3::new(0.3, 0.1, 0.0), Vector3::z()),
        Collider::Sphere(_) => (Vector3::new(0.0, 0.48, 0.64), Vector3::new(0.0, 0.6, 0.8)),
        Collider::Cuboid(_) => (Vector3::new(0.1, 0.2, 0.7), Vector3::z()),
        // Curved one way.
        Collider::Cylinder(_) => (Vector3::new(0.36, 0.48, 0.1), Vector3::new(0.6, 0.8, 0.0)),
        Collider::Grid(_) | Collider::FreeGrid(_) => test_fields::grid_surface(),
        Collider::Mesh(_) => {
            let surface = Vector3::new(0.1, 0.2, 0.7) * test_fields::SCALE;
            (surface + Vector3::z() * test_fields::ROUNDING, Vector3::z())
        }
    };
    let p = surface + n * phi;
    let start = p - Vector3::from(velocity) * 0.01;
    // Nearly opposing, so that alignment and fading have derivatives too.
    let normal = Vector3::new(0.36, -0.48, -0.8).normalize();
    let q = pair().to_array();
    let d = collider.dimensions();
    std::array::from_fn(|i| match i {
        0..3 => p[i],
        3..6 => start[i - 3],
        6..9 => normal[i - 6],
        9..17 => q[i - 9],
        _ => d[i - 17],
    })
}

fn colliders() -> [Collider; 6] {
    [
        Collider::half_space(Vector3::z(), 0.0).unwrap(),
        Collider::sphere(Vector3::zeros(), 0.8).unwrap(),
        Collider::cuboid(Vector3::zeros(), Vector3::new(0.5, 0.6, 0.7)).unwrap(),
        Collider::cylinder(Vector3::zeros(), 0.6, 0.7).unwrap(),
        test_fields::grid(),
        test_fields::mesh(),
    ]
}

fn laws() -> impl Iterator<Item = ContactLaw> {
    DissipationSchedule::ALL.into_iter().flat_map(|schedule| {
        [(true, FrictionRamp::C1), (false, FrictionRamp::Smooth)].map(|(fade, ramp)| ContactLaw {
            schedule,
            fade,
            ramp,
        })
    })
}

#[test]
fn traction_has_exact_derivatives_in_every_regime() {
    for law in laws() {
        for collider in colliders() {
            for collider_normal in [true, false] {
                let sample = SampleLaw { law, collider: collider.clone(), collider_normal };
                for (regime, phi, velocity, smoothness) in [
                    ("apart", 0.3, [0.2, 0.1, -0.1], Smoothness::Smooth),
                    ("touching, stick", -0.02, [0.1, 0.05, -0.3], Smoothness::Smooth),
                    ("touching, slip", -0.02, [1.2, -0.7, -0.3], Smoothness::Smooth),
                    ("deep, stick", -0.25, [0.1, 0.05, 0.3], Smoothness::Smooth),
                    ("deep, slip", -0.25, [1.2, -0.7, 0.3], Smoothness::Smooth),
                    ("exactly at the threshold", 0.05, [0.0; 3], Smoothness::Kink),
                    ("exactly at rest", -0.02, [0.0; 3], Smoothness::Kink),
                    ("exactly at V_f", -0.02, [0.5, 0.0, 0.0], Smoothness::Kink),
                    (
                        "exactly where the ramp turns linear",
                        -0.15,
                        [0.1, 0.0, 0.0],
                        Smoothness::Kink,
                    ),
                ] {
                    let name = format!("{regime}, {law:?}, {collider:?}, {collider_normal}");
                    let x = arguments(&collider, phi, velocity);
                    check::gradients(&sample, &name, x, [2e-5; 24], smoothness, 2e-5);
                }
            }
        }
    }
}

fn evaluate(law: ContactLaw, collider: &Collider, phi: f64, velocity: [f64; 3]) -> Traction {
    let x = arguments(collider, phi, velocity);
    let v = |i: usize| Vector3::new(x[i], x[i + 1], x[i + 2]);
    let sample = Sample { position: v(0), start: v(3), normal: Some(v(6)), duration: 0.01 };
    law.traction(&pair(), collider, &sample)
}

#[test]
fn elastic_traction_is_minus_the_energy_gradient() {
    let law = ContactLaw::default();
    for collider in colliders() {
        for phi in [0.3, 0.05, -0.02, -0.15, -0.3] {
            let x = arguments(&collider, phi, [0.0; 3]);
            let v = |i: usize| Vector3::new(x[i], x[i + 1], x[i + 2]);
            let p = Vector3::from_fn(|i, _| Jet::<3>::variable(x[i], i));
            let sample = Sample {
                position: p,
                start: lift(&v(3)),
                normal: Some(lift(&v(6))),
                duration: 0.01,
            };
            let w = law.energy_density(&pair().map(Jet::from), &collider.constant(), &sample);
            let t = evaluate(law, &collider, phi, [0.0; 3]).elastic;
            for i in 0..3 {
                assert!((w.eps[i] + t[i]).abs() < 1e-14);
            }
        }
    }
}

/// |T_diss + ∂(Δt R)/∂p|: zero where the dissipative residual derives from its potential.
fn potential_defect(law: ContactLaw, collider: &Collider, velocity: [f64; 3]) -> f64 {
    let x = arguments(collider, -0.02, velocity);
    let v = |i: usize| Vector3::new(x[i], x[i + 1], x[i + 2]);
    let p = Vector3::from_fn(|i, _| Jet::<3>::variable(x[i], i));
    let sample =
        Sample { position: p, start: lift(&v(3)), normal: Some(lift(&v(6))), duration: 0.01 };
    let r = law.dissipation_potential(&pair().map(Jet::from), &collider.constant(), &sample);
    let t = evaluate(law, collider, -0.02, velocity).dissipation.total();
    Vector3::from_fn(|i, _| r.eps[i] + t[i]).norm()
}

#[test]
fn stage_start_schedule_is_the_only_gradient_of_its_potential() {
    let sphere = Collider::sphere(Vector3::zeros(), 0.8).unwrap();
    for schedule in DissipationSchedule::ALL {
        let law = ContactLaw { schedule, ..Default::default() };
        let defect = potential_defect(law, &sphere, [1.2, -0.7, 0.3]);
        if schedule == DissipationSchedule::StageStart {
            assert!(defect < 1e-14, "defect {defect}");
        } else {
            assert!(defect > 1e-6, "{schedule:?} defect {defect}");
        }
    }
}

#[test]
fn schedules_agree_where_nothing_moves() {
    for collider in colliders() {
        let all = DissipationSchedule::ALL.map(|schedule| {
            evaluate(ContactLaw { schedule, ..Default::default() }, &collider, -0.1, [0.0; 3])
        });
        assert_eq!(all[0], all[1]);
        assert_eq!(all[1], all[2]);
    }
}

#[test]
fn misaligned_sample_is_rejected_whole() {
    let [collider, ..] = colliders();
    for (schedule, s) in DissipationSchedule::ALL.into_iter().flat_map(|d| [(d, 0.2), (d, 0.21)]) {
        let law = ContactLaw { schedule, ..Default::default() };
        let sample = Sample {
            position: Vector3::new(0.0, 0.0, -0.1),
            start: Vector3::new(0.0, 0.01, -0.1),
            normal: Some(Vector3::new((1.0_f64 - s * s).sqrt(), 0.0, s)),
            duration: 0.01,
        };
        let t = law.traction(&pair(), &collider, &sample);
        if s > 0.2 {
            assert_eq!((t.status, t.total()), (Status::Rejected, Vector3::zeros()));
        } else {
            // Exactly on the joint: accepted, conservative force in full, dissipation faded out.
            assert_eq!((t.status, t.dissipation.total()), (Status::Contact, Vector3::zeros()));
            assert!(t.elastic.z > 0.0);
        }
    }
}

#[test]
fn only_stage_start_retains_a_contact_that_left() {
    let [collider, ..] = colliders();
    for schedule in DissipationSchedule::ALL {
        let law = ContactLaw { schedule, ..Default::default() };
        let sample = Sample {
            position: Vector3::new(0.0, 0.0, 0.1),
            start: Vector3::new(0.0, 0.01, -0.1),
            normal: Some(-Vector3::z()),
            duration: 0.01,
        };
        let t = law.traction(&pair(), &collider, &sample);
        if schedule == DissipationSchedule::StageStart {
            assert_eq!((t.status, t.elastic), (Status::Retained, Vector3::zeros()));
            assert!(t.dissipation.total().norm() > 0.0);
        } else {
            assert_eq!((t.status, t.total()), (Status::Apart, Vector3::zeros()));
        }
    }
}

#[test]
fn sample_at_the_centre_of_a_sphere_uses_its_own_normal_or_nothing() {
    let sphere = Collider::sphere(Vector3::zeros(), 0.8).unwrap();
    let at = |normal| {
        let sample = Sample {
            position: Vector3::zeros(),
            start: Vector3::repeat(0.01),
            normal,
            duration: 0.01,
        };
        ContactLaw::default().traction(&pair(), &sphere, &sample)
    };
    assert!(at(Some(Vector3::z())).total().iter().all(|x| x.is_finite()));
    assert_eq!(at(None).total(), Vector3::zeros());
}
