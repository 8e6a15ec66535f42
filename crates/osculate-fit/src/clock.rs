//! Processor time, for comparisons of solvers.

/// Whose time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    /// All threads of this process.
    Process,
    /// This thread.
    Thread,
}

/// Processor time so far (s).
#[cfg(unix)]
pub(crate) fn processor_seconds(of: Of) -> Option<f64> {
    let id = match of {
        Of::Process => rustix::time::ClockId::ProcessCPUTime,
        Of::Thread => rustix::time::ClockId::ThreadCPUTime,
    };
    let time = rustix::time::clock_gettime(id);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

/// Not known here.
#[cfg(not(unix))]
pub(crate) fn processor_seconds(_: Of) -> Option<f64> {
    None
}
