//! Tests of scene files.

mod examples;
mod random;
mod refusals;
mod shapes;
