//! Factors of the stage matrices of a trajectory: one dense pair for a small scene, one for each island of a large one.

use crate::linalg::blocks::BLOCK;
use crate::linalg::{BlockFactors, BlockWork, dense};
use crate::newton::Matrix;
use osculate_math::Scalar;

/// The most bodies of an island whose matrix is factorised as a dense one.
const DENSE: usize = 4;

/// Factors of one island's matrix: dense ones of few bodies, those of blocks of many. Their memory is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct IslandMatrix {
    bodies: usize,
    lu: Vec<f64>,
    pivots: Vec<usize>,
    blocks: BlockFactors,
}

impl IslandMatrix {
    /// Makes room for the factors of a matrix of some bodies.
    pub(crate) fn prepare<'a>(&'a mut self, bodies: usize, work: &'a mut BlockWork) -> Matrix<'a> {
        self.bodies = bodies;
        if bodies > DENSE {
            self.blocks.clear();
            return Matrix::Blocks(&mut self.blocks, work);
        }
        let n = BLOCK * bodies;
        self.lu.resize(n * n, 0.0);
        self.pivots.resize(n, 0);
        Matrix::Dense(&mut self.lu, &mut self.pivots)
    }

    fn solve<T: Scalar>(&self, b: &mut [T]) {
        if self.bodies > DENSE {
            self.blocks.solve(b);
        } else {
            dense::solve(&self.lu, &self.pivots, b);
        }
    }

    fn solve_transposed<T: Scalar>(&self, b: &mut [T]) {
        if self.bodies > DENSE {
            self.blocks.solve_transposed(b);
        } else {
            dense::solve_transposed(&self.lu, &self.pivots, b);
        }
    }
}

/// An island: its dynamic bodies (counted among the scene's) and the factors of its matrix. Without bodies it is memory that is not in use.
#[derive(Clone, Debug, Default)]
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
    /// Of a large one; those of stages that have not been solved again are of an earlier roll-out.
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
            Self::Islands(islands) => by_island(islands, b, |matrix, part| matrix.solve(part)),
        }
    }

    /// Solves `Kᵀ x = b` in place.
    pub(crate) fn solve_transposed<T: Scalar>(&self, b: &mut [T]) {
        match self {
            Self::Whole(lu, pivots) => dense::solve_transposed(lu, pivots, b),
            Self::Islands(islands) => {
                by_island(islands, b, |matrix, part| matrix.solve_transposed(part));
            }
        }
    }
}

fn by_island<T: Scalar>(
    islands: &[IslandFactors],
    b: &mut [T],
    solve: impl Fn(&IslandMatrix, &mut [T]),
) {
    let mut part = Vec::new();
    for island in islands.iter().filter(|island| !island.nodes.is_empty()) {
        part.clear();
        let places = island.nodes.iter().map(|&node| BLOCK * node as usize);
        places.clone().for_each(|at| part.extend_from_slice(&b[at..at + BLOCK]));
        solve(&island.matrix, &mut part);
        for (at, x) in places.zip(part.chunks_exact(BLOCK)) {
            b[at..at + BLOCK].copy_from_slice(x);
        }
    }
}
