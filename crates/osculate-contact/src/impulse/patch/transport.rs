//! Displacements that turn with their normal, and move with the points of contact.
//!
//! ```text
//! transport   d ← R d,  R the least rotation from old to new normal:  v = n₀ × n₁, c = n₀·n₁:  R d = c d + v × d + v (v·d)/(1 + c)
//! field       of two old anchors, span = p₂ − p₁:  twist = (d₂ − d₁)·(n × span)/|span|²,   d(p) = (d₁ + d₂)/2 + twist n × (p − p̄)
//! carry       d ← P_n [ transport(d) + disp_a(p) − disp_b(p) ],   P_n = 1 − n nᵀ
//! unstretched of two new anchors, s = P_n (p₂ − p₁):  d₁ ← d₁ + w₁ e s,  d₂ ← d₂ − w₂ e s,   e = (d₂ − d₁)·s/|s|²,  w₁ + w₂ = 1
//! ```
//!
//! Displacements evaluated at midpoints belong to the mean of the old and the new span: after a turn by θ those of two anchors differ along
//! the new span by `θ²/2` of it. No motion of a rigid patch takes that back, so that two sticking anchors would contradict each other.
//!
//! Source: the page *Friction* of the Steel solver.

use super::Motion;
use nalgebra::Vector3;
use osculate_math::Scalar;
use osculate_math::norm::scale;

/// `d` turned by the least rotation that turns the unit vector `old` into the unit vector `new`; lengths are kept.
///
/// Opposite normals have no least rotation: then `d` is returned as it is, without derivative by the normals.
pub fn transport<T: Scalar>(d: &Vector3<T>, old: &Vector3<T>, new: &Vector3<T>) -> Vector3<T> {
    let axis = old.cross(new);
    let cosine = old.dot(new);
    let whole = cosine + 1.0;
    if whole <= f64::EPSILON {
        return *d;
    }
    scale(d, cosine) + axis.cross(d) + scale(&axis, axis.dot(d) / whole)
}

/// `d` without its part along the unit vector `normal`.
pub fn tangential<T: Scalar>(d: &Vector3<T>, normal: &Vector3<T>) -> Vector3<T> {
    d - scale(normal, normal.dot(d))
}

/// The displacement of an anchor after a step.
///
/// * `d`: before \[m\], tangential to `normals[0]`.
/// * `normals`: old and new unit normal.
/// * `motions`: of body a and of body b over the step.
/// * `point`: where they are evaluated, the [`midpoint`](super::motion::midpoint) of old and new anchor \[m\].
pub fn carry<T: Scalar>(
    d: &Vector3<T>,
    normals: &[Vector3<T>; 2],
    motions: &[Motion<T>; 2],
    point: &Vector3<T>,
) -> Vector3<T> {
    let dragged = motions[0].displacement(point) - motions[1].displacement(point);
    tangential(&(transport(d, &normals[0], &normals[1]) + dragged), &normals[1])
}

/// The displacements of two anchors \[m\] without what stretches their span: the nearest ones that a rigid patch can have.
///
/// * `points`: the anchors \[m\]; coincident ones are left as they are.
/// * `normal`: unit vector to which the displacements are tangential.
/// * `parts`: how much of the stretch each of them gives up \[–\], 1 together; one that remembers nothing gives up all.
pub fn unstretched<T: Scalar>(
    points: &[Vector3<T>; 2],
    displacements: &[Vector3<T>; 2],
    normal: &Vector3<T>,
    parts: [f64; 2],
) -> [Vector3<T>; 2] {
    let [first, second] = displacements;
    let span = tangential(&(points[1] - points[0]), normal);
    let square = span.dot(&span);
    if square <= 0.0 {
        return *displacements;
    }
    let stretch = scale(&span, (second - first).dot(&span) / square);
    [first + stretch.map(|x| x * parts[0]), second - stretch.map(|x| x * parts[1])]
}

/// Displacement of the points of a patch, as its old anchors remember it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisplacementField<T = f64> {
    center: Vector3<T>,
    mean: Vector3<T>,
    /// Rotation about the normal \[rad\].
    twist: T,
    normal: Vector3<T>,
}

