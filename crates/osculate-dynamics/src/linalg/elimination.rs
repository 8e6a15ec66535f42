//! Block elimination of a matrix of 6×6 blocks with the pattern of a graph: `A = L U` with
//!
//! ```text
//! L_kk = D_k,  L_ik = A_ik        U_kk = 1,  U_kj = D_k⁻¹ A_kj        A_ij ← A_ij − L_ik U_kj
//! ```
//!
//! Bodies are eliminated in the order of least degree; rows are exchanged within a body's block only. Stage matrices
//! are inertia over `Δt²` plus contact, so their diagonal blocks dominate; [`BlockFactors::factorise`] refuses a
//! pivot block that is singular, and the caller checks what a solve leaves over.
//!
//! The graph is that of the blocks that are not zero: of the bodies that may touch during a stage half do not, and what fills in grows faster than
//! the graph. A matrix with other blocks enlarges it by them, and the order is found anew.
//!
//! A general sparse LU (faer's, supernodal, pivoting over columns) took 48 to 60 ms for 512 bodies in a cubic
//! lattice, this one a quarter: the pattern of `AᵀA` that column pivoting has to allow for is much denser.

use super::blocks::{BLOCK, Block, BlockMatrix};
use super::dense;
use super::order::{Elimination, Ordering};
use osculate_math::Scalar;
use std::ops::Range;

/// Factors of one matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockFactors {
    elimination: Elimination,
    /// Dense factors of the pivot blocks, by place.
    pivots: Vec<(Block<f64>, [usize; BLOCK])>,
    /// `L` (later row, earlier column) and `U` (earlier row, later column) of each filled edge.
    lower: Vec<Block<f64>>,
    upper: Vec<Block<f64>>,
    /// Whether a filled edge has blocks that are not zero: bodies of an island that do not touch have none.
    active: Vec<bool>,
}

/// Memory for factorising and solving, used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockWork {
    ordering: Ordering,
    edges: Vec<(u32, u32)>,
    pub(crate) x: Vec<[f64; BLOCK]>,
}

impl BlockFactors {
    /// Forgets the graph, but not its memory.
    pub(crate) fn clear(&mut self) {
        self.elimination.clear();
    }

    /// Enlarges the graph by the blocks of a matrix that are not zero.
    fn cover(&mut self, matrix: &BlockMatrix<f64>, work: &mut BlockWork) {
        let (plan, nodes) = (&mut self.elimination, matrix.diagonal.len());
        if plan.nodes() == nodes && plan.covers(matrix.touched_edges()) {
            return;
        }
        let edges = &mut work.edges;
        edges.clear();
        edges.extend(matrix.touched_edges().chain(plan.edges().iter().copied()));
        edges.sort_unstable();
        edges.dedup();
        plan.find(nodes, edges, &mut work.ordering);
        // What stands in them is written before it is read.
        let edges = plan.joined.len();
        self.pivots.resize(nodes, ([0.0; 36], [0; BLOCK]));
        self.lower.resize(edges, [0.0; 36]);
        self.upper.resize(edges, [0.0; 36]);
        self.active.resize(edges, false);
    }

    fn load(&mut self, matrix: &BlockMatrix<f64>) {
        for (&k, block) in self.elimination.place.iter().zip(&matrix.diagonal) {
            self.pivots[k as usize].0 = *block;
        }
        self.active.fill(false);
        // Both lists of edges are ascending, and this graph has all that are touched.
        let mut own = self.elimination.edges().iter().zip(&self.elimination.filled);
        let blocks = matrix.edges.iter().zip(&matrix.off).zip(&matrix.touched);
        for ((edge, [ij, ji]), _) in blocks.filter(|(_, touched)| **touched) {
            let Some((_, &(e, forward))) = own.find(|(e, _)| *e == edge) else { return };
            let (upper, lower) = if forward { (ij, ji) } else { (ji, ij) };
            self.upper[e as usize] = *upper;
            self.lower[e as usize] = *lower;
            self.active[e as usize] = true;
        }
    }

