//! What a check of gradients asks of each contact model beside its roll-outs.

use super::{Args, SOLVE_TOLERANCE};
use crate::CliError;
use osculate_dynamics::file::{Model, SceneFile};
use osculate_dynamics::impulse::sensitivity::SwitchKind;
use osculate_dynamics::impulse::{ImpulseSettings, ImpulseSimulator, ImpulseTrajectory};
use osculate_dynamics::{OnFailure, Simulator, Trajectory};
use osculate_fit::contact_model::{ContactModel, ImpulseDerivatives, Kept};
use osculate_fit::trust::words;
use serde_json::{Value, json};

/// Sweeps of a step at least: what converges gets to the tolerance, what creeps is left after them.
const SWEEPS: usize = 100_000;
/// Sweeps of a step in roll-outs that differences are taken of: what creeping leaves there is even in the change and drops out.
const SWEEPS_OF_DIFFERENCES: usize = 6000;

/// Sets tolerances for a check; returns the scene's own of the impulse model.
pub(super) fn tighten(file: &mut SceneFile) -> f64 {
    let solver = &mut file.solver;
    solver.tolerance = solver.tolerance.min(SOLVE_TOLERANCE);
    let mut own = solver.impulse.unwrap_or_default();
    let tolerance = own.tolerance;
    if solver.model == Model::Impulse {
        // A value that is not allowed is left to be refused.
        if tolerance > SOLVE_TOLERANCE {
            own.tolerance = SOLVE_TOLERANCE;
        }
        if own.sweeps >= 1 {
            own.sweeps = own.sweeps.max(SWEEPS);
        }
        solver.impulse = Some(own);
        // Steps that creep are judged by the scene's own tolerance, once they are done.
        solver.on_failure = OnFailure::Continue;
    }
    tolerance
}

/// What is near a switch.
pub(super) struct Near {
    /// How many samples or contacts.
    pub(super) count: usize,
    /// In words.
    pub(super) text: String,
    /// By kind, where there are kinds.
    pub(super) switches: Option<Value>,
    /// What is solved at a time.
    pub(super) solves: &'static str,
}

/// A contact model whose gradients are checked.
pub(super) trait Checked: ContactModel {
    /// Takes steps that meet the scene's own tolerance as solved; returns how many.
    fn accept(trajectory: &mut Self::Trajectory, tolerance: f64) -> usize;
    /// The simulation that differences are taken of.
    fn for_differences(&self) -> Self;
    /// The simulation with the scene's own tolerance.
    fn with_tolerance(&self, tolerance: f64) -> Self;
    /// What is near a switch.
    fn near(&self, derivatives: &Self::Derivatives<'_>, args: &Args) -> Result<Near, CliError>;
}

impl Checked for Simulator {
    fn accept(_trajectory: &mut Trajectory, _tolerance: f64) -> usize {
        0
    }

    fn for_differences(&self) -> Self {
        self.clone()
    }

    fn with_tolerance(&self, _tolerance: f64) -> Self {
        self.clone()
    }

    fn near(
        &self,
        (simulator, parameters, trajectory): &Kept<'_>,
        args: &Args,
    ) -> Result<Near, CliError> {
        let (distance, alignment) = (args.near_distance, args.near_alignment);
        let count = simulator.near_switch(trajectory, parameters, distance, alignment)?;
        let text = format!(
            "{count} samples near a switch: within {distance:e} m of the threshold or {alignment:e} of rejection, over all stages\n"
        );
        Ok(Near { count, text, switches: None, solves: "stages" })
    }
}

/// The simulation with other settings, which were valid before.
fn with(simulator: &ImpulseSimulator, settings: ImpulseSettings) -> ImpulseSimulator {
    let (scene, durations) = (simulator.scene().clone(), simulator.durations().to_vec());
    ImpulseSimulator::new(scene, settings, durations).unwrap_or_else(|_| simulator.clone())
}

impl Checked for ImpulseSimulator {
    fn accept(trajectory: &mut ImpulseTrajectory, tolerance: f64) -> usize {
        let mut count = 0;
        for record in &mut trajectory.records {
            let stats = &mut record.stats;
            if !stats.converged && stats.residual <= tolerance {
                (stats.converged, stats.tolerance) = (true, tolerance);
                count += 1;
            }
        }
        count
    }

    fn for_differences(&self) -> Self {
        let sweeps = self.settings().sweeps.min(SWEEPS_OF_DIFFERENCES);
        let on_failure = OnFailure::Continue;
        with(self, ImpulseSettings { sweeps, on_failure, ..*self.settings() })
    }

    fn with_tolerance(&self, tolerance: f64) -> Self {
        with(self, ImpulseSettings { tolerance, ..*self.settings() })
    }

    fn near(&self, derivatives: &ImpulseDerivatives<'_>, args: &Args) -> Result<Near, CliError> {
        let found = derivatives.linear().switches(args.near_switch);
        let name = |i: usize| self.scene().bodies[i].name.as_str();
        let mut text = format!(
            "{} contacts near a switch: within {:e} of another state, relative (docs/impulse-derivatives.md)\n",
            found.len(),
            args.near_switch
        );
        let mut by_kind = serde_json::Map::new();
        for kind in SwitchKind::ALL {
            // The nearest comes first.
            let mut all = found.iter().filter(|s| s.kind == kind);
            let Some(nearest) = all.next() else { continue };
            let count = 1 + all.count();
            let [first, second] = nearest.bodies.map(name);
            let does = if kind.jumps() { "the motion jumps" } else { "derivatives jump" };
            text += &format!(
                "  {count} {}: nearest {:.1e} after step {}, {first} and {second}; {does}\n",
                words(kind),
                nearest.distance,
                nearest.step,
            );
            by_kind.insert(
                words(kind).into(),
                json!({
                    "count": count, "nearest": nearest.distance, "step": nearest.step,
                    "bodies": [first, second], "motion_jumps": kind.jumps(),
                }),
            );
        }
        let switches = Some(Value::Object(by_kind));
        Ok(Near { count: found.len(), text, switches, solves: "steps" })
    }
}
