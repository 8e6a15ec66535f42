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

/// Entries that are changed at once: a row is as many of them as it takes, with zeros at the end.
const LANES: usize = 4;

/// Factors of a square matrix of any rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor {
    n: usize,
    /// Numbers in a row of the matrix.
    stride: usize,
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
    pub(crate) fn new(numbers: &[f64], n: usize, symmetric: bool) -> Self {
        let mut factor = Self::default();
        for (row, own) in factor.start(n).zip(numbers.chunks_exact(n)) {
            row.copy_from_slice(own);
        }
        factor.factorise(symmetric);
        factor
    }

    /// Rows of a matrix of zeros, to be written and factorised.
    pub(crate) fn start(&mut self, n: usize) -> impl Iterator<Item = &mut [f64]> {
        (self.n, self.stride) = (n, n.next_multiple_of(LANES));
        self.numbers.clear();
        self.numbers.reserve(n * self.stride + n);
        self.numbers.resize(n * self.stride, 0.0);
        self.numbers.chunks_exact_mut(self.stride.max(1)).map(move |row| &mut row[..n])
    }

    /// Factorises the matrix that was written, with a positive diagonal.
    ///
    /// * `symmetric`: it is positive semidefinite, so its largest entry is on the diagonal; only what is on and above it is read.
    pub(crate) fn factorise(&mut self, symmetric: bool) {
        let (n, stride) = (self.n, self.stride);
        for i in 0..n {
            let x = self.numbers[i * stride + i];
            self.numbers.push(if x > 0.0 { x.sqrt().recip() } else { 1.0 });
        }
        let (a, scale) = self.numbers.split_at_mut(n * stride);
        for (row, own) in a.chunks_exact_mut(stride.max(1)).zip(&*scale) {
            row.iter_mut().zip(&*scale).for_each(|(x, s)| *x *= own * s);
        }
        self.order.clear();
        self.order.extend((0..n).chain(0..n));
        let (rows, columns) = self.order.split_at_mut(n);
        self.rank = with_buffer(stride, |pivot| {
            if symmetric {
                let rank = eliminate_symmetric((a, stride), rows, pivot);
                columns.copy_from_slice(rows);
                rank
            } else {
                with_buffer(n, |sizes| {
                    eliminate_whole((a, stride), (rows, columns), (pivot, sizes))
                })
            }
        });
    }

    /// `LU`, `S`, `P` and `Q`.
    fn parts(&self) -> (&[f64], &[f64], &[usize], &[usize]) {
        let (lu, scale) = self.numbers.split_at(self.n * self.stride);
        let (rows, columns) = self.order.split_at(self.n);
        (lu, scale, rows, columns)
    }

    /// How many rows are independent.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// `x ← A⁻ x`.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let (n, r) = (self.stride, self.rank);
        let (a, scale, rows, columns) = self.parts();
        with_buffer(r, |y| {
            y.iter_mut().zip(rows).for_each(|(y, &i)| *y = x[i] * scale[i]);
            for i in 0..r {
                for j in 0..i {
                    y[i] -= a[i * n + j] * y[j];
                }
            }
            self.solve_upper(y);
            x.fill(0.0);
            y.iter().zip(columns).for_each(|(y, &j)| x[j] = y * scale[j]);
        });
    }

    /// `y ← U₁₁⁻¹ y`.
    fn solve_upper(&self, y: &mut [f64]) {
        let (a, n) = (&self.numbers, self.stride);
        for i in (0..y.len()).rev() {
            for j in i + 1..y.len() {
                y[i] -= a[i * n + j] * y[j];
            }
            y[i] /= a[i * n + i];
        }
    }

    /// `x ← (A⁻)ᵀ x`.
    pub(crate) fn solve_transposed(&self, x: &mut [f64]) {
        let (n, r) = (self.stride, self.rank);
        let (a, scale, rows, columns) = self.parts();
        with_buffer(r, |y| {
            y.iter_mut().zip(columns).for_each(|(y, &j)| *y = x[j] * scale[j]);
            for (i, row) in a.chunks_exact(n.max(1)).enumerate().take(r) {
                let own = y[i] / row[i];
                y[i] = own;
                y[i + 1..].iter_mut().zip(&row[i + 1..]).for_each(|(y, a)| *y -= a * own);
            }
            for (i, row) in a.chunks_exact(n.max(1)).enumerate().take(r).rev() {
                let (head, tail) = y.split_at_mut(i);
                head.iter_mut().zip(row).for_each(|(y, a)| *y -= a * tail[0]);
            }
            x.fill(0.0);
            y.iter().zip(rows).for_each(|(y, &i)| x[i] = y * scale[i]);
        });
    }

    /// A basis of the vectors that the matrix takes to zero, one after the other.
    pub(crate) fn null_vectors(&self, mut see: impl FnMut(&[f64])) {
        let (n, r) = (self.stride, self.rank);
        let (a, scale, _, columns) = self.parts();
        for free in r..self.n {
            with_buffer(self.n, |x| {
                with_buffer(r, |y| {
                    y.iter_mut().enumerate().for_each(|(i, y)| *y = -a[i * n + free]);
                    self.solve_upper(y);
                    columns.iter().zip(&*y).for_each(|(&j, y)| x[j] = y * scale[j]);
                });
                x[columns[free]] = scale[columns[free]];
                see(x);
            });
        }
    }
}

