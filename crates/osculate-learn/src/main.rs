//! The experiments of `osculate-learn`.

use clap::{Parser, ValueEnum};
use osculate_learn::experiment::{self, Options};
use std::path::PathBuf;
use std::process::ExitCode;

/// Networks trained through contact.
///
/// Reads an experiment file, writes report.json and figures.
#[derive(Parser)]
#[command(
    version,
    after_help = "Example:\n  osculate-learn policy experiments/push_policy/experiment.toml"
)]
struct Cli {
    /// Which experiment.
    #[arg(value_enum)]
    experiment: Experiment,
    /// Its file.
    file: PathBuf,
    /// Where results go; `results` beside the file where absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// The small settings of the file, `[quick]`: seconds instead of minutes, to see that everything runs.
    #[arg(long)]
    quick: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Experiment {
    /// A policy that pushes a box to a goal.
    Policy,
    /// Physics and a small network on tosses with drag and magnetism.
    Residual,
    /// A network from a toss to its contact parameters, beside a fit.
    Amortised,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let beside = || cli.file.parent().map_or_else(|| "results".into(), |p| p.join("results"));
    let options = Options { out: cli.out.clone().unwrap_or_else(beside), quick: cli.quick };
    let done = match cli.experiment {
        Experiment::Policy => experiment::policy(&cli.file, &options),
        Experiment::Residual => experiment::residual(&cli.file, &options),
        Experiment::Amortised => experiment::amortised(&cli.file, &options),
    };
    match done {
        Ok(text) => {
            #[expect(clippy::print_stdout, reason = "a command prints")]
            {
                print!("{text}");
            }
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}
