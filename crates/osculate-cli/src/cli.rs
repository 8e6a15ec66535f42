//! The command line.

use crate::commands::Command;
use crate::console::{self, Console};
use clap::{Arg, CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
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
  osculate optimize experiments/flick/optimize.toml --baselines
  osculate design experiments/design/friction.toml
  osculate simulate docs/examples/sliding_block.toml --out /tmp/block
  osculate gradcheck docs/examples/sliding_block.toml
  osculate restitution --e 0.6 --speed 1.0
  osculate validate sliding_block --out /tmp/block
  osculate crosscheck REFERENCE_DATA --family f1
  osculate sdf part.stl --out grids
  osculate import contactnets tosses_processed data/cube_tosses
  osculate import urdf arm.urdf --out arm.toml

`osculate <COMMAND> --help` says more about each command.";

/// Options take negative numbers, so that one out of range is refused with its name, its value and what is allowed; the
/// parser alone would take `-1` for an unknown option.
fn parse() -> Cli {
    let negative = |arg: Arg| {
        let number = arg.get_action().takes_values() && !arg.is_positional();
        if number { arg.allow_negative_numbers(true) } else { arg }
    };
    let command = Cli::command().mut_subcommands(|c| c.mut_args(negative));
    let matches = command.get_matches_from(joined(std::env::args_os()));
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// `--step -1e-3` as `--step=-1e-3`: the parser takes a negative exponent for an unknown option.
fn joined(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let text = |a: &OsString| a.to_str().unwrap_or_default().to_owned();
    let number = |x: &str| x.split(',').all(|x| x.parse::<f64>().is_ok());
    let mut all: Vec<OsString> = Vec::new();
    for argument in arguments {
        let (value, option) = (text(&argument), all.last().map(text).unwrap_or_default());
        let takes = option.starts_with("--") && option.len() > 2 && !option.contains('=');
        match all.last_mut() {
            Some(last) if takes && value.starts_with('-') && number(&value) => {
                last.push("=");
                last.push(&argument);
            }
            _ => all.push(argument),
        }
    }
    all
}

/// Parses the arguments, runs, prints; the exit code is documented in `--help`.
pub fn main() -> ExitCode {
    let cli = parse();
    let console = Console { json: cli.json };
    let outcome = cli.command.run(&console).and_then(|report| {
        console.print(&report)?;
        Ok(u8::from(!report.agrees))
    });
    // A command that was interrupted, or could not write where it should, still says what it found.
    let outcome = match outcome {
        Err(error) => match error.report() {
            Some(report) => console.print(report).and_then(|()| Err(error)),
            None => Err(error),
        },
        done => done,
    };
    ExitCode::from(outcome.unwrap_or_else(|error| {
        console::print_error(&error);
        error.exit_code()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_of_any_form_are_values_of_the_option_before_them() {
        let list = |x: &[&str]| x.iter().map(OsString::from).collect::<Vec<_>>();
        for (given, read) in [
            (&["a", "--step", "-1e-3"][..], &["a", "--step=-1e-3"][..]),
            (&["--delta", "-1e-3,2,-4", "x"], &["--delta=-1e-3,2,-4", "x"]),
            (&["--e=1", "-1e-3"], &["--e=1", "-1e-3"]),
            (&["--step", "1e-3", "--json"], &["--step", "1e-3", "--json"]),
            (&["--", "-1"], &["--", "-1"]),
            (&["--step", "-x"], &["--step", "-x"]),
        ] {
            assert_eq!(joined(list(given).into_iter()), list(read));
        }
    }
}
