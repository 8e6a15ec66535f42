//! `osculate import`.

mod robot;

use crate::{CliError, Report};
use clap::Subcommand;
use osculate_fit::recording::contactnets::{self, ImportOptions};
use osculate_fit::recording::{FlightSummary, drops, elbow};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Convert files of others, recordings and robots, into those used here.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What
    #[command(subcommand)]
    pub from: From,
}

const EXAMPLES: &str = "\
Examples:
  osculate import contactnets contact-nets/data/tosses_processed data/cube_tosses
  osculate import contactnets contact-nets/data/tosses_processed data/cube_tosses --overwrite
  osculate import elbow elbow_tosses data/elbow_tosses
  osculate import drops dice_drops.csv data/square_drops
  osculate import urdf arm.urdf
  osculate import urdf arm.urdf --out arm.toml --search ~/robots
  osculate import mjcf humanoid.xml --out humanoid.toml";

/// What is converted.
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
    /// Tosses of two hinged boxes of the public elbow recordings (`elbow_<id>.csv`, docs/import.md)
    #[command(after_help = EXAMPLES)]
    Elbow {
        /// Folder of the files
        source: PathBuf,
        /// Folder to write: `metadata.json`, `split.json` and one CSV file a toss
        destination: PathBuf,
        /// Replace what is in the folder
        #[arg(long)]
        overwrite: bool,
    },
    /// Planar drops of a square, one table `traj,t,x,z,theta` (docs/import.md)
    #[command(after_help = EXAMPLES)]
    Drops {
        /// The table
        source: PathBuf,
        /// Folder to write: `metadata.json`, `split.json` and one CSV file a drop
        destination: PathBuf,
        /// Replace what is in the folder
        #[arg(long)]
        overwrite: bool,
    },
    /// A robot from a URDF file (docs/import.md): links, joints, mass, what is not supported; with --out, a scene
    #[command(after_help = EXAMPLES)]
    Urdf {
        /// File and folders
        #[command(flatten)]
        common: robot::Common,
        /// Let the root float; it is fixed to the world otherwise
        #[arg(long)]
        floating: bool,
    },
    /// A robot or several from an MJCF file (docs/import.md): links, joints, mass, what is not supported; with --out, a
    /// scene
    #[command(after_help = EXAMPLES)]
    Mjcf(robot::Common),
}

/// Runs it.
///
/// # Errors
/// Where a file cannot be read or written, or is refused.
pub fn run(args: &Args) -> Result<Report, CliError> {
    match &args.from {
        From::Contactnets { source, destination, overwrite } => {
            recordings(source, destination, *overwrite)
        }
        From::Elbow { source, destination, overwrite } => {
            let options = ImportOptions { overwrite: *overwrite };
            Ok(flights(&elbow::import(source, destination, options)?, destination))
        }
        From::Drops { source, destination, overwrite } => {
            let options = ImportOptions { overwrite: *overwrite };
            Ok(flights(&drops::import(source, destination, options)?, destination))
        }
        From::Urdf { common, floating } => robot::urdf(common, *floating),
        From::Mjcf(common) => robot::mjcf(common),
    }
}

fn flights(summary: &FlightSummary, destination: &Path) -> Report {
    let (split, left_out) = (&summary.split, &summary.left_out);
    let mut reasons: Vec<&str> = left_out.iter().map(|(_, why)| *why).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let mut text = format!(
        "{} recordings with {} frames written to {}\n{} in train, {} in valid, {} in test",
        summary.tosses,
        summary.frames,
        destination.display(),
        split.train.len(),
        split.valid.len(),
        split.test.len()
    );
    for why in reasons {
        let count = left_out.iter().filter(|(_, w)| *w == why).count();
        text += &format!("\n{count} in none: {why}");
    }
    let json = json!({
        "destination": destination, "tosses": summary.tosses, "frames": summary.frames,
        "split": split, "left_out": left_out,
    });
    Report { text, json, agrees: true }
}

fn recordings(source: &Path, destination: &Path, overwrite: bool) -> Result<Report, CliError> {
    let options = ImportOptions { overwrite };
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
