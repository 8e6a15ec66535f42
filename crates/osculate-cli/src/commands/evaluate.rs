//! `osculate evaluate`.

use crate::{CliError, Report, files};
use osculate_fit::baselines;
use osculate_fit::experiment::{Experiment, PartName};
use osculate_fit::json;
use osculate_fit::own::{self, Estimated};
use osculate_fit::parameter::FreeParameter;
use osculate_fit::problem::{Problem, Toss};
use osculate_fit::recording::{Dataset, Evaluation};
use osculate_fit::report::{self, number};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Judge fixed parameters on recordings.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Experiment file (docs/experiment.md)
    pub experiment: PathBuf,
    /// Report of a fit, whose best values are judged; those of the scene without one
    #[arg(long)]
    pub params: Option<PathBuf>,
    /// Value of a free parameter, in place of the report's or the scene's
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Judge simple predictions beside it: nothing moves, free flight until the ground, the mean path of the tosses for fitting
    #[arg(long)]
    pub baselines: bool,
    /// Folder of recordings, in place of the experiment's
    #[arg(long)]
    pub data: Option<PathBuf>,
    /// Part of the folder's split to judge
    #[arg(long, value_enum, default_value = "all")]
    pub part: PartArg,
    /// Also estimate what the experiment calls uncertain of each toss from the toss itself, the parameters of the report held
    #[arg(long)]
    pub initial_states: bool,
    /// Show every toss
    #[arg(long)]
    pub tosses: bool,
}

/// A part of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PartArg {
    /// Every toss that the metadata list
    All,
    /// The tosses for fitting
    Train,
    /// The tosses for choosing
    Valid,
    /// The tosses for judging
    Test,
}

const EXAMPLES: &str = "\
Examples:
  osculate evaluate experiments/cube_toss/experiment.toml --params experiments/cube_toss/results/report.json
  osculate evaluate experiments/cube_toss/experiment.toml --set pair.cube.ground.mu=0.3 --baselines
  osculate evaluate experiments/cube_toss/experiment.toml --params experiments/cube_toss/results/report.json \\
      --data data/cube_tosses --part valid --json

  osculate evaluate experiments/cube_toss_nuisance/experiment.toml --params experiments/cube_toss_nuisance/results/report.json \\
      --data data/cube_tosses --part valid --initial-states

Roll-outs start at the recorded starts and are not refitted; with --initial-states a second row of errors has initial
states estimated from the very tosses that are judged. Position errors are in % of the body's width.";

/// The part of a report that is needed.
#[derive(Debug, Deserialize)]
struct Fitted {
    parameters: Vec<FittedParameter>,
}

#[derive(Debug, Deserialize)]
struct FittedParameter {
    path: String,
    best: Option<f64>,
}

/// Runs it.
///
/// # Errors
/// Where a file is wrong, or a roll-out fails.
pub fn run(args: &Args) -> Result<Report, CliError> {
    let experiment = Experiment::read(&args.experiment)?;
    let data = Dataset::open(experiment.data_folder(args.data.as_deref()))?;
    let part = match args.part {
        PartArg::All => PartName::All,
        PartArg::Train => PartName::Train,
        PartArg::Valid => PartName::Valid,
        PartArg::Test => PartName::Test,
    };
    let tosses = experiment.tosses(&data, part.into())?;
    let half_side = data.metadata().cube.half_side_m;
    let doubts = experiment.doubts(&tosses, half_side);
    let baselines = match args.baselines {
        true => judged_baselines(&experiment, &data, &tosses, half_side)?,
        false => Vec::new(),
    };
    let problem = experiment
        .judged(tosses.clone(), half_side)
        .map_err(Box::new)
        .map_err(CliError::Problem)?;
    let shared = values(args, &problem)?;
    let own = problem.own_start();
    let (mut json, mut text) = judge((&problem, &shared, &own), half_side, args)?;
    if args.initial_states {
        let (found, words) = with_own(&experiment, &tosses, (&shared, half_side), args)?;
        json["initial_states"] = found;
        text = format!("from the recorded starts\n{text}\n\n{words}");
    }
    for (name, e) in &baselines {
        json["baselines"][name] = as_json(e, args)?;
        text += &format!("\n\nbaseline: {name}\n{}", self::text(e, 0, false));
    }
    if !doubts.is_empty() {
        json["doubts"] = json!(doubts);
        doubts.iter().for_each(|d| text += &format!("\nWARNING: {d}"));
    }
    Ok(Report { text, json, agrees: true })
}

