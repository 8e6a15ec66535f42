//! Many starts through all stages.

use super::error::OptimizeError;
use super::file::{OptimizeFile, Solver, StageFile};
use super::meter::{Meter, Sample, Spent};
use super::solve::solve;
use super::task::{Problem, Softness, Task};
use crate::contact_model::ContactModel;
use crate::least_squares::{BlockProblem, Stop};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What happens during a search, for progress bars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Index of the start.
    pub start: usize,
    /// Index of the stage.
    pub stage: usize,
    /// Iteration or evaluation.
    pub iteration: usize,
    /// Lowest cost of the stage.
    pub cost: f64,
}

/// Where a start is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Index of the stage to go on with.
    pub stage: usize,
    /// Coordinates.
    pub x: Vec<f64>,
}

/// Where a search is: enough to go on later.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Each start; none where it has not begun.
    pub starts: Vec<Option<Point>>,
}

/// What one stage did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageResult {
    /// What solved it.
    pub solver: Solver,
    /// Cost at its end.
    pub cost: f64,
    /// Iterations taken; evaluations of L-BFGS.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

/// The course of one start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StartResult {
    /// Values of the variables at the start.
    pub start: Vec<f64>,
    /// Values at the end.
    pub values: Vec<f64>,
    /// Cost at the end, without multipliers; infinite where the start failed.
    pub cost: f64,
    /// Error of each objective and constraint.
    pub errors: Vec<f64>,
    /// Largest error relative to what is allowed.
    pub worst: f64,
    /// Whether the goal is reached.
    pub reached: bool,
    /// What was spent.
    pub spent: Spent,
    /// What was spent when the goal was first reached.
    pub to_goal: Option<Spent>,
    /// The stages.
    pub stages: Vec<StageResult>,
    /// Every improvement.
    pub history: Vec<Sample>,
    /// Stages of time steps that did not converge at the end.
    pub unconverged: usize,
    /// Why the start failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Coordinates at the end.
    #[serde(skip)]
    pub x: Vec<f64>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Every start, in order.
    pub starts: Vec<StartResult>,
    /// Index of the best.
    pub best: usize,
    /// Whether the caller stopped it.
    pub interrupted: bool,
}

impl Search {
    /// The best start.
    pub fn best(&self) -> &StartResult {
        &self.starts[self.best]
    }
}

/// Where derivatives come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Derivatives {
    /// Exact tangents and adjoints.
    Exact,
    /// Forward differences of roll-outs.
    Differences,
}

/// Who watches a search.
pub struct Watch<'a> {
    /// Once true, each start returns the best point it has.
    pub interrupted: &'a AtomicBool,
    /// Called from worker threads.
    pub observe: &'a (dyn Fn(Progress) + Sync),
    /// Called from worker threads where something was gained.
    pub save: &'a (dyn Fn(&Checkpoint) + Sync),
}

/// One start's view of the watch.
pub(super) struct Local<'a> {
    pub(super) watch: &'a Watch<'a>,
    pub(super) start: usize,
    pub(super) saved: &'a Mutex<Checkpoint>,
    /// Stops this start alone.
    pub(super) stop: AtomicBool,
}

impl Local<'_> {
    pub(super) fn seen(&self, stage: usize, iteration: usize, cost: f64, meter: &Meter) {
        if self.watch.interrupted.load(Ordering::Relaxed) || meter.done() {
            self.stop.store(true, Ordering::Relaxed);
        }
        (self.watch.observe)(Progress { start: self.start, stage, iteration, cost });
        if let Some((x, _)) = meter.best() {
            self.save(Point { stage, x });
        }
    }

    fn save(&self, point: Point) {
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = saved.starts.get_mut(self.start) {
            *place = Some(point);
            (self.watch.save)(&saved);
        }
    }
}

/// Runs every start through every stage.
///
/// * `resume`: where an earlier search was.
///
/// The result does not depend on the number of threads, but for processor times.
///
/// # Errors
/// Where every start fails, or the checkpoint is of something else.
pub fn search<M: ContactModel>(
    task: &Task<M>,
    file: &OptimizeFile,
    resume: Option<&Checkpoint>,
    watch: &Watch<'_>,
) -> Result<Search, OptimizeError> {
    let points = task.variables.starts(file.multistart.starts, file.multistart.seed);
    let saved = resumed(task, file, resume, points.len())?;
    let from = saved.starts.clone();
    let saved = Mutex::new(saved);
    let starts: Vec<StartResult> = points
        .into_par_iter()
        .enumerate()
        .map(|(index, x)| {
            let local = Local { watch, start: index, saved: &saved, stop: AtomicBool::new(false) };
            let at = from[index].clone().unwrap_or(Point { stage: 0, x: x.clone() });
            one(task, file, (x, at), (Derivatives::Exact, Meter::default()), &local)
        })
        .collect();
    let better = |a: &StartResult, b: &StartResult| {
        b.reached.cmp(&a.reached).then(a.cost.total_cmp(&b.cost))
    };
    let best = (0..starts.len()).min_by(|&a, &b| better(&starts[a], &starts[b])).unwrap_or(0);
    if !starts[best].cost.is_finite() {
        let first = starts[0].failure.clone().unwrap_or_default();
        return Err(OptimizeError::AllFailed { starts: starts.len(), first });
    }
    Ok(Search { starts, best, interrupted: watch.interrupted.load(Ordering::Relaxed) })
}

