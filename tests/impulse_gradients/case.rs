//! A simulation whose derivatives are compared: adjoint, tangent, differences.

use crate::common::impulse::block;
use nalgebra::Vector3;
use osculate_dynamics::impulse::sensitivity::{ImpulseLayout, ImpulseParameters, Linearisation};
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseSimulator, ImpulseTrajectory};
use osculate_dynamics::sensitivity::Outcome;
use osculate_dynamics::{Body, Kinematics, OnFailure, Scene, Wrench};
use osculate_math::Scalar;

/// Both use one linearisation, so they differ by rounding only.
pub const ADJOINT_IS_TANGENT: f64 = 1e-11;
/// Of differences, away from switches; relative to the largest entry of the same unit.
pub const DIFFERENCES: f64 = 1e-7;

/// What has no derivative on four rigid corners: any softness determines the distribution of the load, which without is arbitrary.
pub const HYPERSTATIC: &[&str] = &["impulse.cfm"];

/// A number of all states of all bodies: weights differ, so nothing cancels by symmetry.
pub struct Mixed {
    pub every: usize,
}

impl Outcome for Mixed {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        let mut sum = T::zero();
        for (i, b) in bodies.iter().enumerate() {
            let w = 1.0 + 0.3 * i as f64 + 0.01 * step as f64;
            let weights = Vector3::new(w, 0.7 * w, -0.4 * w).map(T::from);
            let turned = b.rotation * Vector3::new(0.3, -0.2, 0.6).map(T::from);
            sum += b.position.dot(&weights) + turned.dot(&weights) * 0.2;
            sum += b.velocity.dot(&weights) * 0.1 + b.angular_velocity.dot(&weights) * 0.02;
        }
        sum
    }
    fn observes(&self, step: usize) -> bool {
        step.is_multiple_of(self.every)
    }
}

pub fn tight(anchor_beta: f64) -> ImpulseSettings {
    ImpulseSettings {
        anchor_beta,
        tolerance: 1e-14,
        sweeps: 1_000_000,
        ..ImpulseSettings::default()
    }
}

pub struct Case {
    pub name: &'static str,
    pub simulator: ImpulseSimulator,
    pub parameters: ImpulseParameters,
}

impl Case {
    pub fn new(
        name: &'static str,
        scene: Scene,
        settings: ImpulseSettings,
        (h, steps): (f64, usize),
        wrench: Wrench,
    ) -> Self {
        let simulator = ImpulseSimulator::new(scene, settings, vec![h; steps]).unwrap();
        let mut base = simulator.parameters();
        let dynamic = simulator.scene().dynamic_bodies().count();
        // The first dynamic body is pushed, a little more in every step.
        base.wrenches = (0..steps * dynamic)
            .map(|i| {
                let factor = 1.0 + 0.001 * (i / dynamic) as f64;
                let first = i % dynamic == 0;
                if first {
                    Wrench { force: wrench.force * factor, torque: wrench.torque * factor }
                } else {
                    Wrench::zero()
                }
            })
            .collect();
        let parameters = ImpulseParameters::of(&simulator, base);
        Self { name, simulator, parameters }
    }

