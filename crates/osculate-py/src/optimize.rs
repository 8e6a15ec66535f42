//! Optimised trajectories: the library's report as JSON text, and the scene at the best point.

use crate::identify::{text, threads};
use crate::interrupt;
use crate::model::Model;
use crate::scene::Scene;
use osculate_dynamics::file::SceneOutcome;
use osculate_fit::optimize::{
    Meter, Problem, Report, Softness, Task, Watch, baselines as others, search, verdicts,
};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

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
    let pool = self::threads(threads)?;
    let done = interrupt::run(py, |flag| {
        let (mut file, task) = Task::read(&experiment)?;
        if let Some(starts) = starts {
            file.multistart.starts = starts.max(1);
        }
        let watch = Watch { interrupted: &flag, observe: &|_| {}, save: &|_| {} };
        pool.install(|| {
            let search = search(&task, &file, None, &watch)?;
            let ended = search.interrupted;
            let others =
                if baselines && !ended { others(&task, &file, &watch) } else { Vec::new() };
            let trust =
                if ended { Vec::new() } else { verdicts(&task, &search.best().x, &file.trust)? };
            let name = experiment.display().to_string();
            let report = Report::new((name, &file, &task), &search, others, trust);
            Ok((text(&report)?, at(&task, &search.best().x)))
        })
    });
    match (done.result, done.signal) {
        (Ok(found), _) => Ok(found),
        (Err(_), Some(signal)) => Err(signal),
        (Err(failure), None) => Err(failure.into()),
    }
}

/// The scene of a task at a point: without an outcome, as what is wanted stands in the optimisation.
fn at(task: &Task, x: &[f64]) -> Scene {
    let problem = Problem::new(task, Softness::NONE, Meter::default());
    let model = Model::compliant(task.simulator.clone(), problem.parameters(x));
    Scene::of(model, Arc::new(SceneOutcome::default()), Arc::from([]))
}
