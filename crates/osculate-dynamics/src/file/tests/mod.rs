//! Tests of scene files.

mod examples;
mod ghosts;
mod meshes;
mod random;
mod refusals;
mod shapes;
