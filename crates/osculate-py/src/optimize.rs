//! Optimised trajectories: the library's report as JSON text, and the scene at the best point.

use crate::error::Failure;
use crate::identify::{self, text};
use crate::interrupt;
use crate::model::{Model, Of};
use crate::scene::Scene;
use osculate_dynamics::file::SceneOutcome;
use osculate_fit::contact_model::ContactModel;
use osculate_fit::optimize::{
    Loaded, Meter, OptimizeFile, Problem, Report, Softness, Task, Watch, baselines as others,
    search, verdicts,
};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Searches the trajectory of an optimisation file. The report of a search that a signal ended says `interrupted`.
#[pyfunction]
#[pyo3(signature = (experiment, threads=None, starts=None, baselines=false))]
pub(crate) fn optimize(
    py: Python<'_>,
    experiment: PathBuf,
    threads: Option<usize>,
    starts: Option<usize>,
    baselines: bool,
) -> PyResult<(String, Scene)> {
    let pool = identify::threads(threads)?;
    let starts = starts.map(identify::starts).transpose()?;
    let done = interrupt::run(py, |flag| {
        let (mut file, task) = Loaded::read(&experiment)?;
        if let Some(starts) = starts {
            file.multistart.starts = starts;
        }
        let how = (experiment.as_path(), baselines, &flag);
        pool.install(|| match task {
            Loaded::Compliant(task) => {
                let (report, of) = found(&file, *task, how)?;
                Ok((report, scene(Model::Compliant(of))))
            }
            Loaded::Impulse(task) => {
                let (report, of) = found(&file, *task, how)?;
                Ok((report, scene(Model::Impulse(of))))
            }
        })
    });
    done.or_best()
}

/// The report, and the simulation at the best point.
fn found<M: ContactModel>(
    file: &OptimizeFile,
    mut task: Task<M>,
    (experiment, baselines, flag): (&Path, bool, &Arc<AtomicBool>),
) -> Result<(String, Of<M>), Failure> {
    let watch = Watch { interrupted: flag, observe: &|_| {}, save: &|_| {} };
    // The scene at the best point is simulated later, by calls with flags of their own.
    let simulator = task.simulator.clone();
    task.simulator.interrupt_by(Arc::clone(flag));
    let task = &task;
    let mut search = search(task, file, None, &watch)?;
    let asked = || flag.load(Ordering::Relaxed);
    let others = if baselines && !asked() { others(task, file, &watch) } else { Vec::new() };
    let trust = match verdicts(task, &search.best().x, &file.trust) {
        Err(_) if asked() => Vec::new(),
        trust => trust?,
    };
    search.interrupted = asked();
    let name = experiment.display().to_string();
    let report = text(&Report::new((name, file, task), &search, others, trust))?;
    let problem = Problem::new(task, Softness::NONE, Meter::default());
    Ok((report, Of::new(simulator, problem.parameters(&search.best().x))))
}

/// Without an outcome: what is wanted stands in the optimisation.
fn scene(model: Model) -> Scene {
    Scene::of(model, Arc::new(SceneOutcome::default()), Arc::from([]))
}
