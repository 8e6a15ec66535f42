//! `osculate validate`.

use crate::validate::{Config, Experiment};
use crate::{CliError, Console, Report, files};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Compare simulated motion with closed forms.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Experiment, or 'all'
    #[arg(default_value = "all")]
    pub name: String,
    /// Folder to write `figures` and `data` into; made if it does not exist
    #[arg(long, value_name = "DIR", default_value = "paper")]
    pub out: PathBuf,
    /// Configuration in place of the experiment's own, experiments/NAME/config.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Experiments, each a folder of `experiments` with its question, configuration and result:
  restitution    restitution of every method and schedule against the exact curve
  damping_sweep  bounces of a body against the restitution of its damping
  bouncing_ball  total time of bounces of constant restitution
  penetration    load of sampled surfaces, every quadrature rule, under refinement
  sliding_block  stopping distance, and creep below the Coulomb limit
  rolling_ball   from sliding to rolling, 5/7 of the speed
  spinning_disk  coupled sliding and spinning
  friction_limit a box near the limit of its friction, spin and rolling, with impulses
  rocking_block  period and loss of a rocking block
  box_stack      drift of a stack at rest
  balance        forces balance, energy does not grow
  convergence    order of every method through contact

Writes figures/FIGURE.svg, figures/FIGURE.png and data/FIGURE.csv, the numbers of the figure. Ends with 1 where a
measured number misses its tolerance.

Examples:
  osculate validate
  osculate validate sliding_block --out /tmp/block
  osculate validate rocking_block --config my.toml --out /tmp/rocking --json";

/// Runs it.
///
/// # Errors
/// Where an experiment is unknown, its configuration is wrong, a roll-out fails or a file cannot be written.
pub fn run(args: &Args, console: &Console) -> Result<Report, CliError> {
    let all = args.name == "all";
    if let (true, Some(file)) = (all, &args.config) {
        return Err(CliError::Value {
            field: "--config",
            found: file.display().to_string(),
            allowed: "only with the name of one experiment, whose configuration it is",
        });
    }
    let chosen: Vec<&Experiment> =
        if all { Experiment::ALL.iter().collect() } else { vec![Experiment::named(&args.name)?] };
    let bar = console.progress(chosen.len(), "experiments");
    let mut report = Report { text: String::new(), json: Value::Null, agrees: true };
    let (mut documents, mut missed) = (Map::new(), 0);
    for experiment in &chosen {
        let findings = match &args.config {
            Some(file) => {
                let text = String::from_utf8_lossy(&files::read(file)?).into_owned();
                experiment.run(&Config { text: &text, file })?
            }
            None => {
                let file = format!("experiments/{}/config.toml", experiment.name);
                experiment.run(&Config { text: experiment.config, file: Path::new(&file) })?
            }
        };
        let written = findings.write(&args.out, experiment.name)?.len();
        report.text += &format!("{}: {}\n", experiment.name, experiment.question);
        report.text += &findings.text();
        report.text += &format!("{written} files in {}\n\n", args.out.display());
        report.agrees &= findings.hold();
        missed += findings.checks.iter().filter(|c| !c.holds()).count();
        documents.insert(experiment.name.into(), findings.json());
        bar.inc(1);
    }
    bar.finish_and_clear();
    report.text += &match missed {
        0 => "every number is within its tolerance\n".into(),
        n => format!("{n} numbers miss their tolerance\n"),
    };
    report.json = Value::Object(documents);
    Ok(report)
}