    /// Factorises a matrix.
    ///
    /// # Errors
    /// The index of the unknown whose pivot is zero or not finite.
    pub(crate) fn factorise(
        &mut self,
        matrix: &BlockMatrix<f64>,
        work: &mut BlockWork,
    ) -> Result<(), usize> {
        self.cover(matrix, work);
        self.load(matrix);
        let mut first_target = 0;
        for k in 0..self.pivots.len() {
            let (pivot, exchanges) = &mut self.pivots[k];
            dense::factorise(pivot, exchanges).map_err(|i| self.elimination.unknown(k, i))?;
            let row = self.elimination.row(k);
            for e in row.clone().filter(|&e| self.active[e]) {
                solve_columns(pivot, exchanges, &mut self.upper[e]);
            }
            let count = row.len();
            self.eliminate(row, first_target);
            first_target += count * count.saturating_sub(1) / 2;
        }
        Ok(())
    }

    /// Subtracts the products of a row from what is left. They go to edges of later places, which stand behind the row.
    ///
    /// * `first_target`: of the row's, among the targets.
    fn eliminate(&mut self, row: Range<usize>, first_target: usize) {
        let plan = &self.elimination;
        let targets = &plan.targets[first_target..];
        let (lower, lower_rest) = self.lower.split_at_mut(row.end);
        let (upper, upper_rest) = self.upper.split_at_mut(row.end);
        let mut target = 0;
        for e in row.clone() {
            let later = row.end - e - 1;
            let list = &targets[target..target + later];
            target += later;
            if !self.active[e] {
                continue;
            }
            let i = plan.joined[e] as usize;
            subtract_product(&mut self.pivots[i].0, &lower[e], &upper[e]);
            for (f, &t) in (e + 1..row.end).zip(list) {
                if !self.active[f] {
                    continue;
                }
                let at = t as usize - row.end;
                if !self.active[t as usize] {
                    self.active[t as usize] = true;
                    (upper_rest[at], lower_rest[at]) = ([0.0; 36], [0.0; 36]);
                }
                subtract_product(&mut upper_rest[at], &lower[e], &upper[f]);
                subtract_product(&mut lower_rest[at], &lower[f], &upper[e]);
            }
        }
    }

    /// The active edges from a place to later ones, and the places they lead to.
    fn edges<'a>(&'a self, k: usize) -> impl Iterator<Item = (usize, usize)> + 'a {
        let plan = &self.elimination;
        let active = plan.row(k).filter(|&e| self.active[e]);
        active.map(|e| (e, plan.joined[e] as usize))
    }

    /// Solves `A x = b` in place.
    pub(crate) fn solve<T: Scalar>(&self, b: &mut [T]) {
        self.solve_in(b, &mut Vec::new());
    }

    /// As [`BlockFactors::solve`], in memory that is used again.
    pub(crate) fn solve_in<T: Scalar>(&self, b: &mut [T], x: &mut Vec<[T; BLOCK]>) {
        self.by_place(b, x);
        for k in 0..x.len() {
            let (pivot, exchanges) = &self.pivots[k];
            dense::solve(pivot, exchanges, &mut x[k]);
            let (done, rest) = x.split_at_mut(k + 1);
            for (e, i) in self.edges(k) {
                subtract_applied(&mut rest[i - (k + 1)], &self.lower[e], &done[k]);
            }
        }
        for k in (0..x.len()).rev() {
            let (own, later) = x.split_at_mut(k + 1);
            for (e, j) in self.edges(k) {
                subtract_applied(&mut own[k], &self.upper[e], &later[j - (k + 1)]);
            }
        }
        self.by_node(x, b);
    }

    /// Solves `Aᵀ x = b` in place.
    pub(crate) fn solve_transposed<T: Scalar>(&self, b: &mut [T]) {
        let mut x = Vec::new();
        self.by_place(b, &mut x);
        for k in 0..x.len() {
            let (done, rest) = x.split_at_mut(k + 1);
            for (e, j) in self.edges(k) {
                subtract_applied_transposed(&mut rest[j - (k + 1)], &self.upper[e], &done[k]);
            }
        }
        for k in (0..x.len()).rev() {
            let (own, later) = x.split_at_mut(k + 1);
            for (e, i) in self.edges(k) {
                subtract_applied_transposed(&mut own[k], &self.lower[e], &later[i - (k + 1)]);
            }
            let (pivot, exchanges) = &self.pivots[k];
            dense::solve_transposed(pivot, exchanges, &mut own[k]);
        }
        self.by_node(&x, b);
    }

    fn by_place<T: Scalar>(&self, b: &[T], x: &mut Vec<[T; BLOCK]>) {
        x.clear();
        x.resize(self.pivots.len(), [T::zero(); BLOCK]);
        for (&k, part) in self.elimination.place.iter().zip(b.chunks_exact(BLOCK)) {
            x[k as usize].copy_from_slice(part);
        }
    }

    fn by_node<T: Scalar>(&self, x: &[[T; BLOCK]], b: &mut [T]) {
        for (&k, part) in self.elimination.place.iter().zip(b.chunks_exact_mut(BLOCK)) {
            part.copy_from_slice(&x[k as usize]);
        }
    }
}

