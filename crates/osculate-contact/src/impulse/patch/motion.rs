//! How far a body moves a point between two of its poses.
//!
//! ```text
//! θ e = log(R₁ R₀ᵀ),  dx = x₁ − x₀,  x̄ = (x₀ + x₁)/2,  k = (θ/2) cot(θ/2)
//! screw    disp(p) = k dx + (1 − k)(e·dx) e + θ e × (p − x̄)      = Jl⁻¹(θe) dx + θe × (p − x₀)
//! linear   disp(p) = dx + θ e × (p − x̄)
//! ```
//!
//! The screw is the logarithm on SE(3): zero at a fixed pivot for any angle. The linear field is the integral of the velocity for a centre
//! that moves straight while the body turns evenly, as a semi-implicit step moves it: zero where a ball rolls without slip, for any angle. They differ
//! by `dx θ²/12`, third order in the step.
//!
//! Where the contact point moves, `p` is the midpoint of old and new one. Taken at either end, a rolling body that spins about the normal is
//! credited with a sideways slip of `ω_n v Δt²/2` a step, which pushes it off its path.
//!
//! Sources: the screw after the page *Friction* of the Steel solver; the midpoint and the linear field are of this project.

use nalgebra::Vector3;
use osculate_math::norm::scale;
use osculate_math::{Scalar, se3::Pose, so3};

/// How a body moves between two poses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Along the logarithm on SE(3): exact about fixed pivots.
    #[default]
    Screw,
    /// Centre straight, rotation even: exact for rolling.
    Linear,
}

/// The displacement field of a body between two poses, first order in it: `disp(p) = translation + rotation × (p − centre)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<T = f64> {
    /// Displacement at the centre \[m\].
    pub translation: Vector3<T>,
    /// Rotation vector \[rad\], shorter than π.
    pub rotation: Vector3<T>,
    /// Midpoint of the two positions \[m\].
    pub center: Vector3<T>,
}

impl<T: Scalar> Motion<T> {
    /// No motion: that of a static body.
    pub fn none() -> Self {
        let zero = Vector3::zeros();
        Self { translation: zero, rotation: zero, center: zero }
    }

    /// From the pose `old` to the pose `new`, which turned by less than half a turn.
    ///
    /// Derivatives are exact at zero rotation too.
    pub fn between(old: &Pose<T>, new: &Pose<T>, interpolation: Interpolation) -> Self {
        let (dx, rotation) = new.increment_from(old);
        let center = scale(&(old.position + new.position), T::from(0.5));
        let translation = match interpolation {
            Interpolation::Linear => dx,
            // Jl⁻¹ dx + θe × (x̄ − x₀)
            Interpolation::Screw => {
                so3::left_jacobian_inverse(&rotation) * dx
                    + scale(&rotation.cross(&dx), T::from(0.5))
            }
        };
        Self { translation, rotation, center }
    }

    /// Displacement of the point `p` \[m\].
    pub fn displacement(&self, p: &Vector3<T>) -> Vector3<T> {
        self.translation + self.rotation.cross(&(p - self.center))
    }
}

