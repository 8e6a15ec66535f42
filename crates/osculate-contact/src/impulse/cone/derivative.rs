//! How the impulse of a contact changes with its block, velocity and friction.

use super::super::ImpulseError;
use super::super::plane::{self, direction, quarter, scale};
use super::{Cone, ConeRegime, ConeSolution, parts};
use nalgebra::{Matrix3, Vector2, Vector3};
use osculate_math::Scalar;

/// A change of the data of a [`Cone`], and the adjoint of one.
pub type ConeVariation<T = f64> = Cone<T>;

/// `W v`, from the upper triangle.
pub(super) fn apply<T: Scalar>(w: &Matrix3<T>, v: &Vector3<T>) -> Vector3<T> {
    let (normal, coupling, tangential) = parts(w);
    let v_t = v.yz();
    let t = plane::apply(&tangential, &v_t) + scale(&coupling, v.x);
    Vector3::new(normal * v.x + coupling.dot(&v_t), t.x, t.y)
}

/// `W⁻¹ v`, eliminating the normal row first.
fn inverse<T: Scalar>(w: &Matrix3<T>, v: &Vector3<T>) -> Vector3<T> {
    let (normal, coupling, tangential) = parts(w);
    let factor = scale(&coupling, normal.recip());
    let schur = tangential - factor * coupling.transpose();
    let t = plane::inverse(&schur, &(v.yz() - scale(&factor, v.x)));
    Vector3::new((v.x - coupling.dot(&t)) / normal, t.x, t.y)
}

/// The 2×2 system of a sliding contact.
struct Sliding<T> {
    along: Vector2<T>,
    across: Vector2<T>,
    matrix: [[T; 2]; 2],
    /// `w·x̂` and `t·W_T x̂`.
    by_growth: [T; 2],
    determinant: T,
}

impl<T: Scalar> Sliding<T> {
    fn new(cone: &Cone<T>, solution: &ConeSolution<T>) -> Result<Self, ImpulseError> {
        let (normal, coupling, tangential) = parts(&cone.block);
        let along = direction(&solution.impulse.yz());
        let across = quarter(&along);
        let pulled = plane::apply(&tangential, &along);
        let by_growth = [coupling.dot(&along), across.dot(&pulled)];
        let stiff = across.dot(&plane::apply(&tangential, &across)) + solution.multiplier;
        let mixed = coupling.dot(&across);
        let matrix = [
            [normal + cone.friction * by_growth[0], mixed],
            [mixed + cone.friction * by_growth[1], stiff],
        ];
        let determinant = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0];
        let size =
            (matrix[0][0] * matrix[1][1]).re().abs() + (matrix[0][1] * matrix[1][0]).re().abs();
        if determinant.re().abs() > 4.0 * f64::EPSILON * size {
            return Ok(Self { along, across, matrix, by_growth, determinant });
        }
        let (quantity, allowed) = ("determinant of a sliding contact", "not 0: two solutions meet");
        Err(ImpulseError::Input { quantity, found: determinant.re(), allowed })
    }

    fn solve(&self, a: T, b: T) -> [T; 2] {
        let m = &self.matrix;
        [
            (m[1][1] * a - m[0][1] * b) / self.determinant,
            (m[0][0] * b - m[1][0] * a) / self.determinant,
        ]
    }

    fn solve_transposed(&self, a: T, b: T) -> [T; 2] {
        let m = &self.matrix;
        [
            (m[1][1] * a - m[1][0] * b) / self.determinant,
            (m[0][0] * b - m[0][1] * a) / self.determinant,
        ]
    }

    /// `dr` where `W dr + (0, α dr_T + r_T dα) = −g` and `x̂·dr_T = μ dr_N + growth`.
    fn step(&self, friction: T, g: &Vector3<T>, growth: T) -> Vector3<T> {
        let [normal, turn] = self.solve(
            -g.x - self.by_growth[0] * growth,
            -self.across.dot(&g.yz()) - self.by_growth[1] * growth,
        );
        let t = scale(&self.along, friction * normal + growth) + scale(&self.across, turn);
        Vector3::new(normal, t.x, t.y)
    }

    /// `dα` that goes with it.
    fn multiplier(
        &self,
        (cone, solution): (&Cone<T>, &ConeSolution<T>),
        g: &Vector3<T>,
        dr: &Vector3<T>,
    ) -> T {
        let force = (apply(&cone.block, dr) + g).yz() + scale(&dr.yz(), solution.multiplier);
        -self.along.dot(&force) / self.along.dot(&solution.impulse.yz())
    }
}

/// Direction of the slip of a frictionless contact: friction, if there were any, would act against it.
fn slip_direction<T: Scalar>(cone: &Cone<T>, impulse: &Vector3<T>) -> Vector2<T> {
    direction(&(apply(&cone.block, impulse) + cone.velocity).yz())
}

