//! Tests of scene files.

mod examples;
mod meshes;
mod random;
mod refusals;
mod shapes;