/// Midpoint of two contact points: where the displacement of a moving contact is evaluated.
pub fn midpoint<T: Scalar>(old: &Vector3<T>, new: &Vector3<T>) -> Vector3<T> {
    scale(&(old + new), T::from(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};

    fn pose(position: [f64; 3], turn: [f64; 3]) -> Pose {
        Pose { position: position.into(), rotation: so3::exp(&turn.into()) }
    }

    /// Displacement of a point by the increment of a pose.
    struct Field(Interpolation);
    impl Law<6, 3> for Field {
        fn value<T: Scalar>(&self, x: [T; 6]) -> [T; 3] {
            let old = pose([0.3, -0.1, 0.2], [0.4, 1.0, -0.3]).lift::<T>();
            let new =
                old.incremented(&Vector3::new(x[0], x[1], x[2]), &Vector3::new(x[3], x[4], x[5]));
            let p = Vector3::new(0.5, 0.6, -0.7).map(T::from);
            Motion::between(&old, &new, self.0).displacement(&p).into()
        }
    }

    #[test]
    fn displacement_has_exact_first_and_second_derivatives_at_rest_and_turning() {
        for interpolation in [Interpolation::Screw, Interpolation::Linear] {
            for turn in [0.0, 1e-9, 0.2, 1.5] {
                let x = [0.1, 0.2, -0.3, turn, -0.5 * turn, 0.2 * turn];
                let regime = format!("{interpolation:?}, {turn}");
                check::gradients(
                    &Field(interpolation),
                    &regime,
                    x,
                    [1e-2; 6],
                    Smoothness::Smooth,
                    1e-6,
                );
            }
        }
    }

    #[test]
    fn fixed_pivot_is_not_displaced() {
        let pivot = Vector3::new(0.3, -0.8, 0.5);
        for angle in [1e-8, 0.1, 1.0, 3.0] {
            let old = pose([1.0, 0.2, -0.4], [0.1, 0.7, -0.2]);
            let turn = so3::exp(&(Vector3::new(0.36, -0.48, 0.8) * angle));
            let new = Pose {
                position: pivot + turn * (old.position - pivot),
                rotation: turn * old.rotation,
            };
            let moved = Motion::between(&old, &new, Interpolation::Screw).displacement(&pivot);
            assert!(moved.norm() <= 1e-14, "angle {angle}: {moved}");
        }
    }

    /// Midpoint slip of a ball that rolls along x by `angle` and spins by `spin` about the normal z, in radii.
    fn rolling(angle: f64, spin: f64, interpolation: Interpolation, at: f64) -> Vector3<f64> {
        let old = pose([0.0, 0.0, 1.0], [0.0; 3]);
        let new = pose([angle, 0.0, 1.0], [0.0, angle, spin]);
        let contact = Vector3::new(at * angle, 0.0, 0.0);
        Motion::between(&old, &new, interpolation).displacement(&contact)
    }

    #[test]
    fn rolling_without_slip_is_no_displacement() {
        for angle in [1e-3, 0.1, 1.0] {
            let linear = rolling(angle, 0.4 * angle, Interpolation::Linear, 0.5);
            assert!(linear.norm() <= 1e-15);
            // The screw's is third order: θ³/12 of the radius, half that of the chord θ − sin θ.
            let screw = rolling(angle, 0.0, Interpolation::Screw, 0.5);
            let third = angle.powi(3) / 12.0;
            assert!((screw.norm() - third).abs() <= 0.02 * third * angle.max(0.1), "{screw}");
        }
    }

    #[test]
    fn midpoint_of_the_contacts_removes_the_false_sideways_slip_of_a_spinning_ball() {
        for interpolation in [Interpolation::Screw, Interpolation::Linear] {
            let (angle, spin) = (0.03, 0.125);
            let start = rolling(angle, spin, interpolation, 0.0);
            let middle = rolling(angle, spin, interpolation, 0.5);
            // ω_n v Δt²/2 at the start of the step.
            assert!((start.y.abs() - spin * angle / 2.0).abs() < 1e-4 * spin * angle);
            assert!(middle.y.abs() < 1e-3 * start.y.abs(), "{middle}");
        }
    }

    #[test]
    fn a_translation_moves_every_point_alike() {
        let old = pose([0.3, -0.1, 0.2], [0.4, 1.0, -0.3]);
        let shift = Vector3::new(0.1, 0.2, 0.3);
        let motion = Motion::between(
            &old,
            &old.incremented(&shift, &Vector3::zeros()),
            Interpolation::Screw,
        );
        for p in [Vector3::zeros(), Vector3::new(5.0, -3.0, 1.0)] {
            assert!((motion.displacement(&p) - shift).norm() <= 1e-15);
            assert!(Motion::<f64>::none().displacement(&p).norm() <= 0.0);
        }
    }
}
