//! How friction in an ellipsoid changes with its data.

use super::super::disk::Regime;
use super::super::plane::SINGULAR;
use super::{Ellipsoid, EllipsoidSolution};
use nalgebra::{SMatrix, SVector};
use osculate_math::Scalar;

/// A change of the data of an [`Ellipsoid`], and the adjoint of one.
pub type EllipsoidVariation<const N: usize, T = f64> = Ellipsoid<N, T>;

type Matrix<const N: usize, T> = SMatrix<T, N, N>;
type Vector<const N: usize, T> = SVector<T, N>;

fn scale<const N: usize, T: Scalar>(v: &Vector<N, T>, s: T) -> Vector<N, T> {
    v.map(|x| x * s)
}

fn times<const N: usize, T: Scalar>(a: &Vector<N, T>, b: &Vector<N, T>) -> Vector<N, T> {
    Vector::from_fn(|i, _| a[i] * b[i])
}

/// `A v`, from the upper triangle.
pub(super) fn apply<const N: usize, T: Scalar>(a: &Matrix<N, T>, v: &Vector<N, T>) -> Vector<N, T> {
    Vector::from_fn(|i, _| (0..N).fold(T::zero(), |sum, j| sum + a[(i.min(j), i.max(j))] * v[j]))
}

/// `D A D`.
pub(super) fn scaled_block<const N: usize, T: Scalar>(
    a: &Matrix<N, T>,
    mu: &Vector<N, T>,
) -> Matrix<N, T> {
    Matrix::from_fn(|i, j| mu[i] * a[(i.min(j), i.max(j))] * mu[j])
}

/// A factor `L D Lᵀ` of a positive semidefinite matrix; what its null space would solve is 0.
struct Factor<const N: usize, T> {
    lower: Matrix<N, T>,
    pivots: [T; N],
}

impl<const N: usize, T: Scalar> Factor<N, T> {
    fn new(a: &Matrix<N, T>) -> Self {
        let mut lower = Matrix::from_fn(|i, j| if i == j { T::one() } else { T::zero() });
        let mut pivots = [T::zero(); N];
        for j in 0..N {
            let mut pivot = a[(j, j)];
            for k in 0..j {
                pivot -= lower[(j, k)] * lower[(j, k)] * pivots[k];
            }
            if pivot.re() <= SINGULAR * a[(j, j)].re() {
                continue;
            }
            pivots[j] = pivot;
            for i in j + 1..N {
                let mut x = a[(i, j)];
                for k in 0..j {
                    x -= lower[(i, k)] * lower[(j, k)] * pivots[k];
                }
                lower[(i, j)] = x / pivot;
            }
        }
        Self { lower, pivots }
    }

    fn solve(&self, b: &Vector<N, T>) -> Vector<N, T> {
        let mut x = *b;
        for i in 0..N {
            for k in 0..i {
                let part = self.lower[(i, k)] * x[k];
                x[i] -= part;
            }
        }
        for i in 0..N {
            x[i] = if self.pivots[i] > 0.0 { x[i] / self.pivots[i] } else { T::zero() };
        }
        for i in (0..N).rev() {
            for k in i + 1..N {
                let part = self.lower[(k, i)] * x[k];
                x[i] -= part;
            }
        }
        x
    }
}

/// `A′ + αI`.
fn stiffness<const N: usize, T: Scalar>(problem: &Ellipsoid<N, T>, alpha: T) -> Matrix<N, T> {
    let mut k = scaled_block(&problem.block, &problem.coefficients);
    for i in 0..N {
        k[(i, i)] += alpha;
    }
    k
}

/// Unit vector along `D b`, zero where that is.
fn direction<const N: usize, T: Scalar>(problem: &Ellipsoid<N, T>) -> Vector<N, T> {
    let b = times(&problem.coefficients, &problem.drive);
    let square = b.dot(&b);
    if square > 0.0 { scale(&b, square.sqrt().recip()) } else { Vector::zeros() }
}

/// `(dy, dα)` with `K dy + y dα = g`, `yᵀdy = growth`.
fn bordered<const N: usize, T: Scalar>(
    factor: &Factor<N, T>,
    y: &Vector<N, T>,
    g: &Vector<N, T>,
    growth: T,
) -> (Vector<N, T>, T) {
    let z = factor.solve(y);
    let d_alpha = (z.dot(g) - growth) / z.dot(y);
    (factor.solve(&(g - scale(y, d_alpha))), d_alpha)
}

