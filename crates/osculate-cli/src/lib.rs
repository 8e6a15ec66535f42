//! The `osculate` command: one file a subcommand in [`commands`], and the cross-check against reference cases.
//!
//! `osculate --help` is the manual.

mod cli;
pub mod commands;
mod console;
pub mod crosscheck;
mod error;
pub mod files;
mod gripper;
mod interrupt;
mod names;
mod table;
pub mod validate;

pub use cli::{Cli, main};
pub use console::{Console, Report};
pub use error::CliError;