impl<T: Scalar> DisplacementField<T> {
    /// The field of one anchor: the same everywhere.
    pub fn uniform(displacement: Vector3<T>) -> Self {
        let zero = Vector3::zeros();
        Self { center: zero, mean: displacement, twist: T::zero(), normal: zero }
    }

    /// The field of two anchors at `points` \[m\] with `displacements` \[m\], tangential to the unit vector `normal`.
    ///
    /// What stretches the span is left out: a rigid patch does not. Coincident points have no twist.
    pub fn of_two(
        points: &[Vector3<T>; 2],
        displacements: &[Vector3<T>; 2],
        normal: &Vector3<T>,
    ) -> Self {
        let half = T::from(0.5);
        let span = points[1] - points[0];
        let square = span.dot(&span);
        let turned = (displacements[1] - displacements[0]).dot(&normal.cross(&span));
        Self {
            center: scale(&(points[0] + points[1]), half),
            mean: scale(&(displacements[0] + displacements[1]), half),
            twist: if square > 0.0 { turned / square } else { T::zero() },
            normal: *normal,
        }
    }

    /// Displacement at the point `p` \[m\].
    pub fn at(&self, p: &Vector3<T>) -> Vector3<T> {
        self.mean + scale(&self.normal.cross(&(p - self.center)), self.twist)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impulse::patch::Interpolation;
    use osculate_math::check::{self, Law, Smoothness};
    use osculate_math::{lift, norm, se3::Pose, so3};

    fn normal() -> Vector3<f64> {
        Vector3::new(0.36, -0.48, 0.8)
    }

    struct Transported;
    impl Law<9, 3> for Transported {
        fn value<T: Scalar>(&self, x: [T; 9]) -> [T; 3] {
            let unit = |a, b, c| norm::direction(&Vector3::new(a, b, c)).unwrap();
            let (old, new) = (unit(x[0], x[1], x[2]), unit(x[3], x[4], x[5]));
            transport(&Vector3::new(x[6], x[7], x[8]), &old, &new).into()
        }
    }

    #[test]
    fn transport_has_exact_derivatives_with_equal_and_turned_normals() {
        for other in [[0.36, -0.48, 0.8], [0.4, -0.4, 0.8], [-0.8, 0.1, 0.5]] {
            let n = normal();
            let x = [n.x, n.y, n.z, other[0], other[1], other[2], 0.1, -0.3, 0.2];
            check::gradients(&Transported, "turned", x, [1e-2; 9], Smoothness::Smooth, 1e-6);
        }
    }

    #[test]
    fn transport_keeps_lengths_and_takes_the_old_tangent_plane_to_the_new() {
        let old = normal();
        let d = old.cross(&Vector3::new(0.2, 0.3, 0.1));
        for angle in [0.0, 0.1, 1.0, 3.0] {
            let new = so3::exp(&(Vector3::new(0.6, 0.0, 0.8) * angle)) * old;
            let moved = transport(&d, &old, &new);
            assert!((moved.norm() - d.norm()).abs() <= 1e-15);
            assert!(moved.dot(&new).abs() <= 1e-15);
            assert!((transport(&moved, &new, &old) - d).norm() <= 1e-15);
            // The least rotation turns nothing about the common axis.
            let axis = old.cross(&new);
            assert!((transport(&axis, &old, &new) - axis).norm() <= 1e-15);
        }
        assert_eq!(transport(&d, &old, &-old), d);
    }

    #[test]
    fn field_of_two_anchors_is_that_of_a_rigid_patch() {
        let n = normal();
        let (p, q) =
            (n.cross(&Vector3::new(1.0, 0.2, 0.0)), n.cross(&Vector3::new(-0.3, 0.5, 0.4)));
        let (shift, twist) = (n.cross(&Vector3::new(0.01, 0.02, 0.0)), 0.03);
        let rigid = |x: &Vector3<f64>| shift + n.cross(x) * twist;
        let field = DisplacementField::of_two(&[p, q], &[rigid(&p), rigid(&q)], &n);
        for x in [p, q, n.cross(&Vector3::new(0.4, 0.4, 0.9))] {
            assert!((field.at(&x) - rigid(&x)).norm() <= 1e-15);
        }
        assert!((DisplacementField::uniform(shift).at(&p) - shift).norm() <= 0.0);
        let one = DisplacementField::of_two(&[p, p], &[shift, shift], &n);
        assert!((one.at(&q) - shift).norm() <= 0.0);
    }

    struct Unstretched;
    impl Law<15, 6> for Unstretched {
        fn value<T: Scalar>(&self, x: [T; 15]) -> [T; 6] {
            let v = |k: usize| Vector3::new(x[k], x[k + 1], x[k + 2]);
            let normal = norm::direction(&v(12)).unwrap();
            let [a, b] = unstretched(&[v(0), v(3)], &[v(6), v(9)], &normal, [0.25, 0.75]);
            [a.x, a.y, a.z, b.x, b.y, b.z]
        }
    }

    #[test]
    fn unstretched_displacements_have_exact_derivatives() {
        let n = normal();
        let x = [0.1, 0.2, 0.3, -0.4, 0.3, 0.1, 0.02, -0.01, 0.03, 0.01, 0.04, -0.02];
        let mut all = [0.0; 15];
        all[..12].copy_from_slice(&x);
        all[12..].copy_from_slice(n.as_slice());
        check::gradients(&Unstretched, "any", all, [1e-3; 15], Smoothness::Smooth, 1e-6);
    }

    #[test]
    fn unstretched_displacements_are_those_of_a_rigid_patch_and_rigid_ones_are_kept() {
        let n = normal();
        let (p, q) =
            (n.cross(&Vector3::new(1.0, 0.2, 0.0)), n.cross(&Vector3::new(-0.3, 0.5, 0.4)));
        let rigid = |x: &Vector3<f64>| n.cross(&Vector3::new(0.01, 0.02, 0.0)) + n.cross(x) * 0.03;
        let kept = unstretched(&[p, q], &[rigid(&p), rigid(&q)], &n, [0.5; 2]);
        assert!((kept[0] - rigid(&p)).norm() + (kept[1] - rigid(&q)).norm() <= 1e-17);
        let stretch = (q - p) * 1e-3;
        for parts in [[0.5; 2], [0.0, 1.0], [1.0, 0.0]] {
            let found = unstretched(&[p, q], &[rigid(&p), rigid(&q) + stretch], &n, parts);
            assert!((found[1] - found[0]).dot(&(q - p)).abs() <= 1e-17);
            assert!((found[0] - rigid(&p) - stretch * parts[0]).norm() <= 1e-17);
        }
        assert_eq!(unstretched(&[p, p], &[p, q], &n, [0.5; 2]), [p, q]);
    }

    struct Carried;
    impl Law<6, 3> for Carried {
        fn value<T: Scalar>(&self, x: [T; 6]) -> [T; 3] {
            let n = lift(&normal());
            let old = Pose::<f64>::identity().lift::<T>();
            let new =
                old.incremented(&Vector3::new(x[0], x[1], x[2]), &Vector3::new(x[3], x[4], x[5]));
            let motions = [Motion::between(&old, &new, Interpolation::Screw), Motion::none()];
            let d = Vector3::new(0.02, 0.0, -0.009).map(T::from);
            carry(&d, &[n, n], &motions, &Vector3::new(0.1, 0.2, 0.3).map(T::from)).into()
        }
    }

    #[test]
    fn carried_displacement_has_exact_derivatives_and_stays_tangential() {
        for x in [[0.0; 6], [0.1, 0.0, -0.2, 0.2, 0.1, -0.3]] {
            check::gradients(&Carried, "carried", x, [1e-2; 6], Smoothness::Smooth, 1e-6);
            assert!(Vector3::from(Carried.value(x)).dot(&normal()).abs() <= 1e-16);
        }
    }

    #[test]
    fn bodies_that_move_together_drag_nothing() {
        let old = Pose::<f64>::identity();
        let new = old.incremented(&Vector3::new(0.1, 0.2, 0.3), &Vector3::new(0.3, -0.2, 0.1));
        let motion = Motion::between(&old, &new, Interpolation::Screw);
        let d = tangential(&Vector3::new(0.01, 0.02, 0.0), &normal());
        let carried = carry(&d, &[normal(), normal()], &[motion, motion], &Vector3::zeros());
        assert!((carried - d).norm() <= 1e-17);
    }
}
