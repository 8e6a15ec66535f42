//! What a search has spent, and the best that it has seen.

use crate::clock::{Of, processor_seconds};
use serde::Serialize;
use std::sync::{Mutex, PoisonError};

/// Processor time of this thread (s); of the clock where the system has none.
pub fn processor_time() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let elapsed = || START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64();
    processor_seconds(Of::Thread).unwrap_or_else(elapsed)
}

/// What was asked of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct Spent {
    /// Roll-outs.
    pub rollouts: usize,
    /// Adjoint sweeps.
    pub adjoints: usize,
    /// Tangents of up to eight directions each.
    pub tangents: usize,
    /// Processor time of all threads (s).
    pub cpu_s: f64,
}

/// Cost after so many roll-outs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// What was spent until then.
    #[serde(flatten)]
    pub spent: Spent,
    /// The lowest cost so far.
    pub cost: f64,
}

#[derive(Clone, Debug, Default)]
struct State {
    spent: Spent,
    best: Option<(Vec<f64>, f64)>,
    history: Vec<Sample>,
    goal: Option<Spent>,
    /// Whether reaching the goal counts: not where the scene is softened.
    counts: bool,
    limit: Option<usize>,
    stop_at_goal: bool,
}

/// Counts, history and best point of a search; one search runs in one thread at a time.
#[derive(Debug, Default)]
pub struct Meter {
    state: Mutex<State>,
}

impl Clone for Meter {
    fn clone(&self) -> Self {
        Self { state: Mutex::new(self.lock().clone()) }
    }
}

impl Meter {
    /// A meter of a search that should stop after so many roll-outs, or where the goal is reached.
    pub fn limited(limit: usize, stop_at_goal: bool) -> Self {
        let state = State { limit: Some(limit), stop_at_goal, ..State::default() };
        Self { state: Mutex::new(state) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A panic in another thread leaves numbers, not broken invariants.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new cost: the best point of the one before does not count any more.
    pub fn begin(&self, counts: bool) {
        let mut state = self.lock();
        (state.best, state.counts) = (None, counts);
    }

    pub(super) fn rolled_out(
        &self,
        (ran, seconds): (bool, f64),
        (x, cost): (&[f64], f64),
        reached: impl FnOnce() -> bool,
    ) {
        let mut state = self.lock();
        state.spent.rollouts += usize::from(ran);
        state.spent.cpu_s += seconds;
        if state.best.as_ref().is_none_or(|b| cost < b.1) {
            state.best = Some((x.to_vec(), cost));
            let sample = Sample { spent: state.spent, cost };
            state.history.push(sample);
        }
        if state.counts && state.goal.is_none() && reached() {
            state.goal = Some(state.spent);
        }
    }

    /// What tangents of one roll-out share.
    pub(super) fn linearised(&self, seconds: f64) {
        self.lock().spent.cpu_s += seconds;
    }

    pub(super) fn tangent(&self, seconds: f64) {
        let mut state = self.lock();
        state.spent.tangents += 1;
        state.spent.cpu_s += seconds;
    }

    pub(super) fn adjoint(&self, seconds: f64) {
        let mut state = self.lock();
        state.spent.adjoints += 1;
        state.spent.cpu_s += seconds;
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.lock().spent
    }

    /// The best point of the present cost.
    pub fn best(&self) -> Option<(Vec<f64>, f64)> {
        self.lock().best.clone()
    }

    /// What was spent when the goal was first reached.
    pub fn goal(&self) -> Option<Spent> {
        self.lock().goal
    }

    /// Each improvement.
    pub fn history(&self) -> Vec<Sample> {
        self.lock().history.clone()
    }

    /// Whether the budget is spent, or the goal reached where that ends the search.
    pub fn done(&self) -> bool {
        let state = self.lock();
        let spent = state.limit.is_some_and(|limit| state.spent.rollouts >= limit);
        spent || (state.stop_at_goal && state.goal.is_some())
    }
}
