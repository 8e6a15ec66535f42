//! Factors of the stage matrices of a trajectory: one dense pair for a small scene, one for each island of a large one.

use crate::linalg::blocks::BLOCK;
use crate::linalg::{BlockFactors, dense};
use osculate_math::Scalar;

/// Factors of one island's matrix.
#[derive(Clone, Debug)]
pub(crate) enum IslandMatrix {
    /// Few bodies.
    Dense(Vec<f64>, Vec<usize>),
    /// Many.
    Blocks(BlockFactors),
}

/// An island: its dynamic bodies (counted among the scene's) and the factors of its matrix.
#[derive(Clone, Debug)]
pub(crate) struct IslandFactors {
    pub(crate) nodes: Vec<u32>,
    pub(crate) matrix: IslandMatrix,
}

/// Factors of every stage of a trajectory.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactorStore {
    /// Of a small scene: `unknowns²` numbers and `unknowns` exchanges a stage.
    pub(crate) unknowns: usize,
    pub(crate) lu: Vec<f64>,
    pub(crate) pivots: Vec<usize>,
    /// Of a large one.
    pub(crate) islands: Vec<Vec<IslandFactors>>,
}

/// Factors of one stage.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StageFactors<'a> {
    /// Of a small scene.
    Whole(&'a [f64], &'a [usize]),
    /// Of the islands of a large one.
    Islands(&'a [IslandFactors]),
}

impl FactorStore {
    /// The factors of stage `at`, counted from the first that is held.
    pub(crate) fn stage(&self, at: usize) -> StageFactors<'_> {
        match self.islands.get(at) {
            Some(islands) => StageFactors::Islands(islands),
            None => {
                let n = self.unknowns;
                let lu = &self.lu[at * n * n..(at + 1) * n * n];
                StageFactors::Whole(lu, &self.pivots[at * n..(at + 1) * n])
            }
        }
    }
}

impl StageFactors<'_> {
    /// Solves `K x = b` in place.
    pub(crate) fn solve<T: Scalar>(&self, b: &mut [T]) {
        match self {
            Self::Whole(lu, pivots) => dense::solve(lu, pivots, b),
            Self::Islands(islands) => by_island(islands, b, |matrix, part| match matrix {
                IslandMatrix::Dense(lu, pivots) => dense::solve(lu, pivots, part),
                IslandMatrix::Blocks(factors) => factors.solve(part),
            }),
        }
    }

    /// Solves `Kᵀ x = b` in place.
    pub(crate) fn solve_transposed<T: Scalar>(&self, b: &mut [T]) {
        match self {
            Self::Whole(lu, pivots) => dense::solve_transposed(lu, pivots, b),
            Self::Islands(islands) => by_island(islands, b, |matrix, part| match matrix {
                IslandMatrix::Dense(lu, pivots) => dense::solve_transposed(lu, pivots, part),
                IslandMatrix::Blocks(factors) => factors.solve_transposed(part),
            }),
        }
    }
}

fn by_island<T: Scalar>(
    islands: &[IslandFactors],
    b: &mut [T],
    solve: impl Fn(&IslandMatrix, &mut [T]),
) {
    let mut part = Vec::new();
    for island in islands {
        part.clear();
        let places = island.nodes.iter().map(|&node| BLOCK * node as usize);
        places.clone().for_each(|at| part.extend_from_slice(&b[at..at + BLOCK]));
        solve(&island.matrix, &mut part);
        for (at, x) in places.zip(part.chunks_exact(BLOCK)) {
            b[at..at + BLOCK].copy_from_slice(x);
        }
    }
}
