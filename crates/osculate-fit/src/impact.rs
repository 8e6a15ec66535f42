//! The restitution that an integrator shows: a head-on impact, simulated.
//!
//! ```text
//! a body of (reduced) mass m meets a plane at speed v with one sample of area A, no gravity:
//! e(Δt, s) = rebound speed/v,    s ∈ [0, 1) the part of a step at which contact starts
//! ```
//!
//! In continuous time `e` is that of [`RestitutionLaw`](osculate_contact::RestitutionLaw), whatever m, k, A and the ramp.
//! In discrete time it depends on the step, the method, the schedule and the phase `s`, which nobody controls: so it is a band.

use nalgebra::Vector3;
use osculate_contact::{ContactLaw, ContactParams, DissipationSchedule};
use osculate_dynamics::{
    Body, Method, NewtonSettings, RunError, Scene, SceneError, Settings, Simulator, Trajectory,
};
use osculate_geometry::GeometryError;
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::quadrature::SurfaceSamples;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whole steps of free flight before contact: as many as the longest memory of a method.
const FLIGHT: f64 = 3.0;
/// Free states after contact: what the memory of a multistep method has left of the impact is then below rounding.
const SETTLED: usize = 48;
/// Most steps of one impact.
const MOST_STEPS: usize = 1 << 16;
/// Finest step that a search tries: this part of the contact time.
const FINEST: f64 = 1.0 / 8192.0;
/// Bisections between the last step that fails and the first that holds.
const BISECTIONS: usize = 7;

/// What is wrong with an impact.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpactError {
    /// A number is outside its range.
    #[error("{field} is {found}, allowed: {allowed}")]
    Quantity {
        /// Which number.
        field: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Mass or shape.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The contact parameters.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A step failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The flag turned true.
    #[error("interrupted")]
    Interrupted,
    /// The body did not leave.
    #[error("the body has not left the plane after {steps} steps of {dt:e} s")]
    Stuck {
        /// Steps done.
        steps: usize,
        /// Their duration \[s\].
        dt: f64,
    },
    /// No step holds the tolerance.
    #[error(
        "no step down to {finest:.2e} s keeps the restitution within {tolerance:?} of {target:?}: there it is off by {error:.2e}"
    )]
    NoStep {
        /// The finest step tried \[s\].
        finest: f64,
        /// What was asked.
        tolerance: f64,
        /// The restitution asked for.
        target: f64,
        /// The largest error at the finest step.
        error: f64,
    },
}

/// A head-on impact on a fixed plane, without gravity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Mass \[kg\]; of two free bodies the reduced mass `m₁m₂/(m₁ + m₂)`.
    pub mass: f64,
    /// Area that the sample stands for \[m²\].
    pub area: f64,
    /// Relative speed before \[m/s\].
    pub speed: f64,
    /// Contact parameters; `damping` is `c_n`.
    pub contact: ContactParams,
    /// Integration method.
    pub method: Method,
    /// Time level of the dissipative terms.
    pub schedule: DissipationSchedule,
}

/// Restitutions over the phase of the impact within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Least restitution.
    pub low: f64,
    /// Largest restitution.
    pub high: f64,
}

impl Band {
    /// The largest distance of a restitution of the band from `target`.
    pub fn error(&self, target: f64) -> f64 {
        (self.low - target).abs().max((self.high - target).abs())
    }
}

/// A step that keeps the restitution within a tolerance, with what it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Duration \[s\].
    pub dt: f64,
    /// Restitutions at that step, over four times the phases of the search.
    pub band: Band,
}

impl Impact {
    /// Half a period of the undamped plain contact, and the time that the smoothed part of the ramp takes to cross both
    /// ways at the impact speed \[s\]: the scale of a contact's duration.
    pub fn contact_time(&self) -> f64 {
        let plain = (self.mass / (self.contact.stiffness * self.area)).sqrt();
        std::f64::consts::PI * plain + 4.0 * self.contact.smoothing / self.speed
    }