fn as_json(evaluation: &Evaluation, args: &Args) -> Result<Value, CliError> {
    serde_json::to_value(evaluation)
        .map_err(|source| CliError::Json { path: args.experiment.clone(), source: source.into() })
}

/// Errors at a point, as JSON and in words.
fn judge(
    (problem, shared, own): (&Problem, &[f64], &[Vec<f64>]),
    half_side: f64,
    args: &Args,
) -> Result<(Value, String), CliError> {
    let (evaluation, unconverged) = report::evaluate(problem, shared, own, half_side)?;
    let evaluation = evaluation.ok_or_else(|| {
        CliError::io("evaluate", &args.experiment, std::io::Error::other("no tosses"))
    })?;
    let mut json = as_json(&evaluation, args)?;
    json["unconverged_stages"] = json!(unconverged);
    Ok((json, text(&evaluation, unconverged, args.tosses)))
}

fn judged_baselines(
    experiment: &Experiment,
    data: &Dataset,
    tosses: &[Toss],
    half_side: f64,
) -> Result<Vec<(&'static str, Evaluation)>, CliError> {
    let train = match data.has_split() {
        true => experiment.tosses(data, PartName::Train.into())?,
        false => Vec::new(),
    };
    baselines::evaluate(&experiment.model, tosses, &train, half_side)
        .map_err(|e| CliError::io("judge", data.folder(), std::io::Error::other(e)))
}

/// Coordinates of the values to judge: of the report or the scene, and those set.
fn values(args: &Args, problem: &Problem) -> Result<Vec<f64>, CliError> {
    let parameters = problem.parameters();
    let mut shared = match &args.params {
        Some(file) => coordinates(file, parameters)?,
        None => {
            let of_scene = |p: &FreeParameter| {
                p.to_coordinate(problem.scene_value(&p.path).unwrap_or(f64::NAN))
            };
            parameters.iter().map(of_scene).collect()
        }
    };
    for set in &args.set {
        let refuse = |allowed| CliError::Value { field: "--set", found: set.clone(), allowed };
        let (path, value) = set.split_once('=').ok_or_else(|| refuse("PATH=VALUE"))?;
        let i = parameters.iter().position(|p| p.path == path);
        let i = i.ok_or_else(|| refuse("the path of a free [[parameter]]"))?;
        let value: f64 = value.parse().map_err(|_| refuse("PATH=VALUE with a number"))?;
        let [low, high] = parameters[i].range;
        if !(low..=high).contains(&value) {
            return Err(CliError::SetValue { path: path.into(), found: value, low, high });
        }
        shared[i] = parameters[i].to_coordinate(value);
    }
    // The logarithm of zero: a parameter on a scale that its value in the scene is not on.
    if let Some(i) = shared.iter().position(|u| !u.is_finite()) {
        return Err(CliError::Value {
            field: "the scene's value of a free parameter",
            found: parameters[i].path.clone(),
            allowed: "a value on its scale; give one by --set or --params",
        });
    }
    Ok(shared)
}

/// Errors with own parameters estimated from the tosses that are judged, and how far these were moved.
fn with_own(
    experiment: &Experiment,
    tosses: &[Toss],
    (shared, half_side): (&[f64], f64),
    args: &Args,
) -> Result<(Value, String), CliError> {
    let problems = experiment.with_own(tosses, half_side).map_err(Box::new);
    let Some(problems) = problems.map_err(CliError::Problem)? else {
        return Err(CliError::Value {
            field: "--initial-states",
            found: "an experiment that keeps every recorded start".into(),
            allowed: "one with [initial_state] or [[nuisance]]",
        });
    };
    let found = own::estimate(&problems, shared).map_err(Box::new).map_err(CliError::Problem)?;
    let own: Vec<Vec<f64>> = found.iter().map(|e| e.own.clone()).collect();
    let problem = &problems[problems.len() - 1];
    let (mut json, errors) = judge((problem, shared, &own), half_side, args)?;
    let moved = moved(problem, &found);
    let words: Vec<String> =
        moved.iter().map(|(path, x)| format!("  {path}: {}", number(*x))).collect();
    let moved: serde_json::Map<String, Value> =
        moved.into_iter().map(|(path, x)| (path, json!(x))).collect();
    json["estimated_from"] = json!("the tosses judged");
    json["moved_sigmas"] = Value::Object(moved);
    let text = format!(
        "with what is uncertain of each toss estimated from the tosses judged, shared parameters held\n{errors}\n\
         moved, root mean square over tosses in standard deviations of the prior\n{}",
        words.join("\n")
    );
    Ok((json, text))
}

