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
    /// `L` below the diagonal, `U` on and above it, row by row; then `S`.
    numbers: Vec<f64>,
    /// Rows of `P`, then columns of `Q`.
    order: Vec<usize>,
}

/// Numbers that fit on the stack.
const STACK: usize = 32;

/// Calls `f` with `n` zeros.
pub(crate) fn with_buffer<R>(n: usize, f: impl FnOnce(&mut [f64]) -> R) -> R {
    if n <= STACK { f(&mut [0.0; STACK][..n]) } else { f(&mut vec![0.0; n]) }
}

impl Factor {
    /// Factors of a matrix given row by row, see [`Factor::factorise`].
    #[cfg(test)]
    pub(crate) fn new(numbers: Vec<f64>, n: usize, symmetric: bool) -> Self {
        let mut factor = Self { n, numbers, ..Self::default() };
        factor.factorise(symmetric);
        factor
    }

    /// Zeros of a matrix row by row, to be written and factorised.
    pub(crate) fn start(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.numbers.clear();
        self.numbers.reserve(n * n + n);
        self.numbers.resize(n * n, 0.0);
        &mut self.numbers
    }

    /// Factorises the matrix that was written, with a positive diagonal.
    ///
    /// * `symmetric`: it is positive semidefinite, so its largest entry is on the diagonal; only what is on and above it is read.
    pub(crate) fn factorise(&mut self, symmetric: bool) {
        let n = self.n;
        for i in 0..n {
            let x = self.numbers[i * n + i];
            self.numbers.push(if x > 0.0 { x.sqrt().recip() } else { 1.0 });
        }
        let (a, scale) = self.numbers.split_at_mut(n * n);
        for (row, own) in a.chunks_exact_mut(n.max(1)).zip(&*scale) {
            row.iter_mut().zip(&*scale).for_each(|(x, s)| *x *= own * s);
        }
        self.order.clear();
        self.order.extend((0..n).chain(0..n));
        let (rows, columns) = self.order.split_at_mut(n);
        self.rank = if symmetric {
            let rank = eliminate_symmetric(a, n, rows);
            columns.copy_from_slice(rows);
            rank
        } else {
            eliminate_whole(a, n, (rows, columns))
        };
    }

    /// `LU`, `S`, `P` and `Q`.
    fn parts(&self) -> (&[f64], &[f64], &[usize], &[usize]) {
        let (lu, scale) = self.numbers.split_at(self.n * self.n);
        let (rows, columns) = self.order.split_at(self.n);
        (lu, scale, rows, columns)
    }

    /// How many rows are independent.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// `x ← A⁻ x`.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let (n, r) = (self.n, self.rank);
        let (a, scale, rows, columns) = self.parts();
        with_buffer(r, |y| {
            y.iter_mut().zip(rows).for_each(|(y, &i)| *y = x[i] * scale[i]);
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
            y.iter().zip(columns).for_each(|(y, &j)| x[j] = y * scale[j]);
        });
    }

    /// `x ← (A⁻)ᵀ x`.
    pub(crate) fn solve_transposed(&self, x: &mut [f64]) {
        let (n, r) = (self.n, self.rank);
        let (a, scale, rows, columns) = self.parts();
        with_buffer(r, |y| {
            y.iter_mut().zip(columns).for_each(|(y, &j)| *y = x[j] * scale[j]);
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
            y.iter().zip(rows).for_each(|(y, &i)| x[i] = y * scale[i]);
        });
    }

    /// A basis of the vectors that the matrix takes to zero.
    pub(crate) fn null_vectors(&self) -> Vec<Vec<f64>> {
        let (n, r) = (self.n, self.rank);
        let (a, scale, _, columns) = self.parts();
        let vector = |free: usize| {
            let mut y: Vec<f64> = (0..r).map(|i| -a[i * n + free]).collect();
            for i in (0..r).rev() {
                for j in i + 1..r {
                    y[i] -= a[i * n + j] * y[j];
                }
                y[i] /= a[i * n + i];
            }
            let mut x = vec![0.0; n];
            for (&j, y) in columns.iter().zip(&y) {
                x[j] = y * scale[j];
            }
            x[columns[free]] = scale[columns[free]];
            x
        };
        (r..n).map(vector).collect()
    }
}

/// Complete pivoting; returns the rank.
fn eliminate_whole(
    a: &mut [f64],
    n: usize,
    (rows, columns): (&mut [usize], &mut [usize]),
) -> usize {
    let mut least = 0.0;
    for k in 0..n {
        let (pivot, p, q) = largest(a, n, k);
        if k == 0 {
            least = SINGULAR * pivot;
        }
        if pivot <= least {
            return k;
        }
        swap_rows(a, n, k, p);
        rows.swap(k, p);
        if q != k {
            a.chunks_exact_mut(n).for_each(|row| row.swap(k, q));
            columns.swap(k, q);
        }
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
    n
}

/// Pivots from the diagonal; what is below it is written, not read. Returns the rank.
fn eliminate_symmetric(a: &mut [f64], n: usize, rows: &mut [usize]) -> usize {
    let mut least = 0.0;
    for k in 0..n {
        let mut p = k;
        for i in k + 1..n {
            if a[i * n + i] > a[p * n + p] {
                p = i;
            }
        }
        let pivot = a[p * n + p];
        if k == 0 {
            least = SINGULAR * pivot;
        }
        if pivot <= least {
            return k;
        }
        swap_symmetric(a, n, k, p);
        rows.swap(k, p);
        let (head, tail) = a.split_at_mut((k + 1) * n);
        let own = &head[k * n..];
        for (i, row) in (k + 1..n).zip(tail.chunks_exact_mut(n)) {
            let factor = own[i] / pivot;
            row[k] = factor;
            // Bodies that do not touch each other leave zeros.
            if factor != 0.0 {
                for (x, u) in row[i..].iter_mut().zip(&own[i..]) {
                    *x -= factor * u;
                }
            }
        }
    }
    n
}

/// The largest entry at or beyond `(k, k)`, the first of equal ones.
fn largest(a: &[f64], n: usize, k: usize) -> (f64, usize, usize) {
    let mut best = (0.0, k, k);
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

/// Swaps rows and columns `k < p` of a symmetric matrix of which what is on and above the diagonal is stored, and of the factors
/// left of and above `k`.
fn swap_symmetric(a: &mut [f64], n: usize, k: usize, p: usize) {
    if k == p {
        return;
    }
    for j in 0..k {
        a.swap(k * n + j, p * n + j);
        a.swap(j * n + k, j * n + p);
    }
    a.swap(k * n + k, p * n + p);
    for j in k + 1..p {
        a.swap(k * n + j, j * n + p);
    }
    for j in p + 1..n {
        a.swap(k * n + j, p * n + j);
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