/// `x ← x − f p`.
#[inline]
fn subtract(row: &mut [f64], factor: f64, pivot: &[f64]) {
    let (own, other) = (row.as_chunks_mut::<LANES>().0, pivot.as_chunks::<LANES>().0);
    for (x, p) in own.iter_mut().zip(other) {
        x.iter_mut().zip(p).for_each(|(x, p)| *x -= factor * p);
    }
}

/// The same; returns the largest size of an entry of which `counts` is 1, not 0, in the first lanes, or that is beyond them.
#[inline]
fn subtract_and_see(row: &mut [f64], factor: f64, pivot: &[f64], counts: &[f64; LANES]) -> f64 {
    let mut largest = [0.0; LANES];
    let mut one = |x: &mut [f64; LANES], p: &[f64; LANES], counts: &[f64; LANES]| {
        for j in 0..LANES {
            x[j] -= factor * p[j];
            let size = (x[j] * counts[j]).abs();
            largest[j] = if size > largest[j] { size } else { largest[j] };
        }
    };
    let (own, other) = (row.as_chunks_mut::<LANES>().0, pivot.as_chunks::<LANES>().0);
    let mut each = own.iter_mut().zip(other);
    if let Some((x, p)) = each.next() {
        one(x, p, counts);
    }
    each.for_each(|(x, p)| one(x, p, &[1.0; LANES]));
    largest.into_iter().fold(0.0, |m: f64, x| if x > m { x } else { m })
}

/// Takes the row `k` as that of a pivot, without what is not beyond it; returns the pivot.
fn take_pivot(row: &[f64], k: usize, pivot: &mut [f64]) -> f64 {
    pivot.copy_from_slice(row);
    pivot[..=k].fill(0.0);
    row[k]
}

/// Complete pivoting; returns the rank.
///
/// * `own`, `sizes`: memory of a row, and of a number a row.
fn eliminate_whole(
    (a, stride): (&mut [f64], usize),
    (rows, columns): (&mut [usize], &mut [usize]),
    (own, sizes): (&mut [f64], &mut [f64]),
) -> usize {
    let n = rows.len();
    own.fill(0.0);
    for (size, row) in sizes.iter_mut().zip(a.chunks_exact_mut(stride.max(1))) {
        *size = subtract_and_see(row, 0.0, own, &[1.0; LANES]);
    }
    let mut least = 0.0;
    for k in 0..n {
        let p = (k..n).fold(k, |best, i| if sizes[i] > sizes[best] { i } else { best });
        let size = sizes[p];
        if k == 0 {
            least = SINGULAR * size;
        }
        if size <= least {
            return k;
        }
        let row = &a[p * stride..p * stride + n];
        let q = (k..n).find(|&j| row[j].abs() >= size).unwrap_or(k);
        swap_rows(a, stride, k, p);
        rows.swap(k, p);
        sizes.swap(k, p);
        if q != k {
            a.chunks_exact_mut(stride).for_each(|row| row.swap(k, q));
            columns.swap(k, q);
        }
        let (head, tail) = a.split_at_mut((k + 1) * stride);
        let pivot = take_pivot(&head[k * stride..], k, own);
        let first = k / LANES * LANES;
        let counts = std::array::from_fn(|j| if first + j > k { 1.0 } else { 0.0 });
        for (row, size) in tail.chunks_exact_mut(stride).zip(&mut sizes[k + 1..]) {
            let factor = row[k] / pivot;
            *size = subtract_and_see(&mut row[first..], factor, &own[first..], &counts);
            row[k] = factor;
        }
    }
    n
}

