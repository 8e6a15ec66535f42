//! `osculate fit`.

mod compare;

use super::figures;
use crate::{CliError, Console, Report, files, interrupt};
use osculate_fit::experiment::Experiment;
use osculate_fit::fit::{Plan, Progress};
use osculate_fit::problem::Toss;
use osculate_fit::recording::Dataset;
use osculate_fit::report;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Mutex;

/// Identify parameters from recordings, with error bars and figures.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Experiment file (docs/experiment.md)
    pub experiment: PathBuf,
    /// Folder of recordings, in place of the experiment's
    #[arg(long)]
    pub data: Option<PathBuf>,
    /// Folder to write: report.json, summary.txt and figures/ (default: results/ beside the experiment)
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Threads; the result does not depend on it (default: all cores)
    #[arg(long, value_parser = super::thread_count())]
    pub threads: Option<u64>,
    /// Skip the figures
    #[arg(long)]
    pub no_figures: bool,
    /// Also run every solver on the problem of a stage (1 where none is named): loss against evaluations and CPU time
    #[arg(long, value_name = "STAGE", num_args = 0..=1, default_missing_value = "1")]
    pub compare: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  osculate fit experiments/cube_toss/experiment.toml
  osculate fit experiments/cube_toss/experiment.toml --data data/cube_tosses --out results/cube
  osculate fit experiments/cube_toss/experiment.toml --threads 1 --json
  osculate fit experiments/cube_toss/experiment.toml --compare

Ctrl-C ends the fit and reports the best point so far, with exit code 130; a second one ends the program.
A finished report that stood in --out is report.finished.json then.
Where the folder has a split.json, the part named in the experiment (train) is fitted.";

/// Runs it.
///
/// # Errors
/// Where the experiment or the recordings are wrong, every start fails, the results cannot be written, or the fit was
/// interrupted: then the error carries the report.
pub fn run(args: &Args, console: &Console) -> Result<Report, CliError> {
    let experiment = Experiment::read(&args.experiment)?;
    let data = Dataset::open(experiment.data_folder(args.data.as_deref()))?;
    let tosses = experiment.tosses_to_fit(&data)?;
    let half_side = data.metadata().cube.half_side_m;
    let beside = args.experiment.parent().map(|p| p.join("results")).unwrap_or_default();
    let out = args.out.clone().unwrap_or(beside);
    // The destination is made first: a long fit must not end at a folder that cannot be written.
    files::create_folder(&out)?;
    files::check_free(&out, &["report.json", "summary.txt"])?;
    let compared = compared(args, &experiment, &tosses, half_side)?;
    let interrupted = interrupt::flag();
    let pool = super::pool(args.threads, &out)?;
    let bar = Bar::new(console, &experiment);
    let (report, fitted) = pool.install(|| {
        report::run(&experiment, tosses, half_side, &interrupted, &|p| bar.show(p), &|phase| {
            bar.phase(phase)
        })
    })?;
    bar.finish();
    let summary = report.summary();
    let json = serde_json::to_value(&report).map_err(|source| CliError::Json {
        path: out.join("report.json"),
        source: source.into(),
    })?;
    let document = format!("{json:#}\n");
    let written = [("report.json", document.as_bytes()), ("summary.txt", summary.as_bytes())];
    if let Err((source, rescue)) = files::write_or_rescue(&out, &written, report.interrupted) {
        let Some(folder) = rescue else { return Err(source) };
        let found =
            Report { text: summary, json: json!({ "out": folder, "report": json }), agrees: true };
        return Err(CliError::Elsewhere {
            folder,
            source: Box::new(source),
            report: Box::new(found),
        });
    }
    if !args.no_figures && !report.interrupted {
        figures::write(&out.join("figures"), &report, &fitted)?;
    }
    let mut found = Report {
        text: format!("{summary}\nwritten to {}", out.display()),
        json: json!({ "out": out, "report": json }),
        agrees: true,
    };
    if let (Some((stage, plan)), false) = (compared, report.interrupted) {
        let place = (out.as_path(), !args.no_figures);
        let comparison =
            pool.install(|| compare::run(&plan, stage, place, &interrupted, console))?;
        found.text = format!("{}\n\n{}", found.text, comparison.text);
        found.json["comparison"] = comparison.json;
    }
    if report.interrupted {
        return Err(CliError::Interrupted { folder: out, report: Box::new(found) });
    }
    Ok(found)
}

/// The stage to compare solvers at, and the plan it is of.
fn compared(
    args: &Args,
    experiment: &Experiment,
    tosses: &[Toss],
    half_side: f64,
) -> Result<Option<(usize, Plan)>, CliError> {
    let Some(stage) = args.compare else { return Ok(None) };
    let plan = experiment.plan(tosses.to_vec(), half_side);
    if !(1..=plan.stages.len()).contains(&stage) {
        return Err(CliError::Value {
            field: "--compare",
            found: stage.to_string(),
            allowed: "the number of a stage, from 1",
        });
    }
    Ok(Some((stage, plan)))
}

/// One bar over all starts and stages.
struct Bar {
    bar: indicatif::ProgressBar,
    /// Stages done of each start, and the lowest loss of a last stage.
    seen: Mutex<(Vec<usize>, f64)>,
    stages: usize,
}

impl Bar {
    fn new(console: &Console, experiment: &Experiment) -> Self {
        let stages = experiment.file.stages.len().max(1);
        let starts = experiment.file.multistart.starts;
        let bar = console.progress(starts * stages, "fit");
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        Self { bar, seen: Mutex::new((vec![0; starts], f64::INFINITY)), stages }
    }

    fn show(&self, p: Progress) {
        let Ok(mut seen) = self.seen.lock() else { return };
        if p.stage > seen.0[p.start] {
            seen.0[p.start] = p.stage;
        }
        if p.stage + 1 == self.stages {
            seen.1 = seen.1.min(p.loss);
        }
        self.bar.set_position(seen.0.iter().sum::<usize>() as u64);
        let best = if seen.1.is_finite() {
            format!(", best {}", report::number(seen.1))
        } else {
            String::new()
        };
        self.bar.set_message(format!(
            "start {} stage {} loss {}{best}",
            p.start + 1,
            p.stage + 1,
            report::number(p.loss)
        ));
    }

    fn phase(&self, what: &str) {
        self.bar.set_position(self.bar.length().unwrap_or(0));
        self.bar.set_message(what.to_owned());
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
