//! A box near its friction limit, and what spins and rolls.
//!
//! ```text
//! landing   min ½ xᵀAx − bᵀx on ‖x‖ ≤ ρ against ρ x*/‖x*‖, x* = A⁻¹b:  least cos(friction, −slip) = 2 √(λ₁λ₂)/(λ₁ + λ₂)
//! push      v⁺ = max(v + h (load − 1) μ g, 0),  x⁺ = x + h v⁺
//! creep     none with impulses;  V_f (1 − √(1 − load)) with the compliant model
//! pinch     a box stays where it is between jaws on slides, tilted by 5°
//! spin      dω/dt = −r μ m g/I
//! roll      dv/dt = −5/7 μ_r g/R
//! slide     v/(R ω) → 0.6530 on the limit surface of a disk;  v ∝ ω^{9/8} on the ellipsoid;  ω as it was in the linear budget
//! ```
//!
//! Source: the page *Friction* of the documentation of the Steel solver; the fixed point is of Z. Farkas, G. Bartels, T. Unger, D. E. Wolf,
//! PRL 90, 248302, 2003.

mod creep;
mod landing;
mod pinch;
mod push;
mod slide;
mod spin;

use super::scenes::G;
use super::{Config, Findings};
use crate::CliError;
use nalgebra::Vector3;
use osculate_dynamics::impulse::{
    FrictionMode, ImpulseRunError, ImpulseSettings, ImpulseStepper, RigidState, StepRecord,
};
use osculate_dynamics::{Body, OnFailure, Parameters, Scene, Wrench};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use serde::Deserialize;

/// Most steps of one roll-out.
const MOST_STEPS: f64 = 1e6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    mass: f64,
    half_extent: f64,
    friction: f64,
    dt: f64,
    landing: landing::Landing,
    push: push::Push,
    creep: creep::Creep,
    pinch: pinch::Pinch,
    spin: spin::Spin,
    slide: slide::Slide,
    tolerance: Tolerances,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerances {
    landing: f64,
    least_cosine: f64,
    stopping_way: f64,
    stopped_speed: f64,
    drift: f64,
    bisection: f64,
    creep_of_points: f64,
    creep_of_anchors: f64,
    compliant: f64,
    pinch: f64,
    spin: f64,
    roll: f64,
    ratio: f64,
    exponent: f64,
    linear: f64,
}

pub(super) fn run(config: &Config<'_>) -> Result<Findings, CliError> {
    let limit: Limit = config.read()?;
    let mut findings = Findings::default();
    landing::run(&limit, &mut findings)?;
    push::run(&limit, &mut findings)?;
    creep::run(&limit, &mut findings)?;
    pinch::run(&limit, &mut findings)?;
    spin::run(&limit, &mut findings)?;
    slide::run(&limit, &mut findings)?;
    Ok(findings)
}

/// Where friction acts and how it is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Points,
    Anchors,
    CoulombNewton,
    Bisection,
    BisectionDesaxce,
}

impl Mode {
    const ALL: [Self; 5] =
        [Self::Points, Self::Anchors, Self::CoulombNewton, Self::Bisection, Self::BisectionDesaxce];

    fn name(self) -> &'static str {
        match self {
            Self::Points => "fixed_normal, points",
            Self::Anchors => "fixed_normal, anchors",
            Self::CoulombNewton => "coulomb_newton",
            Self::Bisection => "bisection",
            Self::BisectionDesaxce => "bisection_desaxce",
        }
    }

    /// Whether it is a counter-example.
    fn bisects(self) -> bool {
        matches!(self, Self::Bisection | Self::BisectionDesaxce)
    }

    /// Sweeps to a tolerance, at most so many, from the impulses of the last step.
    fn warm(self, sweeps: usize, tolerance: f64) -> ImpulseSettings {
        let (friction_mode, anchor_beta) = match self {
            Self::Points => (FrictionMode::FixedNormal, 0.0),
            Self::Anchors => (FrictionMode::FixedNormal, 0.2),
            Self::CoulombNewton => (FrictionMode::CoulombNewton, 0.0),
            Self::Bisection => (FrictionMode::Bisection, 0.0),
            Self::BisectionDesaxce => (FrictionMode::BisectionDesaxce, 0.0),
        };
        let on_failure = OnFailure::Continue;
        let rest = ImpulseSettings::default();
        ImpulseSettings { friction_mode, anchor_beta, sweeps, tolerance, on_failure, ..rest }
    }

    /// So many sweeps from zero, unless one changes nothing.
    fn cold(self, sweeps: usize) -> ImpulseSettings {
        ImpulseSettings { warm_start: 0.0, ..self.warm(sweeps, 1e-15) }
    }
}

