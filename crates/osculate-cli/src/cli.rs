//! The command line.

use crate::commands::Command;
use crate::console::{self, Console};
use clap::Parser;
use std::process::ExitCode;

/// Differentiable simulation of rigid bodies in compliant contact, and identification of contact
/// parameters from measured motion.
///
/// Scenes are TOML files (docs/scene.md). Every quantity is in SI units: m, kg, s, N, rad.
#[derive(Debug, Parser)]
#[command(name = "osculate", version, after_help = EXIT_CODES)]
pub struct Cli {
    /// Print one JSON document on standard output in place of text
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done; every check agrees
  1    a check disagrees, or a roll-out failed
  2    usage or input that is not valid
  130  interrupted

Examples:
  osculate fit experiments/cube_toss/experiment.toml
  osculate simulate docs/examples/sliding_block.toml --out /tmp/block
  osculate gradcheck docs/examples/sliding_block.toml
  osculate restitution --e 0.6 --speed 1.0
  osculate validate sliding_block --out /tmp/block
  osculate crosscheck REFERENCE_DATA --family f1
  osculate sdf part.stl --out grids
  osculate import contactnets tosses_processed data/cube_tosses

`osculate <COMMAND> --help` says more about each command.";

/// Parses the arguments, runs, prints; the exit code is documented in `--help`.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let console = Console { json: cli.json };
    match cli.command.run(&console) {
        Ok(report) => {
            console.print(&report);
            ExitCode::from(u8::from(!report.agrees))
        }
        Err(error) => {
            console::print_error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
