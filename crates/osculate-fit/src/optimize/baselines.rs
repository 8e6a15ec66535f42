//! The same starts without exact derivatives, for comparison.

use super::file::OptimizeFile;
use super::meter::Meter;
use super::run::{Checkpoint, Derivatives, Local, Point, StartResult, Watch, finish, one};
use super::solve::evolve;
use super::task::{Problem, Softness, Task};
use crate::contact_model::ContactModel;
use crate::evolve::CmaEs;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// The same starts by another method, each until it reaches the goal or its budget is spent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// `cma-es` or `differences`.
    pub method: &'static str,
    /// The starts, in their order.
    pub starts: Vec<StartResult>,
}

/// CMA-ES and forward differences from the same starts.
pub fn baselines<M: ContactModel>(
    task: &Task<M>,
    file: &OptimizeFile,
    watch: &Watch<'_>,
) -> Vec<Baseline> {
    let settings = file.baselines;
    let all = task.variables.starts(file.multistart.starts, file.multistart.seed);
    let count = if settings.starts == 0 { all.len() } else { settings.starts.min(all.len()) };
    let nothing = Mutex::new(Checkpoint::default());
    let run = |cma: bool| -> Vec<StartResult> {
        all[..count]
            .par_iter()
            .enumerate()
            .map(|(start, x)| {
                let local = Local { watch, start, saved: &nothing, stop: AtomicBool::new(false) };
                let meter = Meter::limited(settings.rollouts, true);
                if !cma {
                    let at = Point { stage: 0, x: x.clone() };
                    return one(
                        task,
                        file,
                        (x.clone(), at),
                        (Derivatives::Differences, meter),
                        &local,
                    );
                }
                meter.begin(true);
                let problem = Problem::new(task, Softness::NONE, meter);
                let seed = file.multistart.seed.wrapping_add(start as u64);
                let search = CmaEs {
                    sigma: settings.sigma,
                    generations: usize::MAX >> 8,
                    seed,
                    collapsed: None,
                };
                evolve(&problem, &search, x, &local, &mut |i, c| {
                    local.seen(0, i, c, &problem.meter)
                });
                let best = problem.meter.best().map_or_else(|| x.clone(), |b| b.0);
                finish(task, (x.clone(), best), (problem.meter, Vec::new(), None))
            })
            .collect()
    };
    vec![
        Baseline { method: "cma-es", starts: run(true) },
        Baseline { method: "differences", starts: run(false) },
    ]
}
