//! Ctrl-C while a computation runs without the interpreter.
//!
//! Python notes a signal but acts on it only when asked, on its main thread. So the computation runs on a thread of its own,
//! and the calling one asks ten times a second.

use crate::error::Failure;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often signals are looked for.
const POLL: Duration = Duration::from_millis(100);

thread_local! {
    /// What stops the computations of this thread beside signals, which reach the main thread alone.
    static GROUP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Stops what several threads compute.
#[pyclass(frozen, module = "osculate._core")]
pub(crate) struct Stop {
    asked: Arc<AtomicBool>,
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self { asked: Arc::default() }
    }

    /// From now on what this thread computes ends with `KeyboardInterrupt` once [`Stop::ask`] is called.
    fn enter(&self) {
        GROUP.set(Some(Arc::clone(&self.asked)));
    }

    fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }
}

/// The exception of a signal, or of a group that was asked to stop.
fn asked(group: Option<&AtomicBool>) -> Option<PyErr> {
    if group.is_some_and(|group| group.load(Ordering::Relaxed)) {
        return Some(PyKeyboardInterrupt::new_err("stopped with the others of its ensemble"));
    }
    Python::attach(|py| py.check_signals()).err()
}

/// What a computation gave, and the exception of a signal that came meanwhile (`KeyboardInterrupt`).
pub(crate) struct Done<X> {
    pub(crate) result: Result<X, Failure>,
    pub(crate) signal: Option<PyErr>,
}

impl<X> Done<X> {
    /// The result, of a computation that keeps its best point where a signal ended it; the signal only where there is none.
    pub(crate) fn or_best(self) -> PyResult<X> {
        match (self.result, self.signal) {
            (Ok(found), _) => Ok(found),
            (Err(_), Some(signal)) => Err(signal),
            (Err(failure), None) => Err(failure.into()),
        }
    }

    /// The result; a signal that came before it was there wins.
    pub(crate) fn or_signal(self) -> Result<X, Failure> {
        match self.signal {
            Some(error) => Err(Failure::Python(error)),
            None => self.result,
        }
    }
}

/// Runs `compute` without the interpreter. Its argument turns true on a signal; it should then end soon.
pub(crate) fn run<X: Send>(
    py: Python<'_>,
    compute: impl FnOnce(Arc<AtomicBool>) -> Result<X, Failure> + Send,
) -> Done<X> {
    run_with(py, &Arc::default(), compute)
}

/// As [`run`] with a flag that others have too, a roll-out whose derivatives are asked for: it is false again at the end.
/// Computations of other threads that look at it end with this one.
pub(crate) fn run_with<X: Send>(
    py: Python<'_>,
    flag: &Arc<AtomicBool>,
    compute: impl FnOnce(Arc<AtomicBool>) -> Result<X, Failure> + Send,
) -> Done<X> {
    let (shared, group) = (Arc::clone(flag), GROUP.with_borrow(Clone::clone));
    let (result, signal) = py.detach(|| {
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                // Nobody waits for the message where the caller has gone; the result comes by the join.
                let result = compute(shared);
                let _ = sender.send(());
                result
            });
            let mut signal = None;
            // A worker that panicked hangs up.
            while receiver.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                signal = signal.or_else(|| asked(group.as_deref()));
                // Again and again: another computation may have ended, and taken it back.
                if signal.is_some() {
                    flag.store(true, Ordering::Relaxed);
                }
            }
            let ended = worker.join();
            if signal.is_some() {
                flag.store(false, Ordering::Relaxed);
            }
            (ended, signal)
        })
    });
    let result = result.unwrap_or_else(|_| {
        let text = "a computation panicked: please report it with the scene";
        Err(Failure::Python(PyRuntimeError::new_err(text)))
    });
    Done { result, signal }
}
