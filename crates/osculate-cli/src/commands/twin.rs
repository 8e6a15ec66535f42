//! `osculate twin`.

use crate::{CliError, Report};
use osculate_fit::experiment::Experiment;
use osculate_fit::twin;
use serde_json::json;
use std::path::PathBuf;

/// Write synthetic recordings from known parameters, with stated noise and seed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Experiment file with a [twin] section (docs/experiment.md)
    pub experiment: PathBuf,
    /// Folder to write, in place of the experiment's data folder
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Seed, in place of the experiment's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Replace what is in the folder
    #[arg(long)]
    pub overwrite: bool,
}

const EXAMPLES: &str = "\
Examples:
  osculate twin experiments/cube_toss/experiment.toml --out twins/a
  osculate twin experiments/cube_toss/experiment.toml --out twins/b --seed 7

The true parameters are those of the scene. twin.json in the folder records them with seed and noise.";

/// Runs it.
///
/// # Errors
/// Where the experiment is wrong, a simulation fails, or the folder is not empty or cannot be written.
pub fn run(args: &Args) -> Result<Report, CliError> {
    let experiment = Experiment::read(&args.experiment)?;
    let mut settings = experiment.file.twin.clone().ok_or_else(|| CliError::Value {
        field: "twin",
        found: "absent".into(),
        allowed: "a [twin] section in the experiment",
    })?;
    settings.seed = args.seed.unwrap_or(settings.seed);
    let folder = experiment.data_folder(args.out.as_deref());
    let occupied = folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if occupied && !args.overwrite {
        return Err(CliError::io(
            "write to",
            &folder,
            std::io::Error::other("the folder is not empty; --overwrite replaces what is in it"),
        ));
    }
    let (tosses, unconverged) = twin::make(&experiment.model, &settings)?;
    let truth = truth(&experiment)?;
    twin::write(&tosses, &experiment.model, &settings, &truth, &folder)?;
    let values: Vec<String> = truth.iter().map(|(p, x)| format!("  {p} = {x}")).collect();
    let mut text = format!(
        "{} tosses of {} frames written to {} (seed {})\ntrue parameters\n{}",
        tosses.len(),
        settings.frames,
        folder.display(),
        settings.seed,
        values.join("\n")
    );
    if unconverged > 0 {
        text += &format!("\nWARNING: {unconverged} solves did not converge");
    }
    Ok(Report {
        text,
        json: json!({
            "folder": folder, "tosses": tosses.len(), "seed": settings.seed,
            "unconverged_stages": unconverged,
            "parameters": truth.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        }),
        agrees: true,
    })
}

/// The scene's values of the parameters that the experiment frees or profiles.
fn truth(experiment: &Experiment) -> Result<Vec<(String, f64)>, CliError> {
    let numbers = experiment.model.numbers()?;
    let value = |path: &String| numbers.iter().find(|(e, _)| e.path == *path).map(|(_, x)| *x);
    let paths = experiment.file.parameters.iter().map(|p| &p.path);
    // Every path was found when the experiment was read.
    Ok(paths.filter_map(|path| Some((path.clone(), value(path)?))).collect())
}
