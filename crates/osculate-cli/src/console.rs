//! The only place that prints.

use crate::CliError;
use indicatif::{ProgressBar, ProgressStyle};
use osculate_dynamics::file::SceneWarning;
use serde_json::Value;
use std::error::Error;
use std::io::{ErrorKind, Write};

/// What a command has to say.
#[derive(Clone, Debug)]
pub struct Report {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
    /// Whether every check agrees.
    pub agrees: bool,
}

impl Report {
    /// With what is doubtful about the scene: lines at the end of the text, a list `warnings` in the JSON.
    #[must_use]
    pub(crate) fn with_warnings(mut self, warnings: &[SceneWarning]) -> Self {
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        for warning in &warnings {
            if !self.text.ends_with('\n') {
                self.text.push('\n');
            }
            self.text += &format!("warning: {warning}\n");
        }
        self.json["warnings"] = warnings.into();
        self
    }
}

/// Where and how to print.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// One JSON document in place of text.
    pub json: bool,
}

impl Console {
    /// Prints a report on standard output.
    ///
    /// # Errors
    /// Where it cannot be written (a full disk, say).
    pub fn print(&self, report: &Report) -> Result<(), CliError> {
        let mut out = std::io::stdout().lock();
        let written = if self.json {
            writeln!(out, "{:#}", report.json)
        } else {
            writeln!(out, "{}", report.text.trim_end())
        };
        match written.and_then(|()| out.flush()) {
            // A reader that has seen enough closes the pipe: no reason to fail.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(CliError::io("write to", "standard output".as_ref(), error))
            }
            _ => Ok(()),
        }
    }

    /// A progress bar on standard error; silent off a terminal.
    pub fn progress(&self, length: usize, what: &'static str) -> ProgressBar {
        let bar = ProgressBar::new(length as u64).with_message(what);
        let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {eta}");
        bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    }
}

/// Prints a warning on standard error: where no report follows that could hold it.
pub(crate) fn print_warning(warning: &str) {
    let _ = writeln!(std::io::stderr().lock(), "warning: {warning}");
}

/// Prints an error with its causes on standard error.
pub(crate) fn print_error(error: &dyn Error) {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let text = source.to_string();
        // Most messages already quote their cause.
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        cause = source.source();
    }
    let _ = writeln!(std::io::stderr().lock(), "error: {message}");
}
