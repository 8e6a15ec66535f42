//! `osculate parameters`.

use crate::{CliError, Report, table};
use osculate_dynamics::file::SceneFile;
use osculate_fit::experiment::Experiment;
use osculate_fit::problem::numbers;
use serde_json::{Value, json};
use std::path::PathBuf;

/// List the parameters of a scene or an experiment: paths, units, values.
///
/// Each can be a `[[parameter]]` of an experiment, and has a derivative: those of the contact model that the scene asks
/// for. Of an experiment, its scene is listed; nothing
/// else in it need be right.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Scene file (docs/scene.md) or experiment file (docs/experiment.md)
    #[arg(value_name = "SCENE|EXPERIMENT")]
    pub file: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  osculate parameters docs/examples/sliding_block.toml
  osculate parameters experiments/cube_toss/experiment.toml --json";

/// Runs it.
///
/// # Errors
/// Where the file or its scene is not valid.
pub fn run(args: &Args) -> Result<Report, CliError> {
    let path = Experiment::scene_of(&args.file)?.unwrap_or_else(|| args.file.clone());
    let scene = SceneFile::load(&path)?;
    let numbers = match &scene.impulse {
        None => numbers(&scene.simulator, scene.parameters.clone()),
        Some(simulator) => numbers(simulator, scene.parameters.clone()),
    };
    let mut rows = vec![["path", "value", "unit"].map(str::to_owned).to_vec()];
    let mut listed: Vec<Value> = Vec::with_capacity(numbers.len());
    for (entry, value) in numbers {
        rows.push(vec![entry.path.clone(), value.to_string(), entry.unit.to_owned()]);
        listed.push(json!({ "path": entry.path, "unit": entry.unit, "value": value }));
    }
    let report = Report {
        text: table::render(&rows, &[false, true, false]).trim_end().to_owned(),
        json: json!({ "scene": path, "parameters": listed }),
        agrees: true,
    };
    Ok(report.with_warnings(&scene.warnings))
}
