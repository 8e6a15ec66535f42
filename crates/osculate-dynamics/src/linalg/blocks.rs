//! A square matrix of 6×6 blocks whose pattern is that of a graph: one node a body, one edge a pair that may touch.

use osculate_math::Scalar;

/// Unknowns of a rigid body.
pub(crate) const BLOCK: usize = 6;

/// A 6×6 block, row-major.
pub(crate) type Block<T> = [T; BLOCK * BLOCK];

/// Blocks on the diagonal, and two for each edge.
#[derive(Clone, Debug)]
pub(crate) struct BlockMatrix<T> {
    /// Edges `(i, j)`, `i < j`, in ascending order.
    pub(crate) edges: Vec<(u32, u32)>,
    pub(crate) diagonal: Vec<Block<T>>,
    /// For each edge the block in row i and column j, and that in row j and column i.
    pub(crate) off: Vec<[Block<T>; 2]>,
    /// Whether an edge has been written to: the blocks of the others are zero.
    pub(crate) touched: Vec<bool>,
}

impl<T> Default for BlockMatrix<T> {
    fn default() -> Self {
        Self { edges: Vec::new(), diagonal: Vec::new(), off: Vec::new(), touched: Vec::new() }
    }
}

impl<T: Scalar> BlockMatrix<T> {
    /// Zeros, for `nodes` bodies; memory is used again.
    pub(crate) fn reset(&mut self, nodes: usize, edges: &[(u32, u32)]) {
        self.edges.clear();
        self.edges.extend_from_slice(edges);
        self.diagonal.resize(nodes, [T::zero(); 36]);
        self.off.resize(edges.len(), [[T::zero(); 36]; 2]);
        self.touched.clear();
        self.touched.resize(edges.len(), true);
        self.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.diagonal.fill([T::zero(); 36]);
        for (blocks, touched) in self.off.iter_mut().zip(&mut self.touched) {
            if std::mem::take(touched) {
                *blocks = [[T::zero(); 36]; 2];
            }
        }
    }

    /// The edges whose blocks are not zero.
    pub(crate) fn touched_edges(&self) -> impl Iterator<Item = (u32, u32)> {
        self.edges.iter().zip(&self.touched).filter_map(|(edge, touched)| touched.then_some(*edge))
    }

    /// The blocks of an edge, to write to.
    pub(crate) fn edge(&mut self, edge: usize) -> &mut [Block<T>; 2] {
        self.touched[edge] = true;
        &mut self.off[edge]
    }

    /// Zeros where row and column are both of some bodies.
    pub(crate) fn clear_among(&mut self, some: &[bool]) {
        for (block, some) in self.diagonal.iter_mut().zip(some) {
            if *some {
                *block = [T::zero(); 36];
            }
        }
        let blocks = self.off.iter_mut().zip(&mut self.touched);
        for (&(i, j), (blocks, touched)) in self.edges.iter().zip(blocks) {
            if some[i as usize] && some[j as usize] && std::mem::take(touched) {
                *blocks = [[T::zero(); 36]; 2];
            }
        }
    }

    /// How many unknowns there are.
    pub(crate) fn unknowns(&self) -> usize {
        BLOCK * self.diagonal.len()
    }

    /// Writes the matrix row-major.
    pub(crate) fn write_dense(&self, out: &mut [T]) {
        let n = self.unknowns();
        out.fill(T::zero());
        let mut put = |row: usize, column: usize, block: &Block<T>| {
            for (i, line) in block.chunks_exact(BLOCK).enumerate() {
                let at = (BLOCK * row + i) * n + BLOCK * column;
                out[at..at + BLOCK].copy_from_slice(line);
            }
        };
        for (i, block) in self.diagonal.iter().enumerate() {
            put(i, i, block);
        }
        for (&(i, j), [upper, lower]) in self.edges.iter().zip(&self.off) {
            put(i as usize, j as usize, upper);
            put(j as usize, i as usize, lower);
        }
    }

    /// Calls `f` with row, column and block of every block.
    pub(crate) fn for_each(&self, mut f: impl FnMut(usize, usize, &Block<T>)) {
        for (i, block) in self.diagonal.iter().enumerate() {
            f(i, i, block);
        }
        for (&(i, j), [upper, lower]) in self.edges.iter().zip(&self.off) {
            f(i as usize, j as usize, upper);
            f(j as usize, i as usize, lower);
        }
    }

    /// Adds to the diagonal of a body's block: of translation and of rotation.
    pub(crate) fn shift(&mut self, body: usize, [translation, rotation]: [T; 2]) {
        for k in 0..BLOCK {
            let by = if k < 3 { translation } else { rotation };
            self.diagonal[body][k * (BLOCK + 1)] += by;
        }
    }

    /// The largest magnitudes on the diagonal of a body's block: of translation and of rotation.
    pub(crate) fn stiffness(&self, body: usize) -> [f64; 2] {
        let at = |k: usize| self.diagonal[body][k * (BLOCK + 1)].re().abs();
        [at(0).max(at(1)).max(at(2)), at(3).max(at(4)).max(at(5))]
    }
}