    /// Rebound speed over impact speed, contact starting at the part `phase` of a step.
    ///
    /// # Errors
    /// Where a number is outside its range, a step fails, or the body does not leave in 65536 steps.
    pub fn restitution(&self, dt: f64, phase: f64) -> Result<f64, ImpactError> {
        self.validate(dt)?;
        let scene = self.scene(self.speed * dt * (FLIGHT + phase))?;
        // Contact, free states before and after; twice as many until the body has left.
        let mut steps = (3.0 * self.contact_time() / dt).min(1e4) as usize + 2 * SETTLED;
        let mut trajectory = Trajectory::default();
        loop {
            let simulator = Simulator::new(scene.clone(), self.settings(), vec![dt; steps])?;
            simulator.run_into(&simulator.parameters(), &mut trajectory)?;
            let free = |k: usize| {
                let body = &trajectory.path.state(k)[1];
                body.center.z > self.contact.threshold && body.velocity.z > 0.0
            };
            if (steps - SETTLED..=steps).all(free) {
                return Ok(trajectory.path.state(steps)[1].velocity.z / self.speed);
            }
            if steps >= MOST_STEPS {
                return Err(ImpactError::Stuck { steps, dt });
            }
            steps = (2 * steps).min(MOST_STEPS);
        }
    }

