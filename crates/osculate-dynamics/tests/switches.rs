//! How many samples sit near a switch, where the residual jumps and a trajectory has no derivative across the jump.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use nalgebra::Vector3;
use osculate_contact::ContactParams;
use osculate_dynamics::{Body, Scene, Settings, Simulator, Trajectory};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::quadrature::SurfaceSamples;

const STEP: f64 = 1e-3;

/// A sample that sinks into the plane by 1 mm a step from 10.5 mm above it, too lightly loaded to be slowed; its normal is `s`
/// against that of the plane.
fn sinking(s: f64) -> (Simulator, Trajectory) {
    let contact = ContactParams {
        stiffness: 1e-9,
        smoothing: 0.0,
        threshold: 0.0,
        max_alignment: 0.2,
        ..Default::default()
    };
    let mut plane = Body::fixed("plane");
    plane.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    plane.contact = contact;
    let mut body =
        Body::dynamic("point", MassProperties::cuboid(1.0, &Vector3::repeat(0.1)).unwrap());
    let normal = Vector3::new((1.0 - s * s).sqrt(), 0.0, s);
    body.samples = Some(
        SurfaceSamples::explicit(vec![Vector3::zeros()], vec![1e-3], Some(vec![normal])).unwrap(),
    );
    body.contact = contact;
    body.pose.position.z = 0.0105;
    body.velocity.z = -1.0;
    let scene = Scene::new(Vector3::zeros(), vec![plane, body]).unwrap();
    let simulator = Simulator::new(scene, Settings::default(), vec![STEP; 20]).unwrap();
    let trajectory = simulator.run(&simulator.parameters()).unwrap();
    (simulator, trajectory)
}

/// Samples about to touch were not counted where their pair had none in contact.
#[test]
fn samples_near_the_threshold_are_counted_by_their_distance() {
    let (simulator, trajectory) = sinking(-1.0);
    let near = |distance: f64| {
        simulator.near_switch(&trajectory, &simulator.parameters(), distance, 1e-9).unwrap()
    };
    // After step k the sample is at 10.5 − k mm: 0.5 mm to both sides, then 1.5 mm, then 2.5 mm.
    assert_eq!([0.4e-3, 0.6e-3, 1.6e-3, 2.6e-3].map(near), [0, 2, 4, 6]);
}

#[test]
fn samples_near_rejection_are_counted_by_their_alignment_once_they_touch() {
    for (s, rejected) in [(0.19, false), (0.21, true)] {
        let (simulator, trajectory) = sinking(s);
        let near = |alignment: f64| {
            simulator.near_switch(&trajectory, &simulator.parameters(), 1e-9, alignment).unwrap()
        };
        // Below the plane after steps 11 to 20.
        assert_eq!([0.005, 0.02].map(near), [0, 10], "rejected: {rejected}");
        let last = simulator.contacts(&trajectory, &simulator.parameters(), 19).unwrap();
        let force: f64 = last.iter().map(|c| c.force.norm()).sum();
        assert_eq!(force == 0.0, rejected, "{last:?}");
    }
}
