//! The `osculate` command.

pub mod crosscheck;
mod error;
pub mod files;

pub use error::CliError;
