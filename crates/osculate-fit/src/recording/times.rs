//! Whether the frames of a recording come at the rate that its metadata say.

use super::csv::Recording;
use super::dataset::TIME_STEP_TOLERANCE;
use super::{RecordingError, files};
use std::path::Path;

/// The line of a frame, from 1: the header is the first, and blank ones do not count as frames.
pub(super) fn line_of(frame: usize, file: &Path) -> usize {
    let bytes = files::read(file).unwrap_or_default();
    let lines = bytes.split(|&b| b == b'\n').enumerate();
    let mut rows = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    rows.nth(frame + 1).map_or(frame + 2, |(index, _)| index + 1)
}

/// What a time step looks like that is `ratio` times as long as it should be.
fn looks_like(ratio: f64) -> String {
    let whole = ratio.round();
    let near = |x: f64| (ratio / x - 1.0).abs() < 0.01;
    match ratio {
        _ if near(1e3) => ": milliseconds?".into(),
        _ if near(1e6) || near(1e9) => ": microseconds or nanoseconds?".into(),
        _ if whole >= 2.0 && near(whole) => {
            format!(": frames missing before it: {}?", whole - 1.0)
        }
        _ => String::new(),
    }
}

/// Every step is the `dt_s` of the metadata.
///
/// # Errors
/// [`RecordingError::TimeStep`], with line, frame, and what it looks like.
pub(super) fn check_time_steps(
    recording: &Recording,
    expected: f64,
    file: &Path,
) -> Result<(), RecordingError> {
    for (k, pair) in recording.times.windows(2).enumerate() {
        let found = pair[1] - pair[0];
        if (found - expected).abs() > TIME_STEP_TOLERANCE * expected {
            let (frame, time, looks) = (k + 1, pair[1], looks_like(found / expected));
            let (line, file) = (line_of(frame, file), file.into());
            return Err(RecordingError::TimeStep {
                file,
                line,
                frame,
                time,
                found,
                expected,
                looks,
            });
        }
    }
    Ok(())
}