/// Pivots from the diagonal; what is below it is written, not read. Returns the rank.
///
/// * `own`: memory of a row.
fn eliminate_symmetric(
    (a, stride): (&mut [f64], usize),
    rows: &mut [usize],
    own: &mut [f64],
) -> usize {
    let n = rows.len();
    let mut least = 0.0;
    for k in 0..n {
        let mut p = k;
        for i in k + 1..n {
            if a[i * stride + i] > a[p * stride + p] {
                p = i;
            }
        }
        let pivot = a[p * stride + p];
        if k == 0 {
            least = SINGULAR * pivot;
        }
        if pivot <= least {
            return k;
        }
        swap_symmetric((a, stride), n, k, p);
        rows.swap(k, p);
        let (head, tail) = a.split_at_mut((k + 1) * stride);
        take_pivot(&head[k * stride..], k, own);
        for (i, row) in (k + 1..n).zip(tail.chunks_exact_mut(stride)) {
            let factor = own[i] / pivot;
            // Bodies that do not touch each other leave zeros.
            if factor != 0.0 {
                let first = i / LANES * LANES;
                subtract(&mut row[first..], factor, &own[first..]);
            }
            row[k] = factor;
        }
    }
    n
}

fn swap_rows(a: &mut [f64], stride: usize, i: usize, j: usize) {
    if i != j {
        let (low, high) = a.split_at_mut(j * stride);
        low[i * stride..(i + 1) * stride].swap_with_slice(&mut high[..stride]);
    }
}

/// Swaps rows and columns `k < p` of a symmetric matrix of which what is on and above the diagonal is stored, and of the factors
/// left of and above `k`.
fn swap_symmetric((a, stride): (&mut [f64], usize), n: usize, k: usize, p: usize) {
    if k == p {
        return;
    }
    for j in 0..k {
        a.swap(k * stride + j, p * stride + j);
        a.swap(j * stride + k, j * stride + p);
    }
    a.swap(k * stride + k, p * stride + p);
    for j in k + 1..p {
        a.swap(k * stride + j, j * stride + p);
    }
    for j in p + 1..n {
        a.swap(k * stride + j, p * stride + j);
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
            let factor = Factor::new(&a, n, false);
            assert_eq!(factor.rank(), 3);
            let b = apply(&a, n, &[0.3, -0.2, 0.5, 1.0, 0.1]);
            let mut x = b.clone();
            factor.solve(&mut x);
            for (found, wanted) in apply(&a, n, &x).iter().zip(&b) {
                assert!((found - wanted).abs() < 1e-11, "{found} {wanted}");
            }
            let mut found = 0;
            factor.null_vectors(|x| {
                found += 1;
                assert!(x.iter().any(|x| x.abs() > 1e-3));
                assert!(apply(&a, n, x).iter().all(|y| y.abs() < 1e-11));
            });
            assert_eq!(found, 2);
        }
    }

    #[test]
    fn symmetric_matrix_has_its_pivots_on_the_diagonal() {
        let (a, n) = redundant(0.0);
        let (whole, diagonal) = (Factor::new(&a, n, false), Factor::new(&a, n, true));
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
        let factor = Factor::new(&a, n, false);
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