impl<T: Scalar> ConeSolution<T> {
    /// Change `(dr, dα)` of impulse and multiplier with the data of the problem.
    ///
    /// # Errors
    /// [`ImpulseError::Input`] where two sliding solutions meet and there is no derivative.
    pub fn tangent(
        &self,
        cone: &Cone<T>,
        change: &ConeVariation<T>,
    ) -> Result<(Vector3<T>, T), ImpulseError> {
        let g = change.velocity + apply(&change.block, &self.impulse);
        match self.regime {
            ConeRegime::Open => Ok((Vector3::zeros(), T::zero())),
            ConeRegime::Stick => Ok((-inverse(&cone.block, &g), T::zero())),
            ConeRegime::Slide => {
                let system = Sliding::new(cone, self)?;
                let growth = self.impulse.x * change.friction;
                let dr = system.step(cone.friction, &g, growth);
                Ok((dr, system.multiplier((cone, self), &g, &dr)))
            }
            ConeRegime::Frictionless => {
                let (normal, coupling, _) = parts(&cone.block);
                let grown = self.impulse.x * change.friction;
                let t = -scale(&slip_direction(cone, &self.impulse), grown);
                let load = -(g.x + coupling.dot(&t)) / normal;
                Ok((Vector3::new(load, t.x, t.y), T::zero()))
            }
        }
    }

    /// Adjoint of [`ConeSolution::tangent`]: derivatives of a number by the data, from its derivative `by_impulse` by the impulse.
    ///
    /// The block's part is symmetric: the change of the number is the sum of its entries times those of a symmetric change.
    ///
    /// # Errors
    /// As [`ConeSolution::tangent`].
    pub fn pullback(
        &self,
        cone: &Cone<T>,
        by_impulse: &Vector3<T>,
    ) -> Result<ConeVariation<T>, ImpulseError> {
        let r = &self.impulse;
        let (velocity, friction) = match self.regime {
            ConeRegime::Open => (Vector3::zeros(), T::zero()),
            ConeRegime::Stick => (-inverse(&cone.block, by_impulse), T::zero()),
            ConeRegime::Slide => {
                let s = Sliding::new(cone, self)?;
                let by_growth = s.along.dot(&by_impulse.yz());
                let [normal, turn] = s.solve_transposed(
                    by_impulse.x + cone.friction * by_growth,
                    s.across.dot(&by_impulse.yz()),
                );
                let t = -scale(&s.across, turn);
                let growth = by_growth - normal * s.by_growth[0] - turn * s.by_growth[1];
                (Vector3::new(-normal, t.x, t.y), growth * r.x)
            }
            ConeRegime::Frictionless => {
                let (normal, coupling, _) = parts(&cone.block);
                let load = by_impulse.x / normal;
                let by_friction = by_impulse.yz() - scale(&coupling, load);
                let against = -slip_direction(cone, r).dot(&by_friction);
                (Vector3::new(-load, T::zero(), T::zero()), against * r.x)
            }
        };
        let block = Matrix3::from_fn(|i, j| (velocity[i] * r[j] + velocity[j] * r[i]) * 0.5);
        Ok(Cone { block, velocity, friction })
    }
}

impl ConeSolution {
    /// The solution as a function of what the data of `cone` carry, as [`DiskSolution::lift`](super::super::DiskSolution::lift).
    ///
    /// # Errors
    /// As [`ConeSolution::tangent`].
    pub fn lift<T: Scalar>(&self, cone: &Cone<T>) -> Result<ConeSolution<T>, ImpulseError> {
        let real = Cone {
            block: cone.block.map(|x| x.re()),
            velocity: cone.velocity.map(|x| x.re()),
            friction: cone.friction.re(),
        };
        let mut lifted = ConeSolution {
            impulse: self.impulse.map(T::from),
            multiplier: T::from(self.multiplier),
            regime: self.regime,
            steps: self.steps,
        };
        if self.regime == ConeRegime::Open {
            return Ok(lifted);
        }
        let constant = Cone {
            block: real.block.map(T::from),
            velocity: real.velocity.map(T::from),
            friction: T::from(real.friction),
        };
        let fixed = lifted;
        let sliding = match self.regime {
            ConeRegime::Slide => Some(Sliding::new(&constant, &fixed)?),
            _ => None,
        };
        // Each chord step makes one more order of derivatives exact.
        for _ in 0..3 {
            let r = lifted.impulse;
            let mut force = apply(&cone.block, &r) + cone.velocity;
            if let Some(system) = &sliding {
                let drag = scale(&r.yz(), lifted.multiplier);
                force += Vector3::new(T::zero(), drag.x, drag.y);
                let radius = cone.friction * r.x;
                let growth = (radius * radius - r.yz().dot(&r.yz())) * 0.5
                    / (constant.friction * fixed.impulse.x);
                let dr = system.step(constant.friction, &force, growth);
                lifted.multiplier += system.multiplier((&constant, &fixed), &force, &dr);
                lifted.impulse += dr;
            } else if self.regime == ConeRegime::Stick {
                lifted.impulse -= inverse(&constant.block, &force);
            } else {
                let t = -scale(&direction(&force.yz()), cone.friction * r.x);
                let (normal, coupling, _) = parts(&cone.block);
                let load = -(cone.velocity.x + coupling.dot(&t)) / normal;
                lifted.impulse = Vector3::new(load, t.x, t.y);
            }
        }
        Ok(lifted)
    }
}
