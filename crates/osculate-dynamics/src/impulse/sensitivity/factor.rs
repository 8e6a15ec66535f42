//! Solving the rows of a step, redundant ones included.
//!
//! ```text
//! S A S = P [L U] Q      complete pivoting, S = diag(A)^{-1/2};  rank: pivots above 10⁻¹¹ of the first
//! A⁻ = S Q [U₁₁⁻¹ L₁₁⁻¹ 0; 0 0] P S        Aᵀ⁻ = (A⁻)ᵀ to rounding
//! null vectors: the columns of Q [−U₁₁⁻¹U₁₂; 1]
//! ```
//!
//! Four corners of a box have twelve rows and six unknowns: six rows are pivots, the others follow from them. A redundant
//! row gets no change of its impulse. Where the impulses are not unique, the velocity may still be: a change of impulses
//! along a null vector then has no effect.

/// A pivot below this part of the first is none \[–\].
///
/// Entries are scaled to a unit diagonal and rounded to 1e-16; a rank deficiency shows as pivots of that size, and a footprint
/// of a thousandth of its distance from the centre of mass as 1e-6.
const SINGULAR: f64 = 1e-11;

/// Factors of a square matrix of any rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor {
    n: usize,
    rank: usize,
    /// `L` below the diagonal, `U` on and above it, row by row.
    lu: Vec<f64>,
    rows: Vec<usize>,
    columns: Vec<usize>,
    scale: Vec<f64>,
}

impl Factor {
    /// Factors of a matrix given row by row, with a positive diagonal.
    ///
    /// * `symmetric`: it is positive semidefinite, and its largest entry on the diagonal.
    pub(crate) fn new(mut a: Vec<f64>, n: usize, symmetric: bool) -> Self {
        let scale: Vec<f64> = (0..n)
            .map(|i| if a[i * n + i] > 0.0 { a[i * n + i].sqrt().recip() } else { 1.0 })
            .collect();
        for i in 0..n {
            for j in 0..n {
                a[i * n + j] *= scale[i] * scale[j];
            }
        }
        let (mut rows, mut columns): (Vec<_>, Vec<_>) = ((0..n).collect(), (0..n).collect());
        let (mut rank, mut first) = (0, 0.0);
        while rank < n {
            let k = rank;
            let (pivot, p, q) = largest(&a, n, k, symmetric);
            if k == 0 {
                first = pivot;
            }
            if pivot <= SINGULAR * first || pivot <= 0.0 {
                break;
            }
            swap_rows(&mut a, n, k, p);
            rows.swap(k, p);
            if q != k {
                for row in a.chunks_exact_mut(n) {
                    row.swap(k, q);
                }
                columns.swap(k, q);
            }
            eliminate(&mut a, n, k);
            rank += 1;
        }
        Self { n, rank, lu: a, rows, columns, scale }
    }

    /// How many rows are independent.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// `x ← A⁻ x`.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let (n, r, a) = (self.n, self.rank, &self.lu);
        let mut y: Vec<f64> = self.rows[..r].iter().map(|&i| x[i] * self.scale[i]).collect();
        for i in 0..r {
            for j in 0..i {
                y[i] -= a[i * n + j] * y[j];
            }
        }
        for i in (0..r).rev() {
            for j in i + 1..r {
                y[i] -= a[i * n + j] * y[j];
            }
            y[i] /= a[i * n + i];
        }
        x.fill(0.0);
        for (&j, y) in self.columns.iter().zip(&y) {
            x[j] = y * self.scale[j];
        }
    }

    /// `x ← (A⁻)ᵀ x`.
    pub(crate) fn solve_transposed(&self, x: &mut [f64]) {
        let (n, r, a) = (self.n, self.rank, &self.lu);
        let mut y: Vec<f64> = self.columns[..r].iter().map(|&j| x[j] * self.scale[j]).collect();
        for i in 0..r {
            y[i] /= a[i * n + i];
            for j in i + 1..r {
                y[j] -= a[i * n + j] * y[i];
            }
        }
        for i in (0..r).rev() {
            for j in 0..i {
                y[j] -= a[i * n + j] * y[i];
            }
        }
        x.fill(0.0);
        for (&i, y) in self.rows.iter().zip(&y) {
            x[i] = y * self.scale[i];
        }
    }

    /// A basis of the vectors that the matrix takes to zero.
    pub(crate) fn null_vectors(&self) -> Vec<Vec<f64>> {
        let (n, r, a) = (self.n, self.rank, &self.lu);
        let vector = |free: usize| {
            let mut y: Vec<f64> = (0..r).map(|i| -a[i * n + free]).collect();
            for i in (0..r).rev() {
                for j in i + 1..r {
                    y[i] -= a[i * n + j] * y[j];
                }
                y[i] /= a[i * n + i];
            }
            let mut x = vec![0.0; n];
            for (&j, y) in self.columns.iter().zip(&y) {
                x[j] = y * self.scale[j];
            }
            x[self.columns[free]] = self.scale[self.columns[free]];
            x
        };
        (r..n).map(vector).collect()
    }
}

