//! `osculate design`.

mod figures;

use crate::{CliError, Console, Report, files, interrupt};
use osculate_fit::design::{self, Design};
use serde_json::json;
use std::path::PathBuf;

/// Compare experiments that could be done: which would tell most about a parameter.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Design file (docs/design.md)
    #[arg(value_name = "DESIGN")]
    pub design: PathBuf,
    /// Folder to write: report.json, summary.txt, candidates.csv and figures/
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Threads; the result does not depend on it (default: all cores)
    #[arg(long, value_parser = super::thread_count())]
    pub threads: Option<u64>,
    /// Skip the figures
    #[arg(long)]
    pub no_figures: bool,
}

const EXAMPLES: &str = "\
Examples:
  osculate design experiments/design/friction.toml
  osculate design experiments/design/stiffness.toml --out results/stiffness
  osculate design experiments/design/friction.toml --json

A candidate is judged by its exact Fisher matrix; nothing is simulated with noise. Scores are standard errors: lower is
better. Ctrl-C leaves out the candidates that were not reached, with exit code 130; a second one ends the program.";

/// Runs it.
///
/// # Errors
/// Where the file, a scene or a report is wrong, every candidate fails, the results cannot be written, or it was
/// interrupted: then the error carries the report.
pub fn run(args: &Args, console: &Console) -> Result<Report, CliError> {
    let design = Design::read(&args.design)?;
    if let Some(out) = &args.out {
        files::create_folder(out)?;
        files::check_free(out, &["report.json", "summary.txt", "candidates.csv"])?;
    }
    let interrupted = interrupt::flag();
    let design = design.interrupted_by(&interrupted);
    let pool = super::pool(args.threads, &args.design)?;
    let bar = console.progress(design.candidates.len(), "candidates");
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let found = pool.install(|| design::search(&design, &interrupted, &|| bar.inc(1)));
    bar.finish_and_clear();
    let report = found?;
    let summary = report.summary();
    let path = args.out.clone().unwrap_or_else(|| args.design.clone());
    let json = serde_json::to_value(&report)
        .map_err(|source| CliError::Json { path: path.clone(), source: source.into() })?;
    let mut text = summary.trim_end().to_owned();
    if let Some(out) = &args.out {
        let (document, table) = (format!("{json:#}\n"), report.csv());
        let written = [
            ("report.json", document.as_bytes()),
            ("summary.txt", summary.as_bytes()),
            ("candidates.csv", table.as_bytes()),
        ];
        if let Err((source, rescue)) = files::write_or_rescue(out, &written, report.interrupted) {
            let Some(folder) = rescue else { return Err(source) };
            let json = json!({ "out": folder, "report": json });
            let found = Report { text, json, agrees: true };
            let (source, report) = (Box::new(source), Box::new(found));
            return Err(CliError::Elsewhere { folder, source, report });
        }
        if !args.no_figures {
            figures::write(&out.join("figures"), &report)?;
        }
        text += &format!("\n\nwritten to {}", out.display());
    }
    let json = json!({ "out": args.out, "report": json });
    let found = Report { text, json, agrees: true };
    if report.interrupted {
        return Err(CliError::Interrupted { folder: path, report: Box::new(found) });
    }
    Ok(found)
}