fn resumed<M: ContactModel>(
    task: &Task<M>,
    file: &OptimizeFile,
    resume: Option<&Checkpoint>,
    starts: usize,
) -> Result<Checkpoint, OptimizeError> {
    let Some(checkpoint) = resume else { return Ok(Checkpoint { starts: vec![None; starts] }) };
    let refuse = |what, found, expected| {
        if found == expected {
            Ok(())
        } else {
            Err(OptimizeError::Checkpoint { what, found, expected })
        }
    };
    refuse("starts", checkpoint.starts.len(), starts)?;
    for point in checkpoint.starts.iter().flatten() {
        refuse("variables", point.x.len(), task.variables.len())?;
        let stages = file.stages.len().max(1);
        refuse("stages", point.stage.max(stages), stages)?;
    }
    Ok(checkpoint.clone())
}

pub(super) fn one<M: ContactModel>(
    task: &Task<M>,
    file: &OptimizeFile,
    (start, at): (Vec<f64>, Point),
    (derivatives, meter): (Derivatives, Meter),
    local: &Local<'_>,
) -> StartResult {
    let mut x = at.x;
    let (mut stages, mut failure) = (Vec::new(), None);
    let default = [StageFile::default()];
    let list = if file.stages.is_empty() { &default[..] } else { &file.stages };
    let mut meter = meter;
    for (index, stage) in list.iter().enumerate().skip(at.stage) {
        let last = index + 1 == list.len();
        meter.begin(Softness::of(stage) == Softness::NONE);
        let mut problem = Problem::new(task, Softness::of(stage), meter);
        problem.second_order = stage.second_order;
        let rounds = if last { file.augmented.rounds } else { 1 };
        for round in 0..rounds {
            if round > 0 {
                if problem.update_multipliers(&x).is_err() || local.stop.load(Ordering::Relaxed) {
                    break;
                }
                problem.meter.begin(true);
            }
            let seed = file.multistart.seed.wrapping_add(local.start as u64);
            match solve(&problem, &x, (index, stage, seed), derivatives, local) {
                Ok((point, result)) => {
                    x = point;
                    stages.push(result);
                }
                Err(_) if problem.interrupted() => local.stop.store(true, Ordering::Relaxed),
                Err(error) => failure = Some(error.to_string()),
            }
        }
        meter = problem.meter;
        if failure.is_some() || local.stop.load(Ordering::Relaxed) {
            break;
        }
        local.save(Point { stage: if last { index } else { index + 1 }, x: x.clone() });
    }
    finish(task, (start, x), (meter, stages, failure))
}

/// Judges the point where a start ended, with the scene's own contact.
pub(super) fn finish<M: ContactModel>(
    task: &Task<M>,
    (start, x): (Vec<f64>, Vec<f64>),
    (meter, stages, mut failure): (Meter, Vec<StageResult>, Option<String>),
) -> StartResult {
    let problem = Problem::to_the_end(task);
    let judged = problem.values(&x).map_err(|e| e.to_string());
    let (errors, cost, worst, reached, unconverged) = match judged {
        Ok((z, trajectory)) => {
            let errors = task.rows.terms.iter().map(|t| task.rows.error(t, &z)).collect();
            let cost = task.rows.residuals(&z, &problem.multipliers).iter().map(|r| r * r).sum();
            let (worst, reached) = (task.rows.worst(&z), task.rows.reached(&z));
            (errors, cost, worst, reached, M::unconverged(&trajectory))
        }
        Err(error) => {
            failure = failure.or(Some(error));
            (Vec::new(), f64::INFINITY, f64::INFINITY, false, 0)
        }
    };
    StartResult {
        start: task.variables.values(&start),
        values: task.variables.values(&x),
        cost,
        errors,
        worst,
        reached,
        spent: meter.spent(),
        to_goal: meter.goal(),
        stages,
        history: meter.history(),
        unconverged,
        failure,
        x,
    }
}