/// A push of the box at the height of the ground.
#[derive(Clone, Copy)]
struct Shove {
    /// Force over `μ m g`.
    load: f64,
    /// From an edge \[rad\].
    angle: f64,
    /// Speed at the start \[m/s\].
    slip: f64,
}

impl Shove {
    fn direction(&self) -> Vector3<f64> {
        Vector3::new(self.angle.cos(), self.angle.sin(), 0.0)
    }
}

/// What became of the box.
struct Outcome {
    /// Along the push \[m\].
    way: f64,
    /// Along the push, at the end \[m/s\].
    speed: f64,
    /// Largest rise of the centre \[m\].
    lift: f64,
    /// Steps that did not reach their tolerance.
    unconverged: usize,
    /// What the last step did.
    last: Option<StepRecord>,
}

/// A cube on the ground, pushed.
struct Cube {
    mass: f64,
    half_extent: f64,
    friction: f64,
    dt: f64,
    /// How far below the centre it is pushed \[m\].
    below: f64,
}

impl Cube {
    /// Rolls the box out under a push, for a duration \[s\].
    fn shoved(
        &self,
        shove: Shove,
        settings: ImpulseSettings,
        duration: f64,
    ) -> Result<Outcome, CliError> {
        let half = Vector3::repeat(self.half_extent);
        let mut body = Body::dynamic("box", MassProperties::cuboid(self.mass, &half)?);
        body.collider = Some(Collider::cuboid(Vector3::zeros(), half)?);
        body.contact.friction = self.friction;
        body.pose.position.z = self.half_extent;
        let along = shove.direction();
        body.velocity = along * shove.slip;
        let force = along * (shove.load * self.friction * self.mass * G);
        let torque = (-Vector3::z() * self.below).cross(&force);
        let scene = on_ground(body, self.friction)?;
        let steps = steps(duration, self.dt)?;
        let wrench = Wrench { force, torque };
        let mut found =
            Outcome { way: 0.0, speed: shove.slip, lift: 0.0, unconverged: 0, last: None };
        roll(&scene, settings, &[wrench], (self.dt, steps), |state, record| {
            found.way = state.center.dot(&along);
            found.speed = state.velocity.dot(&along);
            found.lift = found.lift.max(state.center.z - self.half_extent);
            found.unconverged += usize::from(!record.stats.converged);
            found.last = Some(record);
            true
        })?;
        Ok(found)
    }
}

impl Limit {
    /// Rolls the box out under a push at the height of the ground, for a duration \[s\].
    fn shoved(
        &self,
        shove: Shove,
        settings: ImpulseSettings,
        duration: f64,
    ) -> Result<Outcome, CliError> {
        let Self { mass, half_extent, friction, dt, .. } = *self;
        let cube = Cube { mass, half_extent, friction, dt, below: half_extent };
        cube.shoved(shove, settings, duration)
    }

    /// Way \[m\] and speed at the end \[m/s\] by Coulomb's law, each step at the velocity of its end.
    fn exact(&self, shove: Shove, duration: f64) -> Result<[f64; 2], CliError> {
        let (mut way, mut v) = (0.0, shove.slip);
        for _ in 0..steps(duration, self.dt)? {
            v = f64::max(v + self.dt * (shove.load - 1.0) * self.friction * G, 0.0);
            way += self.dt * v;
        }
        Ok([way, v])
    }
}

/// A body and a plane of the same friction under gravity.
fn on_ground(body: Body, friction: f64) -> Result<Scene, CliError> {
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::z(), 0.0)?);
    ground.contact.friction = friction;
    Ok(Scene::new(Vector3::z() * -G, vec![body, ground])?)
}

/// The whole number of steps nearest to a duration.
fn steps(duration: f64, dt: f64) -> Result<usize, CliError> {
    let steps = (duration / dt).round();
    if !(1.0..=MOST_STEPS).contains(&steps) {
        return Err(CliError::Value {
            field: "duration/dt",
            found: format!("{steps} steps"),
            allowed: "1 to 1000000 steps",
        });
    }
    Ok(steps as usize)
}

/// Steps the first body of a scene until `see` has seen enough.
fn roll(
    scene: &Scene,
    settings: ImpulseSettings,
    wrenches: &[Wrench],
    (dt, steps): (f64, usize),
    mut see: impl FnMut(&RigidState, StepRecord) -> bool,
) -> Result<(), CliError> {
    let mut stepper = ImpulseStepper::new(scene, settings, &Parameters::of(scene))?;
    for _ in 0..steps {
        let record = stepper.step(wrenches, dt).map_err(ImpulseRunError::from)?;
        if !see(&stepper.states()[0], record) {
            break;
        }
    }
    Ok(())
}

/// Every how many of `count` points a figure shows one.
fn stride(count: usize, shown: usize) -> usize {
    count.div_ceil(shown).max(1)
}
