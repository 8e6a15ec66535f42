//! `osculate optimize`.

mod figures;

use super::simulate::tables;
use crate::{CliError, Console, Report, files, interrupt};
use osculate_fit::contact_model::{ContactModel, ModelError};
use osculate_fit::json;
use osculate_fit::optimize::{
    self, Checkpoint, Loaded, OptimizeFile, Problem, Progress, Search, Task, Watch,
};
use osculate_fit::report::number;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Find initial states and controls that bring a scene where it is wanted.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Optimisation file (docs/optimize.md)
    pub experiment: PathBuf,
    /// Folder to write: report.json, summary.txt, trajectory.csv, controls.csv and figures/ (default: results/ beside the file)
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Threads; the result does not depend on it (default: all cores)
    #[arg(long, value_parser = super::thread_count())]
    pub threads: Option<u64>,
    /// Run the same starts with CMA-ES and with differences, and compare what they spend
    #[arg(long)]
    pub baselines: bool,
    /// Go on from a checkpoint.json of an earlier run of the same file
    #[arg(long)]
    pub resume: Option<PathBuf>,
    /// Skip the figures
    #[arg(long)]
    pub no_figures: bool,
}

const EXAMPLES: &str = "\
Examples:
  osculate optimize experiments/flick/optimize.toml
  osculate optimize experiments/throw/optimize.toml --baselines --out results/throw
  osculate optimize experiments/push/optimize.toml --threads 1 --json
  osculate optimize experiments/push/optimize.toml --resume results/push/checkpoint.json

Ctrl-C ends the search and reports the best point so far, with exit code 130; a second one ends the program.
A finished report that stood in --out is report.finished.json then.
Exit code 0 means that the best start reaches the goal (every `within` of the file), 1 that it does not.";

/// How often a checkpoint is written.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// Runs it.
///
/// # Errors
/// Where the file or its scene is wrong, every start fails, the results cannot be written, or the search was
/// interrupted: then the error carries the report.
pub fn run(args: &Args, console: &Console) -> Result<Report, CliError> {
    match Loaded::read(&args.experiment)? {
        (file, Loaded::Compliant(task)) => run_under(args, console, &file, *task),
        (file, Loaded::Impulse(task)) => run_under(args, console, &file, *task),
    }
}

fn run_under<M: ContactModel>(
    args: &Args,
    console: &Console,
    file: &OptimizeFile,
    mut task: Task<M>,
) -> Result<Report, CliError> {
    let resume = args.resume.as_deref().map(checkpoint).transpose()?;
    let beside = args.experiment.parent().map(|p| p.join("results")).unwrap_or_default();
    let out = args.out.clone().unwrap_or(beside);
    // The destination is made first: a long search must not end at a folder that cannot be written.
    files::create_folder(&out)?;
    files::check_free(&out, &["report.json", "summary.txt", "checkpoint.json"])?;
    let interrupted = interrupt::flag();
    task.simulator.interrupt_by(Arc::clone(&interrupted));
    let task = &task;
    let pool = super::pool(args.threads, &out)?;
    let bar = Bar::new(console, file);
    let saver = Saver { path: out.join("checkpoint.json"), last: Mutex::new(Instant::now()) };
    let watch = Watch {
        interrupted: &interrupted,
        observe: &|p| bar.show(p),
        save: &|checkpoint| saver.save(checkpoint),
    };
    let quiet = Watch { interrupted: &interrupted, observe: &|_| {}, save: &|_| {} };
    let (search, baselines, trust) = pool.install(|| {
        let mut search = optimize::search(task, file, resume.as_ref(), &watch)?;
        bar.phase("baselines");
        let baselines = if args.baselines && !search.interrupted {
            optimize::baselines(task, file, &quiet)
        } else {
            Vec::new()
        };
        bar.phase("what derivatives are good for");
        let trust = match optimize::verdicts(task, &search.best().x, &file.trust) {
            Err(_) if interrupted.load(Ordering::Relaxed) => Vec::new(),
            trust => trust?,
        };
        search.interrupted = interrupted.load(Ordering::Relaxed);
        Ok::<_, CliError>((search, baselines, trust))
    })?;
    bar.finish();
    let name = args.experiment.display().to_string();
    let report = optimize::Report::new((name, file, task), &search, baselines, trust);
    let motion = roll_out(task, &search.best().x)?;
    let found = write(&out, (task, &report), &motion)?;
    if !args.no_figures && !search.interrupted {
        let rolled: Vec<Option<M::Trajectory>> =
            search.starts.iter().map(|s| roll_out(task, &s.x).ok()).collect();
        figures::write(&out.join("figures"), (task, file, &report), &rolled)?;
    }
    finished(out, found, &search)
}

