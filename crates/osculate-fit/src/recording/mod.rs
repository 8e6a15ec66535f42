//! Measured motion of one rigid body: files, folders of tosses, and how far a simulation is from them.
//!
//! * [`Recording`] and [`mod@csv`]: one trajectory, one CSV file.
//! * [`rollout`]: the state from which a simulation of a toss starts.
//! * [`dataset`]: a folder of tosses with its metadata and split.
//! * [`contactnets`]: import of the public ContactNets cube tosses.
//! * [`elbow`], [`drops`]: import of the public elbow tosses and planar square drops.
//! * [`metrics`]: loss, position and rotation error of a simulated toss.
//!
//! World frame: ground plane `z = 0`, `+z` up. Angular velocities of recordings are in the **body** frame.

pub mod contactnets;
pub mod csv;
pub mod dataset;
pub mod drops;
pub mod elbow;
mod error;
mod files;
mod flight;
pub mod metrics;
pub mod rollout;
mod times;

pub use csv::Recording;
pub use dataset::{Cube, Dataset, Metadata, Part, Split, Toss, TossRecord};
pub use error::RecordingError;
pub use flight::FlightSummary;
pub use metrics::{ChannelErrors, Evaluation, Statistics, TossErrors};
pub use rollout::RolloutStart;
