//! The subcommands. A new one is a file with `Args` and `run`, a variant below and its arm in [`Command::run`].

pub mod crosscheck;
pub mod design;
pub mod evaluate;
mod figures;
pub mod fit;
pub mod gradcheck;
pub mod import;
pub mod optimize;
pub mod parameters;
pub mod restitution;
pub mod sdf;
pub mod simulate;
pub mod twin;
pub mod validate;
pub mod verify;

use crate::{CliError, Console, Report};
use clap::Subcommand;
use std::path::Path;

/// More than any machine has; so many that cannot be started must be refused before.
const MOST_THREADS: u64 = 1024;

/// Reads a number of threads.
fn thread_count() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=MOST_THREADS)
}

/// A pool of the threads asked for; all cores by default.
///
/// * `purpose`: the file or folder they work for.
fn pool(threads: Option<u64>, purpose: &Path) -> Result<rayon::ThreadPool, CliError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0) as usize)
        .build()
        .map_err(|e| CliError::io("start threads for", purpose, std::io::Error::other(e)))
}

/// A subcommand.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Identify parameters from recordings, with error bars and figures
    Fit(fit::Args),
    /// Find initial states and controls that bring a scene where it is wanted
    Optimize(optimize::Args),
    /// Judge fixed parameters on recordings
    Evaluate(evaluate::Args),
    /// Compare experiments that could be done: which would tell most about a parameter
    Design(design::Args),
    /// Write synthetic recordings from known parameters, with stated noise and seed
    Twin(twin::Args),
    /// Simulate a scene and write its motion, contacts, energies and solver statistics
    Simulate(simulate::Args),
    /// Damping for a wanted restitution, and the time step it needs
    Restitution(restitution::Args),
    /// Compare adjoint, tangent and difference derivatives of a scene's outcome
    Gradcheck(gradcheck::Args),
    /// Measure whether friction and damping derive from a potential, as the contact page says
    Verify(verify::Args),
    /// Compare the simulator with reference cases of another implementation
    Crosscheck(crosscheck::Args),
    /// Compare simulated motion with closed forms, with figures and data
    Validate(validate::Args),
    /// List the parameters of a scene or an experiment: paths, units, values
    Parameters(parameters::Args),
    /// Convert files of others, recordings and robots, into those used here
    Import(import::Args),
    /// Build a signed distance grid from a mesh, say how good it is, and draw it
    Sdf(sdf::Args),
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// Where input is not valid, files cannot be read or written, or a roll-out fails.
    pub fn run(&self, console: &Console) -> Result<Report, CliError> {
        match self {
            Self::Fit(args) => fit::run(args, console),
            Self::Optimize(args) => optimize::run(args, console),
            Self::Evaluate(args) => evaluate::run(args),
            Self::Design(args) => design::run(args, console),
            Self::Twin(args) => twin::run(args),
            Self::Simulate(args) => simulate::run(args),
            Self::Restitution(args) => restitution::run(args),
            Self::Gradcheck(args) => gradcheck::run(args, console),
            Self::Verify(args) => verify::run(args),
            Self::Crosscheck(args) => crosscheck::run(args, console),
            Self::Validate(args) => validate::run(args, console),
            Self::Parameters(args) => parameters::run(args),
            Self::Import(args) => import::run(args),
            Self::Sdf(args) => sdf::run(args),
        }
    }
}