fn finished(out: PathBuf, found: Report, search: &Search) -> Result<Report, CliError> {
    if search.interrupted {
        return Err(CliError::Interrupted { folder: out, report: Box::new(found) });
    }
    Ok(found)
}

fn checkpoint(path: &Path) -> Result<Checkpoint, CliError> {
    json::from_slice(&files::read(path)?)
        .map_err(|source| CliError::Json { path: path.into(), source })
}

fn roll_out<M: ContactModel>(task: &Task<M>, x: &[f64]) -> Result<M::Trajectory, ModelError> {
    let problem = Problem::to_the_end(task);
    problem.values(x).map(|(_, trajectory)| trajectory)
}

/// Writes the report and the best motion.
fn write<M: ContactModel>(
    out: &Path,
    (task, report): (&Task<M>, &optimize::Report),
    motion: &M::Trajectory,
) -> Result<Report, CliError> {
    let summary = report.summary();
    let json = serde_json::to_value(report).map_err(|source| CliError::Json {
        path: out.join("report.json"),
        source: source.into(),
    })?;
    let document = format!("{json:#}\n");
    let scene = task.simulator.scene();
    let bodies = &M::of_scene(&task.base).bodies;
    let trajectory = tables::trajectory(scene, &task.simulator.times(), |step, body| {
        M::state(motion, step, body).kinematics(&bodies[body].center)
    });
    let controls = controls(task, report);
    let written = [
        ("report.json", document.as_bytes()),
        ("summary.txt", summary.as_bytes()),
        ("trajectory.csv", trajectory.as_bytes()),
        ("controls.csv", controls.as_bytes()),
    ];
    if let Err((source, rescue)) = files::write_or_rescue(out, &written, report.interrupted) {
        let Some(folder) = rescue else { return Err(source) };
        let json = json!({ "out": folder, "report": json });
        let found = Report { text: summary, json, agrees: true };
        let (source, report) = (Box::new(source), Box::new(found));
        return Err(CliError::Elsewhere { folder, source, report });
    }
    Ok(Report {
        text: format!("{summary}\nwritten to {}", out.display()),
        json: json!({ "out": out, "report": json }),
        agrees: report.reached > 0,
    })
}

/// One row a step, one column a control; empty where a control does not act.
fn controls<M: ContactModel>(task: &Task<M>, report: &optimize::Report) -> String {
    let mut text = String::from("step,t");
    report.controls.iter().for_each(|c| text += &format!(",{}", c.name));
    text.push('\n');
    for (step, t) in task.simulator.times().iter().enumerate().take(task.simulator.steps()) {
        let value = |c: &optimize::ControlValues| {
            let place = step.checked_sub(c.first_step).and_then(|k| c.values.get(k));
            place.map_or_else(String::new, |x| tables::numbers([x]).concat())
        };
        let start = [step.to_string(), format!("{t:?}")];
        tables::push(&mut text, start.into_iter().chain(report.controls.iter().map(value)));
    }
    text
}

/// Writes checkpoints, not too often.
struct Saver {
    path: PathBuf,
    last: Mutex<Instant>,
}

impl Saver {
    fn save(&self, checkpoint: &Checkpoint) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.elapsed() < SAVE_EVERY {
            return;
        }
        *last = Instant::now();
        // A checkpoint that cannot be written must not end the search.
        if let Ok(text) = serde_json::to_string(checkpoint) {
            let _ = files::write(&self.path, text.as_bytes());
        }
    }
}

/// One bar over all starts and stages.
struct Bar {
    bar: indicatif::ProgressBar,
    /// Stages done of each start, and the lowest cost of a last stage.
    seen: Mutex<(Vec<usize>, f64)>,
    stages: usize,
}

impl Bar {
    fn new(console: &Console, file: &OptimizeFile) -> Self {
        let (stages, starts) = (file.stages.len().max(1), file.multistart.starts);
        let bar = console.progress(starts * stages, "optimize");
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, seen: Mutex::new((vec![0; starts], f64::INFINITY)), stages }
    }

    fn show(&self, p: Progress) {
        let Ok(mut seen) = self.seen.lock() else { return };
        seen.0[p.start] = seen.0[p.start].max(p.stage);
        if p.stage + 1 == self.stages {
            seen.1 = seen.1.min(p.cost);
        }
        self.bar.set_position(seen.0.iter().sum::<usize>() as u64);
        let best =
            if seen.1.is_finite() { format!(", best {}", number(seen.1)) } else { String::new() };
        let (start, stage, cost) = (p.start + 1, p.stage + 1, number(p.cost));
        let iteration = p.iteration;
        self.bar
            .set_message(format!("start {start} stage {stage} it {iteration} cost {cost}{best}"));
    }

    fn phase(&self, what: &str) {
        self.bar.set_position(self.bar.length().unwrap_or(0));
        self.bar.set_message(what.to_owned());
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
