//! `osculate evaluate`.

use crate::{CliError, Report, files};
use osculate_fit::experiment::{Experiment, PartName};
use osculate_fit::parameter::FreeParameter;
use osculate_fit::recording::{Dataset, Evaluation};
use osculate_fit::report::{self, number};
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Judge fixed parameters on recordings.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Experiment file (docs/experiment.md)
    pub experiment: PathBuf,
    /// Report of a fit, whose best values are judged
    #[arg(long)]
    pub params: PathBuf,
    /// Folder of recordings, in place of the experiment's
    #[arg(long)]
    pub data: Option<PathBuf>,
    /// Part of the folder's split to judge
    #[arg(long, value_enum, default_value = "all")]
    pub part: PartArg,
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
  osculate evaluate experiments/cube_toss/experiment.toml --params results/report.json
  osculate evaluate experiments/cube_toss/experiment.toml --params results/report.json \\
      --data data/cube_tosses --part valid --json

Roll-outs start at the recorded starts and are not refitted. Position errors are in % of the body's width.";

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
    let problem =
        experiment.judged(tosses, half_side).map_err(Box::new).map_err(CliError::Problem)?;
    let shared = coordinates(&args.params, problem.parameters())?;
    let own = problem.own_start();
    let (evaluation, unconverged) = report::evaluate(&problem, &shared, &own, half_side)?;
    let evaluation = evaluation.ok_or_else(|| {
        CliError::io("evaluate", &args.params, std::io::Error::other("no tosses"))
    })?;
    let mut json = serde_json::to_value(&evaluation)
        .map_err(|source| CliError::Json { path: args.params.clone(), source })?;
    json["unconverged_stages"] = json!(unconverged);
    Ok(Report { text: text(&evaluation, unconverged, args.tosses), json, agrees: true })
}

/// Coordinates of the best values of a report.
fn coordinates(file: &Path, parameters: &[FreeParameter]) -> Result<Vec<f64>, CliError> {
    let text = files::read(file)?;
    let fitted: Fitted = serde_json::from_slice(&text)
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
                // The last digit of a value on its bound may have been rounded outwards.
                Some(x) if x >= low * (1.0 - 1e-9) - 1e-300 && x <= high * (1.0 + 1e-9) => {
                    Ok(p.to_coordinate(x))
                }
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