    /// Least and largest restitution over `phases` phases, evenly spread over a step.
    ///
    /// * `interrupted`: once true, it ends with an error between two phases.
    ///
    /// # Errors
    /// As [`Impact::restitution`], where `phases` is 0, and where it was interrupted.
    pub fn band(
        &self,
        dt: f64,
        phases: usize,
        interrupted: &AtomicBool,
    ) -> Result<Band, ImpactError> {
        if phases == 0 {
            return Err(ImpactError::Quantity { field: "phases", found: 0.0, allowed: ">= 1" });
        }
        let all = (0..phases)
            .into_par_iter()
            .map(|i| match interrupted.load(Ordering::Relaxed) {
                true => Err(ImpactError::Interrupted),
                false => self.restitution(dt, i as f64 / phases as f64),
            })
            .collect::<Result<Vec<f64>, _>>()?;
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Band { low, high })
    }

    /// A step, as long as the search finds, at which the whole band is within `tolerance` of `target`.
    ///
    /// Steps are halved from half the contact time until two in a row hold, then bisected, then judged on four times the
    /// phases. Errors need not fall monotonically with the step: a longer one may hold too.
    ///
    /// # Errors
    /// Where a number is outside its range or no step down to 1/8192 of the contact time holds.
    pub fn step_within(
        &self,
        target: f64,
        tolerance: f64,
        phases: usize,
    ) -> Result<Step, ImpactError> {
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            let allowed = "> 0 and finite";
            return Err(ImpactError::Quantity { field: "tolerance", found: tolerance, allowed });
        }
        self.validate(self.contact_time())?;
        let (longest, finest) = (self.contact_time() / 2.0, self.contact_time() * FINEST);
        let error = |dt: f64| self.error(dt, target, phases);
        let mut dt = longest;
        let mut now = error(dt)?;
        loop {
            let next = error(dt / 2.0)?;
            if now.max(next) <= tolerance {
                break;
            }
            (dt, now) = (dt / 2.0, next);
            if dt < finest {
                return Err(ImpactError::NoStep { finest: dt, tolerance, target, error: now });
            }
        }
        let mut fails = 2.0 * dt;
        for _ in 0..if dt < longest { BISECTIONS } else { 0 } {
            let middle = (dt * fails).sqrt();
            if error(middle)? <= tolerance { dt = middle } else { fails = middle }
        }
        while dt >= finest {
            let band = self.band(dt, 4 * phases, &AtomicBool::default())?;
            if band.error(target) <= tolerance {
                return Ok(Step { dt, band });
            }
            dt *= 0.95;
        }
        Err(ImpactError::NoStep { finest: dt, tolerance, target, error: error(dt)? })
    }

    /// Error of the band; infinite where the step is too long to solve or to let the body leave.
    fn error(&self, dt: f64, target: f64, phases: usize) -> Result<f64, ImpactError> {
        match self.band(dt, phases, &AtomicBool::default()) {
            Ok(band) => Ok(band.error(target)),
            Err(ImpactError::Stuck { .. } | ImpactError::Run(RunError::Step(_))) => {
                Ok(f64::INFINITY)
            }
            Err(error) => Err(error),
        }
    }

    fn validate(&self, dt: f64) -> Result<(), ImpactError> {
        let positive = |field: &'static str, found: f64| {
            let allowed = "> 0 and finite";
            let ok = found > 0.0 && found.is_finite();
            if ok { Ok(()) } else { Err(ImpactError::Quantity { field, found, allowed }) }
        };
        positive("mass", self.mass)?;
        positive("area", self.area)?;
        positive("speed", self.speed)?;
        // The contact, before the step, which may have been computed from it.
        self.scene(0.0)?;
        positive("time step", dt)
    }

    /// Plane and body, `gap` above the distance at which contact starts.
    fn scene(&self, gap: f64) -> Result<Scene, ImpactError> {
        let mut plane = Body::fixed("plane");
        plane.collider = Some(Collider::half_space(Vector3::z(), 0.0)?);
        plane.contact = self.contact;
        let mut body = Body::dynamic("body", MassProperties::sphere(self.mass, 1.0)?);
        let point = vec![Vector3::zeros()];
        body.samples = Some(SurfaceSamples::explicit(point, vec![self.area], None)?);
        body.contact = self.contact;
        body.pose.position.z = self.contact.threshold + gap;
        body.velocity.z = -self.speed;
        Ok(Scene::new(Vector3::zeros(), vec![plane, body])?)
    }

    fn settings(&self) -> Settings {
        Settings {
            method: self.method,
            law: ContactLaw { schedule: self.schedule, ..ContactLaw::default() },
            newton: NewtonSettings { tolerance: 1e-12, ..NewtonSettings::default() },
            ..Settings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_contact::RestitutionLaw;

    fn impact(e: f64) -> Impact {
        let speed = 2.0;
        let damping = RestitutionLaw::Exact.damping(e, speed).unwrap();
        Impact {
            mass: 0.771,
            area: 0.02,
            speed,
            contact: ContactParams { damping, ..ContactParams::default() },
            method: Method::Bdf2,
            schedule: DissipationSchedule::Current,
        }
    }

    #[test]
    fn band_narrows_around_the_exact_restitution_as_steps_shorten() {
        for e in [0.2, 0.6, 0.95] {
            let go_on = AtomicBool::default();
            let errors =
                [4e-4, 1e-4, 2.5e-5].map(|dt| impact(e).band(dt, 4, &go_on).unwrap().error(e));
            println!("e = {e}: errors {errors:.5?}");
            assert!(errors[2] < errors[1] && errors[1] < errors[0]);
            assert!(errors[2] < 1e-3);
        }
    }

    #[test]
    fn step_found_holds_its_tolerance_at_phases_that_the_search_did_not_see() {
        for schedule in DissipationSchedule::ALL {
            let impact = Impact { schedule, ..impact(0.5) };
            let step = impact.step_within(0.5, 0.01, 4).unwrap();
            let seen = impact.band(step.dt, 37, &AtomicBool::default()).unwrap();
            println!("{schedule:?}: {:.2e} s, {seen:?}", step.dt);
            assert!(step.band.error(0.5) <= 0.01 && seen.error(0.5) <= 0.0105);
            // Not wastefully short: a step that is four times as long misses.
            assert!(
                impact.band(4.0 * step.dt, 16, &AtomicBool::default()).unwrap().error(0.5) > 0.01
            );
        }
    }

    #[test]
    fn backward_euler_needs_shorter_steps_than_the_second_order_methods() {
        let step = |method| {
            let impact = Impact { method, ..impact(0.8) };
            impact.step_within(0.8, 0.02, 4).unwrap().dt
        };
        let euler = step(Method::BackwardEuler);
        assert!(step(Method::Bdf2) > 2.0 * euler && step(Method::Dirk22) > 2.0 * euler);
    }

    #[test]
    fn unreachable_tolerances_and_bad_numbers_are_refused_with_their_values() {
        let error = impact(0.5).step_within(0.9, 1e-3, 2).unwrap_err();
        assert!(matches!(error, ImpactError::NoStep { target: 0.9, .. }), "{error}");
        for (field, bad) in [
            ("mass", Impact { mass: 0.0, ..impact(0.5) }),
            ("area", Impact { area: f64::NAN, ..impact(0.5) }),
            ("speed", Impact { speed: -1.0, ..impact(0.5) }),
        ] {
            let error = bad.restitution(1e-4, 0.0).unwrap_err();
            assert!(error.to_string().contains(field), "{error}");
        }
        assert!(impact(0.5).restitution(0.0, 0.0).is_err());
        assert!(impact(0.5).band(1e-4, 0, &AtomicBool::default()).is_err());
        assert!(impact(0.5).step_within(0.5, 0.0, 4).is_err());
        let mut bad = impact(0.5);
        bad.contact.stiffness = -1.0;
        assert!(matches!(bad.restitution(1e-4, 0.0), Err(ImpactError::Scene(_))));
        assert!(matches!(bad.step_within(0.5, 0.01, 4), Err(ImpactError::Scene(_))));
    }
}
