//! Identification of contact parameters from measured motion.
//!
//! * [`recording`]: measured tosses on disk, the public cube recordings, and the errors a simulation makes on them.

pub mod recording;