/// The largest entry at or beyond `(k, k)`, the first of equal ones.
fn largest(a: &[f64], n: usize, k: usize, symmetric: bool) -> (f64, usize, usize) {
    let mut best = (0.0, k, k);
    if symmetric {
        for i in k..n {
            let x = a[i * n + i];
            if x > best.0 {
                best = (x, i, i);
            }
        }
        return best;
    }
    for i in k..n {
        for (j, x) in a[i * n..(i + 1) * n].iter().enumerate().skip(k) {
            if x.abs() > best.0 {
                best = (x.abs(), i, j);
            }
        }
    }
    best
}

fn swap_rows(a: &mut [f64], n: usize, i: usize, j: usize) {
    if i != j {
        let (low, high) = a.split_at_mut(j * n);
        low[i * n..(i + 1) * n].swap_with_slice(&mut high[..n]);
    }
}

fn eliminate(a: &mut [f64], n: usize, k: usize) {
    let (head, tail) = a.split_at_mut((k + 1) * n);
    let pivot = &head[k * n..];
    for row in tail.chunks_exact_mut(n) {
        let factor = row[k] / pivot[k];
        row[k] = factor;
        for (x, p) in row[k + 1..].iter_mut().zip(&pivot[k + 1..]) {
            *x -= factor * p;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(a: &[f64], n: usize, x: &[f64]) -> Vec<f64> {
        (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum()).collect()
    }

    /// `J D Jᵀ` of rank 3 with rows of very different size, and a part that is not symmetric in the same range.
    fn redundant(skew: f64) -> (Vec<f64>, usize) {
        let rows: [[f64; 3]; 5] = [
            [1.0, 0.2, 0.1],
            [0.3, -40.0, 8.0],
            [0.5, 0.1, 1.0],
            [1.0, 0.2, 0.1],
            [1.3, -39.8, 8.1],
        ];
        let side: [[f64; 3]; 5] = std::array::from_fn(|i| {
            std::array::from_fn(|k| rows[i][k] + skew * rows[i][(k + 1) % 3])
        });
        let mut a = vec![0.0; 25];
        for i in 0..5 {
            for j in 0..5 {
                a[i * 5 + j] = (0..3).map(|k| rows[i][k] * side[j][k]).sum();
            }
        }
        (a, 5)
    }

    #[test]
    fn solves_what_has_a_solution_and_finds_rank_and_null_vectors() {
        for skew in [0.0, 0.3] {
            let (a, n) = redundant(skew);
            let factor = Factor::new(a.clone(), n, false);
            assert_eq!(factor.rank(), 3);
            let b = apply(&a, n, &[0.3, -0.2, 0.5, 1.0, 0.1]);
            let mut x = b.clone();
            factor.solve(&mut x);
            for (found, wanted) in apply(&a, n, &x).iter().zip(&b) {
                assert!((found - wanted).abs() < 1e-11, "{found} {wanted}");
            }
            let null = factor.null_vectors();
            assert_eq!(null.len(), 2);
            for x in null {
                assert!(apply(&a, n, &x).iter().all(|y| y.abs() < 1e-11));
            }
        }
    }

    #[test]
    fn symmetric_matrix_has_its_pivots_on_the_diagonal() {
        let (a, n) = redundant(0.0);
        let (whole, diagonal) = (Factor::new(a.clone(), n, false), Factor::new(a, n, true));
        assert_eq!(whole.rank(), diagonal.rank());
        let unit = |i: usize| (0..n).map(|j| f64::from(i == j)).collect::<Vec<_>>();
        for i in 0..n {
            let (mut x, mut y) = (unit(i), unit(i));
            whole.solve(&mut x);
            diagonal.solve(&mut y);
            assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-9), "{x:?} {y:?}");
        }
    }

    #[test]
    fn transposed_solve_is_the_transpose_of_the_solve() {
        let (a, n) = redundant(0.3);
        let factor = Factor::new(a, n, false);
        let unit = |i: usize| (0..n).map(|j| f64::from(i == j)).collect::<Vec<_>>();
        for i in 0..n {
            let mut x = unit(i);
            factor.solve(&mut x);
            for (j, x) in x.iter().enumerate() {
                let mut y = unit(j);
                factor.solve_transposed(&mut y);
                assert!((x - y[i]).abs() < 1e-12, "{x} {}", y[i]);
            }
        }
    }
}
