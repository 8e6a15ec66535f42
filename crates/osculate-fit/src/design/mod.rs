//! Which experiment tells most: exact Fisher matrices of experiments that could be done.
//!
//! ```text
//! H = Σ_r ∂y_r/∂(u, l) ∂y_r/∂(u, l)ᵀ          y measurements over their noise, u parameters, l nuisance parameters
//! F = H_uu − H_ul (H_ll + P)⁻¹ H_lu           information of an experiment; information adds over experiments
//! C = (Λ₀ + F)⁻¹                              what would be known after it
//! ∂ψ/∂s = 2 Σ_i ∂²(Σ_r (J X G Xᵀ)_ri y_r)/∂(u, l)_i ∂s,    G = ∂ψ/∂F       one Hessian-vector product a column
//! ```
//!
//! Files: `docs/design.md`. Criteria and their slopes: [`Criterion`], [`Posterior`].

mod channel;
mod check;
mod criterion;
mod error;
mod file;
mod prepared;
mod present;
mod report;
mod search;

pub use criterion::{Joint, Posterior};
pub use error::DesignError;
pub use file::{
    AscentFile, CandidateFile, ChannelFile, ChannelKind, Criterion, DesignFile, Errors, GridFile,
    ParameterFile, PresentFile, SettingFile, TrustFile,
};
pub use prepared::NearSwitch;
pub use report::{
    Ascended, CandidateReport, ChosenReport, GradientEntry, ParameterReport, Report, SettingReport,
};
pub use search::search;

use crate::contact_model::{ContactModel, index_of};
use crate::experiment::ExperimentError;
use crate::parameter::Scale;
use check::{Check, go_on, tolerant};
use nalgebra::DMatrix;
use osculate_dynamics::file::BuiltScene;
use osculate_dynamics::impulse::ImpulseSettings;
use osculate_dynamics::{OnFailure, Parameters};
use prepared::{Experiment, Prepared};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A parameter at the value that is assumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Path in the layout.
    pub path: String,
    /// Unit.
    pub unit: &'static str,
    /// Coordinate u in which its error is counted.
    pub scale: Scale,
    /// The value θ.
    pub value: f64,
    /// `dθ/du` there.
    pub slope: f64,
    /// Values it may have.
    pub range: [f64; 2],
}

impl Known {
    /// A change that is large, in the unit.
    fn large(&self) -> f64 {
        match self.scale {
            Scale::Linear => 0.25 * (self.range[1] - self.range[0]),
            Scale::Log | Scale::Bounded => self.slope.abs(),
        }
    }

    /// Distance from the nearer end of the range.
    fn room(&self) -> f64 {
        (self.value - self.range[0]).min(self.range[1] - self.value)
    }
}

/// A number of a scene at the value that a candidate gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Path in the layout.
    pub path: String,
    /// Unit.
    pub unit: &'static str,
    /// The value.
    pub value: f64,
    /// Values between which it may be chosen.
    pub range: Option<[f64; 2]>,
    index: usize,
}

/// An experiment that could be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Index of its `[[candidate]]`.
    pub group: usize,
    /// Name of its `[[candidate]]`.
    pub name: String,
    /// What is set.
    pub settings: Vec<Setting>,
    experiment: usize,
}

/// A design with its scenes read.
pub struct Design {
    /// Where it was read.
    pub path: PathBuf,
    /// The file's content.
    pub file: DesignFile,
    /// The parameters.
    pub known: Vec<Known>,
    /// `Λ₀`: information of what is known, in coordinates.
    pub present: DMatrix<f64>,
    /// Indices of the parameters that are asked about.
    pub targets: Vec<usize>,
    /// Every candidate, grids spread out.
    pub candidates: Vec<Candidate>,
    /// One for each scene.
    experiments: Vec<Box<dyn Experiment>>,
}

impl Design {
    /// Reads a design and its scenes.
    ///
    /// # Errors
    /// Where one of the files is wrong.
    pub fn read(path: &Path) -> Result<Self, DesignError> {
        check::load(path)
    }

    /// The same design; once `flag` is true, a search ends half-way through a roll-out.
    #[must_use]
    pub fn interrupted_by(mut self, flag: &Arc<AtomicBool>) -> Self {
        self.experiments.iter_mut().for_each(|e| e.interrupt_by(Arc::clone(flag)));
        self
    }

    fn experiment(&self, candidate: &Candidate) -> &dyn Experiment {
        self.experiments[candidate.experiment].as_ref()
    }
}

/// A scene under its model, with everything resolved.
fn prepare(
    check: &Check<'_>,
    (file, built): (&Path, BuiltScene),
    known: &[Known],
) -> Result<Box<dyn Experiment>, ExperimentError> {
    let parameters = built.parameters;
    match built.impulse {
        None => {
            let simulator = tolerant(file, &built.simulator, go_on(*built.simulator.settings()))?;
            Ok(Box::new(prepared(check, simulator, parameters, known)?))
        }
        Some(impulse) => {
            let settings =
                ImpulseSettings { on_failure: OnFailure::Continue, ..*impulse.settings() };
            Ok(Box::new(prepared(check, tolerant(file, &impulse, settings)?, parameters, known)?))
        }
    }
}

fn prepared<S: ContactModel>(
    check: &Check<'_>,
    simulator: S,
    parameters: Parameters,
    known: &[Known],
) -> Result<Prepared<S>, ExperimentError> {
    let mut base = simulator.all_parameters(parameters);
    let layout = simulator.layout(&base);
    let (entries, mut values) = (S::entries(&layout), S::values(&layout, &base));
    let place = |k: &Known| index_of(&entries, &k.path).map(|index| (index, k.slope));
    let free: Vec<(usize, f64)> = known.iter().filter_map(place).collect();
    for ((index, _), k) in free.iter().zip(known) {
        S::add(&layout, &mut base, *index, k.value - values[*index]);
        values[*index] = k.value;
    }
    let nuisances = check.nuisances(&entries, &free.iter().map(|f| f.0).collect::<Vec<_>>())?;
    let measured = check.channels(simulator.scene(), simulator.steps())?;
    Ok(Prepared { simulator, base, layout, values, free, nuisances, measured })
}
