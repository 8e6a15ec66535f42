//! Bodies, roll-outs and curves that several experiments use.

use crate::CliError;
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactLaw, ContactParams, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{
    Body, BodyState, Method, NewtonSettings, Parameters, Scene, Settings, Simulator, Trajectory,
};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::quadrature::SurfaceSamples;
use osculate_plot::Series;

/// Standard gravity of the experiments \[m/s²\].
pub(super) const G: f64 = 9.81;

/// Most steps of one roll-out.
const MOST_STEPS: f64 = 1e6;
/// Most points of a curve in a figure.
const MOST_POINTS: usize = 400;

/// Contact without friction and damping: the plain ramp at the surface; no side is rejected.
pub(super) fn plain(stiffness: f64) -> ContactParams {
    ContactParams {
        stiffness,
        smoothing: 0.0,
        threshold: 0.0,
        threshold_padding: 0.0,
        max_alignment: 1.0,
        friction: 0.0,
        viscous_friction: 0.0,
        damping: 0.0,
        falloff_speed: 0.01,
        collider_normal: true,
    }
}

/// The half-space z < 0.
pub(super) fn plane(contact: ContactParams) -> Result<Body, CliError> {
    let mut plane = Body::fixed("plane");
    plane.collider = Some(Collider::half_space(Vector3::z(), 0.0)?);
    plane.contact = contact;
    Ok(plane)
}

/// A body that is sampled at points \[m\] with areas \[m²\].
pub(super) fn sampled(
    name: &str,
    mass: MassProperties,
    points: Vec<Vector3<f64>>,
    weights: Vec<f64>,
    contact: ContactParams,
) -> Result<Body, CliError> {
    let mut body = Body::dynamic(name, mass);
    body.samples = Some(SurfaceSamples::explicit(points, weights, None)?);
    body.contact = contact;
    Ok(body)
}

/// A body of one sample of an area \[m²\] at its centre.
pub(super) fn point(mass: f64, area: f64, contact: ContactParams) -> Result<Body, CliError> {
    let mass = MassProperties::sphere(mass, 1.0)?;
    sampled("body", mass, vec![Vector3::zeros()], vec![area], contact)
}

/// A block that does not turn, on the four corners of its lower face at its local origin's height.
pub(super) fn sledge(mass: f64, area: f64, contact: ContactParams) -> Result<Body, CliError> {
    let (x, weights) = (area.sqrt() / 2.0, vec![area / 4.0; 4]);
    let points =
        [(x, x), (x, -x), (-x, x), (-x, -x)].map(|(x, y)| Vector3::new(x, y, 0.0)).to_vec();
    let mass = MassProperties::new(mass, Vector3::zeros(), Matrix3::identity() * 1e9)?;
    sampled("block", mass, points, weights, contact)
}

/// Settings with a tight Newton tolerance.
pub(super) fn settings(
    method: Method,
    schedule: DissipationSchedule,
    ramp: FrictionRamp,
) -> Settings {
    Settings {
        method,
        law: ContactLaw { schedule, fade: true, ramp },
        newton: NewtonSettings { tolerance: 1e-12, ..NewtonSettings::default() },
        ..Settings::default()
    }
}

/// A scene, rolled out in equal steps.
pub(super) struct Roll {
    pub(super) simulator: Simulator,
    pub(super) parameters: Parameters,
    pub(super) trajectory: Trajectory,
    pub(super) dt: f64,
}

impl Roll {
    /// Rolls out for a duration \[s\] in the whole number of steps nearest to `dt` \[s\].
    pub(super) fn new(
        scene: Scene,
        settings: Settings,
        dt: f64,
        duration: f64,
    ) -> Result<Self, CliError> {
        let steps = (duration / dt).round();
        if !(1.0..=MOST_STEPS).contains(&steps) {
            return Err(CliError::Value {
                field: "duration/dt",
                found: format!("{steps} steps"),
                allowed: "1 to 1000000 steps",
            });
        }
        let simulator = Simulator::new(scene, settings, vec![dt; steps as usize])?;
        let parameters = simulator.parameters();
        let trajectory = simulator.run(&parameters)?;
        Ok(Self { simulator, parameters, trajectory, dt })
    }

    pub(super) fn steps(&self) -> usize {
        self.simulator.steps()
    }

    /// State of a body after some steps.
    pub(super) fn state(&self, step: usize, body: usize) -> &BodyState {
        &self.trajectory.path.state(step)[body]
    }

    /// Time after some steps \[s\].
    pub(super) fn time(&self, step: usize) -> f64 {
        self.dt * step as f64
    }

    /// The first step from `from` on whose state meets a condition.
    pub(super) fn first(
        &self,
        from: usize,
        body: usize,
        meets: impl Fn(&BodyState) -> bool,
    ) -> Option<usize> {
        (from..=self.steps()).find(|&k| meets(self.state(k, body)))
    }

    /// Kinetic, gravitational and contact energy after some steps \[J\].
    pub(super) fn energies(&self, step: usize) -> Result<[f64; 3], CliError> {
        let e = self.simulator.energies(&self.trajectory, &self.parameters, step)?;
        Ok([e.kinetic, e.gravitational, e.contact])
    }

    /// A quantity of a body against time, thinned to what a figure shows.
    pub(super) fn series(
        &self,
        name: impl Into<String>,
        body: usize,
        value: impl Fn(&BodyState) -> f64,
    ) -> Series {
        let kept = self.thinned();
        let x = kept.iter().map(|&k| self.time(k)).collect();
        let y = kept.iter().map(|&k| value(self.state(k, body))).collect();
        Series::line(name, x, y)
    }

    /// Steps that a figure shows.
    pub(super) fn thinned(&self) -> Vec<usize> {
        let stride = self.steps().div_ceil(MOST_POINTS);
        (0..=self.steps()).step_by(stride).collect()
    }
}

/// Vertical force on body 1 \[N\] and contact energy \[J\] of two bodies at rest.
pub(super) fn force_and_energy(bodies: [Body; 2]) -> Result<(f64, f64), CliError> {
    let scene = Scene::new(Vector3::zeros(), bodies.into())?;
    // A step so short that nothing moves.
    let roll = Roll::new(scene, Settings::default(), 1e-12, 1e-12)?;
    let contacts = roll.simulator.contacts(&roll.trajectory, &roll.parameters, 0)?;
    let force =
        contacts.iter().map(|c| if c.colliding == 1 { c.force.z } else { -c.force.z }).sum();
    Ok((force, roll.energies(0)?[2]))
}

/// Where a quantity that is `before` at one step and `after` at the next passes through zero, as part of a step.
pub(super) fn crossing(before: f64, after: f64) -> f64 {
    before / (before - after)
}

/// Root of a function that rises through zero between two bounds, by bisection.
pub(super) fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// `n` numbers from `low` to `high` in equal ratios.
pub(super) fn geometric(low: f64, high: f64, n: usize) -> Vec<f64> {
    (0..n).map(|i| low * (high / low).powf(i as f64 / (n - 1).max(1) as f64)).collect()
}

/// Order of convergence: mean slope of errors at steps that are halved one after the other.
pub(super) fn order(errors: &[f64]) -> f64 {
    match errors {
        [first, .., last] => (first / last).log2() / (errors.len() - 1) as f64,
        _ => f64::NAN,
    }
}