/// `B ← D⁻¹ B`, row-major, from the factors of `D`.
fn solve_columns(pivot: &Block<f64>, exchanges: &[usize; BLOCK], b: &mut Block<f64>) {
    for (k, &p) in exchanges.iter().enumerate() {
        if p != k {
            (0..BLOCK).for_each(|j| b.swap(BLOCK * k + j, BLOCK * p + j));
        }
    }
    let mut subtract = |to: usize, from: usize| {
        let factor = pivot[BLOCK * to + from];
        (0..BLOCK).for_each(|j| b[BLOCK * to + j] -= factor * b[BLOCK * from + j]);
    };
    for i in 1..BLOCK {
        (0..i).for_each(|k| subtract(i, k));
    }
    for i in (0..BLOCK).rev() {
        let mut line = [0.0; BLOCK];
        line.copy_from_slice(&b[BLOCK * i..BLOCK * (i + 1)]);
        for k in i + 1..BLOCK {
            (0..BLOCK).for_each(|j| line[j] -= pivot[BLOCK * i + k] * b[BLOCK * k + j]);
        }
        let inverse = pivot[BLOCK * i + i].recip();
        (0..BLOCK).for_each(|j| b[BLOCK * i + j] = line[j] * inverse);
    }
}

/// `C ← C − A B`, row-major.
#[inline]
fn subtract_product(c: &mut Block<f64>, a: &Block<f64>, b: &Block<f64>) {
    for i in 0..BLOCK {
        let mut line = [0.0; BLOCK];
        line.copy_from_slice(&c[BLOCK * i..BLOCK * (i + 1)]);
        for k in 0..BLOCK {
            let factor = a[BLOCK * i + k];
            for j in 0..BLOCK {
                line[j] -= factor * b[BLOCK * k + j];
            }
        }
        c[BLOCK * i..BLOCK * (i + 1)].copy_from_slice(&line);
    }
}

/// `y ← y − A x`.
fn subtract_applied<T: Scalar>(y: &mut [T; BLOCK], a: &Block<f64>, x: &[T; BLOCK]) {
    for (y, line) in y.iter_mut().zip(a.chunks_exact(BLOCK)) {
        for (x, a) in x.iter().zip(line) {
            *y -= *x * *a;
        }
    }
}

