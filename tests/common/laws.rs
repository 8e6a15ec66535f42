//! Small scenes with known laws of motion, and how to measure them.

use nalgebra::Vector3;
use osculate_contact::{ContactLaw, ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{Body, Method, NewtonSettings, Scene, Settings, Simulator, Trajectory};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::quadrature::SurfaceSamples;

/// Standard gravity of these tests [m/s²].
pub const G: f64 = 9.81;

/// A contact without friction and damping: plain ramp at the surface.
pub fn plain(stiffness: f64) -> ContactParams {
    ContactParams {
        stiffness,
        smoothing: 0.0,
        threshold: 0.0,
        threshold_padding: 0.0,
        max_alignment: 0.0,
        friction: 0.0,
        viscous_friction: 0.0,
        damping: 0.0,
        falloff_speed: 0.01,
        collider_normal: true,
    }
}

/// The half-space z < 0.
pub fn plane(contact: ContactParams) -> Body {
    let mut plane = Body::fixed("plane");
    plane.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    plane.contact = contact;
    plane
}

/// A block whose lower face is sampled at four points, a quarter of `area` [m²] each; its centre is at the origin
/// of its frame, its half extents are `half`.
pub fn block(name: &str, mass: f64, half: Vector3<f64>, area: f64, contact: ContactParams) -> Body {
    let mut body = Body::dynamic(name, MassProperties::cuboid(mass, &half).unwrap());
    let (x, y) = (half.x, half.y);
    let points =
        [(x, y), (x, -y), (-x, y), (-x, -y)].map(|(x, y)| Vector3::new(x, y, -half.z)).to_vec();
    let weights = vec![area / 4.0; 4];
    body.samples = Some(SurfaceSamples::explicit(points, weights, None).unwrap());
    body.contact = contact;
    body
}

/// Moves a body to a position with a velocity.
pub fn thrown(mut body: Body, position: [f64; 3], velocity: [f64; 3]) -> Body {
    body.pose.position = Vector3::from(position);
    body.velocity = Vector3::from(velocity);
    body
}

pub fn settings(method: Method, schedule: DissipationSchedule, ramp: FrictionRamp) -> Settings {
    Settings {
        method,
        law: ContactLaw { schedule, fade: true, ramp },
        newton: NewtonSettings { tolerance: 1e-12, ..Default::default() },
        ..Default::default()
    }
}

/// Rolls a scene out.
pub fn roll(scene: Scene, settings: Settings, dt: f64, steps: usize) -> (Simulator, Trajectory) {
    let simulator = Simulator::new(scene, settings, vec![dt; steps]).unwrap();
    let trajectory = simulator.run(&simulator.parameters()).unwrap();
    (simulator, trajectory)
}

/// Order of convergence: mean slope of the errors of steps halved one after the other.
pub fn order(errors: &[f64]) -> f64 {
    let n = errors.len() - 1;
    (errors[0] / errors[n]).log2() / n as f64
}

/// Root of an increasing function by bisection.
pub fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Exact restitution of any penalty law with constant `c_n`, `u = c_n v`: `u (1 + e) = ln((1 + u)/(1 − e u))`.
pub fn restitution(u: f64) -> f64 {
    if u < 1e-12 {
        return 1.0;
    }
    // The right-hand side grows from below to above the left as e goes from 0 to min(1, 1/u).
    let f = |e: f64| u.ln_1p() - (-e * u).ln_1p() - u * (1.0 + e);
    root(f, 0.0, (1.0 / u).min(1.0) * (1.0 - 1e-15))
}

/// `u` of a restitution: the inverse of [`restitution`].
pub fn damping_of(e: f64) -> f64 {
    root(|u| e - restitution(u), 1e-9, 1.0 / e)
}

/// Prints numbers in scientific notation.
pub struct Sci<'a>(pub &'a [f64]);

impl std::fmt::Debug for Sci<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|x| write!(f, "{x:.1e} "))
    }
}
