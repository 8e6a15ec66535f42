//! Experiments that compare simulated motion with closed forms: one file each.
//!
//! The numbers of an experiment are in `experiments/NAME/config.toml`, which is part of the command; what it found is in
//! the README beside it. A new one is its file, its folder, and one line of [`Experiment::ALL`].

mod balance;
mod bouncing_ball;
mod box_stack;
mod convergence;
mod damping_sweep;
mod findings;
mod friction_limit;
mod penetration;
mod restitution;
mod rocking_block;
mod rolling_ball;
mod scenes;
mod sliding_block;
mod spinning_disk;

use crate::CliError;
use serde::de::DeserializeOwned;
use std::path::Path;

pub use findings::{Check, Findings, Tolerance};

/// The configuration of an experiment, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// TOML.
    pub text: &'a str,
    /// For errors.
    pub file: &'a Path,
}

impl Config<'_> {
    /// Reads it; unknown fields are refused.
    fn read<C: DeserializeOwned>(&self) -> Result<C, CliError> {
        toml::from_str(self.text)
            .map_err(|e| CliError::Toml { path: self.file.into(), source: Box::new(e) })
    }
}

type Run = fn(&Config<'_>) -> Result<Findings, CliError>;

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Name of the folder under `experiments` and of the command's argument.
    pub name: &'static str,
    /// One line.
    pub question: &'static str,
    /// `config.toml` of the folder.
    pub config: &'static str,
    run: Run,
}

macro_rules! experiments {
    ($($module:ident: $question:literal,)*) => {
        &[$(Experiment {
            name: stringify!($module),
            question: $question,
            config: include_str!(concat!(
                "../../../../experiments/", stringify!($module), "/config.toml"
            )),
            run: $module::run,
        }),*]
    };
}

impl Experiment {
    /// Every experiment.
    pub const ALL: &[Self] = experiments! {
        restitution: "which restitution does each method and schedule show?",
        damping_sweep: "does a bouncing body follow the restitution of its damping, bounce after bounce?",
        bouncing_ball: "does constant restitution give the closed sum of bounce times?",
        penetration: "do sampled surfaces carry the closed-form load, for every quadrature rule?",
        sliding_block: "where does a sliding block stop, and how fast does it creep below the limit?",
        rolling_ball: "does a sliding ball end up rolling at 5/7 of its speed?",
        spinning_disk: "do sliding and spinning of a disk end together, at ε = 0.653?",
        friction_limit: "does friction by impulses hold below its limit, and slide by Coulomb's law above it?",
        rocking_block: "does a rocking block keep Housner's period and loss?",
        box_stack: "does a stack at rest stay where it is, but for the creep of friction?",
        balance: "do forces balance, and does energy never grow?",
        convergence: "does every method converge at its order through contact?",
    };

    /// The experiment of a name.
    ///
    /// # Errors
    /// With the names there are.
    pub fn named(name: &str) -> Result<&'static Self, CliError> {
        Self::ALL.iter().find(|e| e.name == name).ok_or_else(|| CliError::UnknownExperiment {
            found: name.into(),
            known: Self::ALL.iter().map(|e| e.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// Runs it with a configuration.
    ///
    /// # Errors
    /// With the file, where the configuration is wrong or a roll-out fails.
    pub fn run(&self, config: &Config<'_>) -> Result<Findings, CliError> {
        (self.run)(config).map_err(|error| match error {
            CliError::Toml { .. } => error,
            other => CliError::Config { path: config.file.into(), source: Box::new(other) },
        })
    }
}