/// `y ← y − Aᵀ x`.
fn subtract_applied_transposed<T: Scalar>(y: &mut [T; BLOCK], a: &Block<f64>, x: &[T; BLOCK]) {
    for (x, line) in x.iter().zip(a.chunks_exact(BLOCK)) {
        for (y, a) in y.iter_mut().zip(line) {
            *y -= *x * *a;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use osculate_math::Jet;

    /// Bodies in a lattice of `s³`, each joined to its neighbours along the axes and to a few at random.
    fn lattice(s: u32) -> (usize, Vec<(u32, u32)>) {
        let at = |x: u32, y: u32, z: u32| x + s * (y + s * z);
        let mut edges = Vec::new();
        for z in 0..s {
            for y in 0..s {
                for x in 0..s {
                    let i = at(x, y, z);
                    edges.extend((x + 1 < s).then(|| (i, at(x + 1, y, z))));
                    edges.extend((y + 1 < s).then(|| (i, at(x, y + 1, z))));
                    edges.extend((z + 1 < s).then(|| (i, at(x, y, z + 1))));
                    edges.extend((i % 7 == 3 && i + 11 < s * s * s).then_some((i, i + 11)));
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        ((s * s * s) as usize, edges)
    }

    /// Not symmetric; diagonal blocks dominate, with zeros on the diagonal itself where `i` is even.
    fn matrix(nodes: usize, edges: &[(u32, u32)]) -> BlockMatrix<f64> {
        let mut m = BlockMatrix::default();
        m.reset(nodes, edges);
        let mut k = 0.0;
        let mut next = || {
            k += 1.0;
            (k * k * 0.7 + k).sin()
        };
        for block in &mut m.diagonal {
            for i in 0..BLOCK {
                for j in 0..BLOCK {
                    let anti = if i + j == BLOCK - 1 { 9.0 } else { 0.0 };
                    block[BLOCK * i + j] = anti + if i == j { 0.0 } else { next() };
                }
            }
        }
        m.off.iter_mut().flatten().flatten().for_each(|x| *x = next());
        m.touched.fill(true);
        m
    }

    fn dense(m: &BlockMatrix<f64>) -> DMatrix<f64> {
        let n = m.unknowns();
        let mut rows = vec![0.0; n * n];
        m.write_dense(&mut rows);
        DMatrix::from_row_slice(n, n, &rows)
    }

    #[test]
    fn solutions_agree_with_those_of_the_dense_matrix() {
        for s in [1, 2, 3] {
            let (nodes, edges) = lattice(s);
            let m = matrix(nodes, &edges);
            let mut factors = BlockFactors::default();
            factors.factorise(&m, &mut BlockWork::default()).unwrap();
            let a = dense(&m);
            let b = DVector::from_fn(BLOCK * nodes, |i, _| (i as f64).cos());
            let mut x = b.as_slice().to_vec();
            factors.solve(&mut x);
            assert!((&a * DVector::from_vec(x) - &b).norm() < 1e-10 * b.norm());
            let mut y = b.as_slice().to_vec();
            factors.solve_transposed(&mut y);
            assert!((a.transpose() * DVector::from_vec(y) - &b).norm() < 1e-10 * b.norm());
        }
    }

    /// `‖A x − b‖/‖b‖`.
    fn left_over(a: &DMatrix<f64>, factors: &BlockFactors) -> f64 {
        let b = DVector::from_fn(a.nrows(), |i, _| (i as f64).cos());
        let mut x = b.as_slice().to_vec();
        factors.solve(&mut x);
        (a * DVector::from_vec(x) - &b).norm() / b.norm()
    }

    #[test]
    fn graph_grows_with_the_blocks_that_are_not_zero() {
        let (nodes, edges) = lattice(3);
        let mut m = matrix(nodes, &edges);
        let full = m.off.clone();
        let (mut factors, mut work) = (BlockFactors::default(), BlockWork::default());
        // Every third edge, then others: those of the first stay and have zeros.
        for wanted in [0, 1, 2] {
            for (k, touched) in m.touched.iter_mut().enumerate() {
                *touched = k % 3 == wanted;
                m.off[k] = if *touched { full[k] } else { [[0.0; 36]; 2] };
            }
            factors.factorise(&m, &mut work).unwrap();
            assert!(left_over(&dense(&m), &factors) < 1e-10);
            let expected = (0..edges.len()).filter(|k| k % 3 <= wanted).count();
            assert_eq!(factors.elimination.edges().len(), expected);
        }
    }

    #[test]
    fn derivatives_of_the_right_side_go_through_a_solve() {
        let (nodes, edges) = lattice(2);
        let m = matrix(nodes, &edges);
        let mut factors = BlockFactors::default();
        factors.factorise(&m, &mut BlockWork::default()).unwrap();
        let value = |i: usize| (i as f64).cos();
        let slope = |i: usize| (3.0 * i as f64).sin();
        let jets = (0..BLOCK * nodes).map(|i| Jet::<1> { re: value(i), eps: [slope(i)] });
        let mut x: Vec<_> = jets.collect();
        factors.solve(&mut x);
        let mut by_slope: Vec<f64> = (0..BLOCK * nodes).map(slope).collect();
        factors.solve(&mut by_slope);
        assert!(x.iter().zip(&by_slope).all(|(x, y)| (x.eps[0] - y).abs() < 1e-14));
    }

    #[test]
    fn singular_pivot_block_names_its_unknown() {
        let (nodes, edges) = lattice(2);
        let mut m = matrix(nodes, &edges);
        m.off.fill([[0.0; 36]; 2]);
        m.diagonal[5][6..12].fill(0.0);
        let mut factors = BlockFactors::default();
        let unknown = factors.factorise(&m, &mut BlockWork::default()).unwrap_err();
        assert_eq!(unknown / BLOCK, 5);
    }
}
