//! The command line.

use crate::CliError;
use crate::commands::Command;
use crate::console::{self, Console};
use clap::{Arg, CommandFactory, FromArgMatches, Parser};
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

/// Options take negative numbers, so that one out of range is refused with its name, its value and what is allowed; the
/// parser alone would take `-1` for an unknown option.
fn parse() -> Cli {
    let negative = |arg: Arg| {
        let number = arg.get_action().takes_values() && !arg.is_positional();
        if number { arg.allow_negative_numbers(true) } else { arg }
    };
    let command = Cli::command().mut_subcommands(|c| c.mut_args(negative));
    Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

/// Parses the arguments, runs, prints; the exit code is documented in `--help`.
pub fn main() -> ExitCode {
    let cli = parse();
    let console = Console { json: cli.json };
    let outcome = cli.command.run(&console).and_then(|report| {
        console.print(&report)?;
        Ok(u8::from(!report.agrees))
    });
    // An interrupted command still says what it found.
    let outcome = match outcome {
        Err(CliError::Interrupted { folder, report }) => {
            console.print(&report).and_then(|()| Err(CliError::Interrupted { folder, report }))
        }
        other => other,
    };
    ExitCode::from(outcome.unwrap_or_else(|error| {
        console::print_error(&error);
        error.exit_code()
    }))
}
