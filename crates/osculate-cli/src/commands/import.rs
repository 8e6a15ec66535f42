//! `osculate import`.

use crate::{CliError, Report};
use clap::Subcommand;
use osculate_fit::recording::contactnets::{self, ImportOptions};
use serde_json::json;
use std::path::PathBuf;

/// Convert recordings of others into the layout used here.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Whose recordings
    #[command(subcommand)]
    pub from: From,
}

const EXAMPLES: &str = "\
Examples:
  osculate import contactnets contact-nets/data/tosses_processed data/cube_tosses
  osculate import contactnets contact-nets/data/tosses_processed data/cube_tosses --overwrite";

/// Whose recordings.
#[derive(Debug, Subcommand)]
pub enum From {
    /// Cube tosses of the public ContactNets repository (`data/tosses_processed/*.pt`)
    #[command(after_help = EXAMPLES)]
    Contactnets {
        /// Folder of the `<id>.pt` files
        source: PathBuf,
        /// Folder to write: `metadata.json`, `split.json` and one CSV file a toss
        destination: PathBuf,
        /// Replace what is in the folder
        #[arg(long)]
        overwrite: bool,
    },
}

/// Runs it.
///
/// # Errors
/// Where a recording cannot be read or the folder cannot be written.
pub fn run(args: &Args) -> Result<Report, CliError> {
    let From::Contactnets { source, destination, overwrite } = &args.from;
    let options = ImportOptions { overwrite: *overwrite };
    let summary = contactnets::import(source, destination, options)?;
    let (tosses, frames) = (summary.tosses, summary.frames);
    let duplicates = summary.duplicates.len();
    let folder = destination.display();
    Ok(Report {
        text: format!(
            "{tosses} tosses with {frames} frames written to {folder}\n\
             {duplicates} repeat an earlier one and are not part of the split"
        ),
        json: json!({
            "destination": destination,
            "tosses": tosses,
            "frames": frames,
            "duplicates": summary.duplicates,
        }),
        agrees: true,
    })
}