    pub fn run(&self) -> ImpulseTrajectory {
        self.parameters.run(&self.simulator).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    pub fn steps(&self) -> usize {
        self.simulator.durations().len()
    }

    pub fn outcome(&self) -> Mixed {
        Mixed { every: self.steps() / 2 }
    }

    /// The outcome at a changed parameter.
    ///
    /// Beside the nominal state sticking rows of four corners can contradict each other by the square of the change, and the sweeps
    /// then creep: what is left is even in the change and drops out of central differences.
    pub fn value(&self, i: usize, x: f64, outcome: &impl Outcome) -> f64 {
        let layout = ImpulseLayout::new(&self.simulator, &self.parameters);
        let mut p = self.parameters.clone();
        layout.add(&mut p, i, x);
        let settings = ImpulseSettings {
            sweeps: 6000,
            // They are not to be wound up.
            help_stalled: false,
            on_failure: OnFailure::Continue,
            ..*self.simulator.settings()
        };
        let (scene, durations) = (self.simulator.scene().clone(), self.simulator.durations());
        let simulator = ImpulseSimulator::new(scene, settings, durations.to_vec()).unwrap();
        let t = p.run(&simulator).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let mut total = 0.0;
        for step in (0..=self.steps()).filter(|&k| outcome.observes(k)) {
            let states = t.state(step).iter().zip(&p.scene.bodies);
            let bodies: Vec<_> = states.map(|(y, p)| y.kinematics(&p.center)).collect();
            total += outcome.contribution(step, &bodies);
        }
        total
    }

    /// Adjoint against tangent for all parameters; returns the adjoint.
    pub fn adjoint_is_tangent(&self) -> Vec<f64> {
        let t = self.run();
        let lin = Linearisation::new(&self.simulator, &self.parameters, &t)
            .unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let layout = ImpulseLayout::new(&self.simulator, &self.parameters);
        let (value, reverse) = lin.adjoint(&self.outcome()).unwrap();
        let all: Vec<usize> = (0..layout.len()).collect();
        let (again, forward) = lin.tangent::<12>(&all, &self.outcome()).unwrap();
        let one_pass =
            Linearisation::gradient(&self.simulator, &self.parameters, &t, &self.outcome());
        assert_eq!(one_pass.unwrap(), (value, reverse.clone()), "{}", self.name);
        assert!((value - again).abs() <= 1e-13 * value.abs().max(1.0), "{}", self.name);
        let scale = self.scale(&layout, &forward);
        let mut worst = (0.0, String::new());
        for i in 0..layout.len() {
            let error = (reverse[i] - forward[i]).abs() / scale[i];
            if error > worst.0 {
                worst = (error, layout.entries()[i].path.clone());
            }
            assert!(
                error <= ADJOINT_IS_TANGENT,
                "{}: {} adjoint {:e}, tangent {:e}",
                self.name,
                layout.entries()[i].path,
                reverse[i],
                forward[i]
            );
        }
        println!("{}: adjoint against tangent {:.1e} ({})", self.name, worst.0, worst.1);
        reverse
    }

    /// Scale of each entry: the largest of its unit.
    pub fn scale(&self, layout: &ImpulseLayout, gradient: &[f64]) -> Vec<f64> {
        let unit = |i: usize| layout.entries()[i].unit;
        let largest = |i: usize| {
            (0..gradient.len())
                .filter(|&j| unit(j) == unit(i))
                .map(|j| gradient[j].abs())
                .fold(1e-3, f64::max)
        };
        (0..gradient.len()).map(largest).collect()
    }

    /// Every parameter but those named against differences, extrapolated.
    pub fn agrees_with_differences(&self, gradient: &[f64], except: &[&str]) {
        let layout = ImpulseLayout::new(&self.simulator, &self.parameters);
        let values = layout.values(&self.parameters);
        let scale = self.scale(&layout, gradient);
        let outcome = self.outcome();
        let (mut worst, mut wrong) = ((0.0, String::new()), Vec::new());
        for (i, entry) in layout.entries().iter().enumerate() {
            let path = &entry.path;
            if except.iter().any(|e| path.contains(e)) {
                continue;
            }
            // At 0 another model of friction begins.
            if path == "impulse.anchor_beta" && values[i] == 0.0 {
                continue;
            }
            // Without a radius there is no row of spin.
            let radius = path.ends_with("torsional_radius") || path.ends_with("_patch_radius");
            if radius && values[i] == 0.0 {
                continue;
            }
            // Of wrenches, efforts and targets a few.
            let late = |what: &str, step: &str| path.contains(what) && !path.contains(step);
            if late(".wrench.", ".wrench.1.") || late(".effort.", ".1") || late(".target.", ".1") {
                continue;
            }
            let size = match entry.unit {
                "m" => 1e-2,
                "kg m²" => values[i].abs().max(1e-3),
                "N/m" | "N m/rad" if values[i] > 0.0 => values[i],
                _ => 1.0,
            };
            let one_sided = values[i] == 0.0
                && (path.ends_with(".mu")
                    || path.ends_with("restitution")
                    || path.ends_with("slop")
                    || path.ends_with("cfm")
                    || path.ends_with(".k_p")
                    || path.ends_with(".k_d")
                    || path.ends_with("spin_friction")
                    || path.ends_with("rolling_friction")
                    || path.ends_with("edge_radius"));
            let f = |x: f64| self.value(i, x, &outcome);
            let h = 1e-4 * size;
            let slope = if one_sided {
                let d = |h: f64| (-3.0 * f(0.0) + 4.0 * f(h) - f(2.0 * h)) / (2.0 * h);
                (4.0 * d(h / 2.0) - d(h)) / 3.0
            } else {
                let d = |h: f64| (f(h) - f(-h)) / (2.0 * h);
                (4.0 * d(h / 2.0) - d(h)) / 3.0
            };
            // What the tolerance of the solve, 1e-14, leaves of a difference.
            let rounding = 1e-13 * f(0.0).abs().max(1.0) / h;
            let error = ((slope - gradient[i]).abs() - rounding).max(0.0) / scale[i];
            if error > worst.0 {
                worst = (error, path.clone());
            }
            if error > DIFFERENCES {
                wrong.push(format!(
                    "{path} is {:e}, by differences {slope:e} (relative to {:e}: {error:.1e})",
                    gradient[i], scale[i]
                ));
            }
        }
        assert!(wrong.is_empty(), "{}:\n{}", self.name, wrong.join("\n"));
        println!("{}: differences {:.1e} ({})", self.name, worst.0, worst.1);
    }
}

/// Deep enough that no parameter lifts it off: the bias of a rigid row has a kink where the bodies just touch.
pub const OVERLAP: f64 = 2e-3;

/// A box of 1.3 kg in the ground, its collider off its centre of mass.
pub fn cube() -> Body {
    let mut cube = block("cube", 1.3, [0.1, 0.08, 0.05], 0.4);
    cube.pose.position = Vector3::new(0.02, -0.01, 0.05 - OVERLAP);
    cube
}

pub fn force(x: f64, y: f64, z: f64) -> Wrench {
    Wrench { force: Vector3::new(x, y, z), torque: Vector3::new(0.01, -0.02, 0.03) }
}
