//! The cube on eight corners that fits are tried on.

use super::corners;
use nalgebra::Vector3;
use osculate_contact::{ContactParams, PairOverride};
use osculate_dynamics::{Body, NewtonSettings, OnFailure, Override, Scene, Settings};
use osculate_fit::problem::{Model, ModelSettings};
use osculate_geometry::collider::Collider;

/// The model, with the pair's friction, stiffness and damping.
pub fn model(friction: f64, stiffness: f64, damping: f64) -> Model {
    let plain = ContactParams { smoothing: 0.0, threshold: 0.0, ..Default::default() };
    let mut cube = corners("cube");
    cube.contact = plain;
    cube.free_samples = false;
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    ground.contact = plain;
    let mut scene = Scene::new(Vector3::new(0.0, 0.0, -9.81), vec![cube, ground]).unwrap();
    let values = PairOverride {
        friction: Some(friction),
        stiffness: Some(stiffness),
        damping: Some(damping),
        falloff_speed: Some(0.02),
        ..Default::default()
    };
    scene.overrides = vec![Override { bodies: [0, 1], values }];
    let newton = NewtonSettings { on_failure: OnFailure::Continue, ..Default::default() };
    let settings = ModelSettings::Compliant(Settings { newton, ..Default::default() });
    Model { scene, settings, body: 0, substeps: 5, channels: Vec::new() }
}
