//! Scenes of the impulse stepper.

use nalgebra::Vector3;
use osculate_contact::impulse::normal::Rigid;
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseSimulator, ImpulseTrajectory, NormalLaw};
use osculate_dynamics::{Body, Scene, Wrench};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;

pub const GRAVITY: f64 = 9.81;

pub fn ground(friction: f64) -> Body {
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    ground.contact.friction = friction;
    ground
}

/// A homogeneous box that stands on the ground.
pub fn block(name: &str, mass: f64, half: [f64; 3], friction: f64) -> Body {
    let half = Vector3::from(half);
    let mut body = Body::dynamic(name, MassProperties::cuboid(mass, &half).unwrap());
    body.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
    body.contact.friction = friction;
    body.pose.position.z = half.z;
    body
}

pub fn ball(name: &str, mass: f64, radius: f64, friction: f64) -> Body {
    let mut body = Body::dynamic(name, MassProperties::sphere(mass, radius).unwrap());
    body.collider = Some(Collider::sphere(Vector3::zeros(), radius).unwrap());
    body.contact.friction = friction;
    body.pose.position.z = radius;
    body
}

/// A homogeneous cylinder that stands on the ground.
///
/// * `size`: radius and half height.
pub fn can(name: &str, mass: f64, size: [f64; 2], friction: f64) -> Body {
    let [radius, half_height] = size;
    let mass = MassProperties::cylinder(mass, radius, half_height).unwrap();
    let mut body = Body::dynamic(name, mass);
    body.collider = Some(Collider::cylinder(Vector3::zeros(), radius, half_height).unwrap());
    body.contact.friction = friction;
    body.pose.position.z = half_height;
    body
}

pub fn scene(bodies: Vec<Body>) -> Scene {
    Scene::new(Vector3::z() * -GRAVITY, bodies).unwrap()
}

/// No overlap correction, no bias.
pub fn unbiased() -> NormalLaw {
    NormalLaw::Rigid(Rigid { correction: 0.0, ..Rigid::default() })
}

/// Rolls out `steps` steps of `h` under constant wrenches, one a dynamic body.
pub fn run(
    scene: &Scene,
    settings: ImpulseSettings,
    (h, steps): (f64, usize),
    wrenches: &[Wrench],
) -> ImpulseTrajectory {
    let simulator = ImpulseSimulator::new(scene.clone(), settings, vec![h; steps]).unwrap();
    let mut parameters = simulator.parameters();
    parameters.wrenches = (0..steps).flat_map(|_| wrenches.iter().copied()).collect();
    simulator.run(&parameters).unwrap()
}

/// A force at a point of a body at `arm` from its centre of mass.
pub fn push(force: Vector3<f64>, arm: Vector3<f64>) -> Wrench {
    Wrench { force, torque: arm.cross(&force) }
}
