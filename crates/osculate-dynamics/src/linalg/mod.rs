//! Linear systems of a stage: matrices of 6×6 blocks, dense factors for few bodies, block elimination for many.

pub(crate) mod blocks;
pub(crate) mod dense;
pub(crate) mod elimination;
mod order;

pub(crate) use blocks::BlockMatrix;
pub(crate) use elimination::{BlockFactors, BlockWork};