/// Root mean square of each own parameter over tosses, in standard deviations of its prior.
fn moved(problem: &Problem, found: &[Estimated]) -> Vec<(String, f64)> {
    let sigmas = problem.own_sigmas().into_iter().enumerate();
    let one = |(k, (path, sigma)): (usize, (String, f64))| {
        let sum: f64 = found.iter().map(|e| (e.own[k] / sigma).powi(2)).sum();
        (path, (sum / found.len().max(1) as f64).sqrt())
    };
    sigmas.map(one).collect()
}

/// Coordinates of the best values of a report.
fn coordinates(file: &Path, parameters: &[FreeParameter]) -> Result<Vec<f64>, CliError> {
    let text = files::read(file)?;
    let fitted: Fitted = json::from_slice(&text)
        .map_err(|source| CliError::Json { path: file.to_owned(), source })?;
    parameters
        .iter()
        .map(|p| {
            let found = fitted.parameters.iter().find(|f| f.path == p.path).ok_or_else(|| {
                let known: Vec<&str> = fitted.parameters.iter().map(|f| f.path.as_str()).collect();
                CliError::ReportParameter {
                    file: file.to_owned(),
                    missing: p.path.clone(),
                    known: known.join(", "),
                }
            })?;
            let [low, high] = p.range;
            match found.best {
                Some(x) if within(x, [low, high]) => Ok(p.to_coordinate(x)),
                other => Err(CliError::ReportValue {
                    file: file.to_owned(),
                    path: p.path.clone(),
                    found: other.map_or_else(|| "missing".into(), |x| x.to_string()),
                    low,
                    high,
                }),
            }
        })
        .collect()
}

/// Whether a value is in its range; the last digit of one on its bound may have been rounded outwards.
fn within(x: f64, [low, high]: [f64; 2]) -> bool {
    x >= low - 1e-9 * low.abs() - 1e-300 && x <= high + 1e-9 * high.abs() + 1e-300
}

fn text(e: &Evaluation, unconverged: usize, each: bool) -> String {
    let (p, r) = (&e.position_error_percent, &e.rotation_error_deg);
    let mut text = format!(
        "{} tosses\nloss            {}\nposition error  {:.2} ± {:.2} % of the width, median {:.2}\n\
         rotation error  {:.2} ± {:.2} deg, median {:.2}",
        e.tosses.len(),
        number(e.loss),
        p.mean,
        p.std,
        p.median,
        r.mean,
        r.std,
        r.median
    );
    for c in &e.channels {
        text += &format!("\n{}", c.statement());
    }
    if unconverged > 0 {
        text += &format!("\nWARNING: {unconverged} solves did not converge");
    }
    if each {
        text += "\n\n  toss      loss   position %   rotation deg";
        for t in &e.tosses {
            text += &format!(
                "\n  {:>4} {:>9} {:>12.2} {:>14.2}",
                t.id,
                number(t.loss),
                t.position_error_percent,
                t.rotation_error_deg
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::within;

    /// A value on a negative lower bound was refused: the tolerance was a factor, which moves a negative bound inwards.
    #[test]
    fn values_on_their_bounds_are_in_the_range_whatever_the_sign() {
        for range in [[-1.0, 1.0], [0.0, 2.0], [-3.0, -2.0], [1e-3, 5.0]] {
            assert!(within(range[0], range) && within(range[1], range), "{range:?}");
            assert!(
                !within(range[0] - 1e-6, range) && !within(range[1] + 1e-6, range),
                "{range:?}"
            );
        }
    }
}
