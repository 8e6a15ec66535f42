//! Ctrl-C while a computation runs without the interpreter.
//!
//! Python notes a signal but acts on it only when asked, on its main thread. So the computation runs on a thread of its own,
//! and the calling one asks ten times a second.

use crate::error::Failure;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often signals are looked for.
const POLL: Duration = Duration::from_millis(100);

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
    let flag = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&flag);
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
                if signal.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    flag.store(true, Ordering::Relaxed);
                    signal = Some(error);
                }
            }
            (worker.join(), signal)
        })
    });
    let result = result.unwrap_or_else(|_| {
        let text = "a computation panicked: please report it with the scene";
        Err(Failure::Python(PyRuntimeError::new_err(text)))
    });
    Done { result, signal }
}