impl<const N: usize, T: Scalar> EllipsoidSolution<N, T> {
    /// Change `(df, dα)` of impulse and multiplier with the data of the problem.
    pub fn tangent(
        &self,
        problem: &Ellipsoid<N, T>,
        change: &EllipsoidVariation<N, T>,
    ) -> (Vector<N, T>, T) {
        let (mu, d_mu, y) = (&problem.coefficients, &change.coefficients, &self.scaled);
        // g = d(Db) − d(DAD) y
        let f = times(mu, y);
        let force = problem.drive - apply(&problem.block, &f);
        let pull = change.drive - apply(&change.block, &f) - apply(&problem.block, &times(d_mu, y));
        let g = times(d_mu, &force) + times(mu, &pull);
        let factor = Factor::new(&stiffness(problem, self.multiplier_or_zero()));
        let (dy, d_alpha) = match self.regime {
            Regime::Stick => (factor.solve(&g), T::zero()),
            Regime::Slide => bordered(&factor, y, &g, problem.load * change.load),
            Regime::Empty => (scale(&direction(problem), change.load), T::zero()),
        };
        (times(mu, &dy) + times(d_mu, y), d_alpha)
    }

    fn multiplier_or_zero(&self) -> T {
        if self.regime == Regime::Slide { self.multiplier } else { T::zero() }
    }

    /// Adjoint of [`EllipsoidSolution::tangent`]: derivatives of a number by the data, from its derivative `by_impulse` by the impulse.
    ///
    /// The block's part is symmetric: the change of the number is the sum of its entries times those of a symmetric change.
    pub fn pullback(
        &self,
        problem: &Ellipsoid<N, T>,
        by_impulse: &Vector<N, T>,
    ) -> EllipsoidVariation<N, T> {
        let (mu, y) = (&problem.coefficients, &self.scaled);
        let by_scaled = times(mu, by_impulse);
        let factor = Factor::new(&stiffness(problem, self.multiplier_or_zero()));
        let (w, load) = match self.regime {
            Regime::Stick => (factor.solve(&by_scaled), T::zero()),
            Regime::Slide => {
                let (p, z) = (factor.solve(&by_scaled), factor.solve(y));
                let share = p.dot(y) / z.dot(y);
                (p - scale(&z, share), problem.load * share)
            }
            Regime::Empty => (Vector::zeros(), direction(problem).dot(&by_scaled)),
        };
        let f = times(mu, y);
        let drive = times(mu, &w);
        let force = problem.drive - apply(&problem.block, &f);
        let pushed = apply(&problem.block, &drive);
        let coefficients = times(&w, &force) - times(y, &pushed) + times(y, by_impulse);
        let block = Matrix::from_fn(|i, j| -(drive[i] * f[j] + drive[j] * f[i]) * 0.5);
        Ellipsoid { block, drive, coefficients, load }
    }
}

impl<const N: usize> EllipsoidSolution<N> {
    /// The solution as a function of what the data of `problem` carry, as [`DiskSolution::lift`](super::super::DiskSolution::lift).
    pub fn lift<T: Scalar>(&self, problem: &Ellipsoid<N, T>) -> EllipsoidSolution<N, T> {
        let real = Ellipsoid {
            block: problem.block.map(|x| T::from(x.re())),
            drive: problem.drive.map(|x| T::from(x.re())),
            coefficients: problem.coefficients.map(|x| T::from(x.re())),
            load: T::from(problem.load.re()),
        };
        let block = scaled_block(&problem.block, &problem.coefficients);
        let drive = times(&problem.coefficients, &problem.drive);
        let slides = self.regime == Regime::Slide;
        let mut alpha = T::from(self.multiplier);
        let fixed = if slides { alpha } else { T::zero() };
        let factor = Factor::new(&stiffness(&real, fixed));
        let start = self.scaled.map(T::from);
        let mut y = start;
        if self.regime == Regime::Empty {
            y = scale(&direction(problem), problem.load);
        } else {
            for _ in 0..3 {
                let free = drive - apply(&block, &y);
                if slides {
                    let growth = (problem.load * problem.load - y.dot(&y)) * 0.5;
                    let (dy, d_alpha) =
                        bordered(&factor, &start, &(free - scale(&y, alpha)), growth);
                    y += dy;
                    alpha += d_alpha;
                } else {
                    y += factor.solve(&free);
                }
            }
        }
        EllipsoidSolution {
            impulse: times(&problem.coefficients, &y),
            scaled: y,
            multiplier: alpha,
            regime: self.regime,
            kept: self.kept,
            steps: self.steps,
        }
    }
}
