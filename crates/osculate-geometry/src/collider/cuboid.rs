//! Box: exact distance outside, distance to the nearest face inside.
//!
//! ```text
//! q = |X − c| − (e − r)        outside: Φ = ‖max(q, 0)‖ − r        inside: Φ = max(q) − r
//! ```
//!
//! with edges and corners rounded by `r`: the points within `r` of a box whose half extents are smaller by `r`.

use super::Field;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm};

/// A box aligned with the local axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid<T = f64> {
    /// Centre in local coordinates \[m\].
    pub center: Vector3<T>,
    /// Half extents along the local axes \[m\], > 0.
    pub half_extents: Vector3<T>,
    /// Radius of edges and corners \[m\], from 0 to the smallest half extent.
    pub edge_radius: T,
    /// `e − r`: computed once, not at every query.
    core: Vector3<T>,
}

/// `|x|` and its slope; the slope at 0 is +1, so a point on a middle plane belongs to the positive side.
#[inline]
fn absolute<T: Scalar>(x: T) -> (T, f64) {
    if x < 0.0 { (-x, -1.0) } else { (x, 1.0) }
}

impl<T: Scalar> Cuboid<T> {
    pub(crate) fn new(center: Vector3<T>, half_extents: Vector3<T>, edge_radius: T) -> Self {
        Self { center, half_extents, edge_radius, core: half_extents.map(|e| e - edge_radius) }
    }

    /// `|X − c| − (e − r)` per axis, and the sign of `X − c`.
    #[inline]
    fn excess(&self, point: &Vector3<T>) -> (Vector3<T>, [f64; 3]) {
        let arm = point - self.center;
        let (x, sx) = absolute(arm.x);
        let (y, sy) = absolute(arm.y);
        let (z, sz) = absolute(arm.z);
        (Vector3::new(x, y, z) - self.core, [sx, sy, sz])
    }

    /// Whether the gradient is that of one face around a point: inside, or outside beyond one face only.
    #[inline]
    pub(super) fn is_flat(&self, point: &Vector3<T>) -> bool {
        let (q, _) = self.excess(point);
        q.iter().filter(|x| **x > 0.0).count() <= 1
    }

    /// Signed distance \[m\].
    #[inline]
    pub fn phi(&self, point: &Vector3<T>) -> T {
        let (q, _) = self.excess(point);
        let outside = outside_part(&q);
        let deepest = q[deepest_axis(&q)];
        (if deepest > 0.0 { norm::norm0(&outside) } else { deepest }) - self.edge_radius
    }

    /// Signed distance \[m\] and its gradient.
    ///
    /// Inside, where two faces are equally near (on a medial plane), the first axis in x, y, z order is taken:
    /// a documented one-sided choice where no derivative exists.
    #[inline(always)]
    pub fn field(&self, point: &Vector3<T>) -> Field<T> {
        let (q, sign) = self.excess(point);
        let axis = deepest_axis(&q);
        if q[axis] > 0.0 {
            let outside = outside_part(&q);
            let distance = norm::norm0(&outside);
            let inverse = distance.recip();
            let gradient = Vector3::new(
                outside.x * inverse * sign[0],
                outside.y * inverse * sign[1],
                outside.z * inverse * sign[2],
            );
            Field { phi: distance - self.edge_radius, gradient, unit: true }
        } else {
            let mut gradient = Vector3::zeros();
            gradient[axis] = T::from(sign[axis]);
            Field { phi: q[axis] - self.edge_radius, gradient, unit: true }
        }
    }
}

#[inline]
fn outside_part<T: Scalar>(q: &Vector3<T>) -> Vector3<T> {
    q.map(|x| if x > 0.0 { x } else { T::zero() })
}

#[inline]
fn deepest_axis<T: Scalar>(q: &Vector3<T>) -> usize {
    let first = usize::from(q.y > q.x);
    if q.z > q[first] { 2 } else { first }
}

#[cfg(test)]
mod tests {
    use crate::collider::{Collider, laws::check_field};
    use nalgebra::Vector3;
    use osculate_math::check::Smoothness::{Kink, Smooth};

    fn cuboid() -> Collider {
        Collider::cuboid(Vector3::new(0.1, 0.0, -0.2), Vector3::new(0.5, 0.6, 0.7)).unwrap()
    }

    #[test]
    fn cuboid_has_exact_derivatives_in_every_region() {
        for (regime, x) in [
            ("apart from a face", [0.9, 0.1, -0.1]),
            ("apart from an edge", [0.9, -0.8, -0.1]),
            ("apart from a corner", [0.9, -0.8, 0.9]),
            ("touching a face", [0.6005, 0.1, -0.1]),
            ("deep", [0.2, 0.45, -0.1]),
        ] {
            check_field(
                &cuboid(),
                regime,
                x,
                if regime == "touching a face" { Kink } else { Smooth },
            );
        }
        check_field(&cuboid(), "exactly on a face", [0.6, 0.1, -0.1], Kink);
        check_field(&cuboid(), "exactly on an edge", [0.6, 0.6, -0.1], Kink);
        check_field(&cuboid(), "exactly at the centre", [0.1, 0.0, -0.2], Kink);
    }

    #[test]
    fn rounded_cuboid_has_exact_derivatives_in_every_region() {
        let half = Vector3::new(0.5, 0.6, 0.7);
        let rounded = Collider::rounded_cuboid(Vector3::new(0.1, 0.0, -0.2), half, 0.15).unwrap();
        for (regime, x, smoothness) in [
            ("apart from a face", [0.9, 0.1, -0.1], Smooth),
            ("apart from an edge", [0.9, -0.8, -0.1], Smooth),
            ("apart from a corner", [0.9, -0.8, 0.9], Smooth),
            ("in the rounding of an edge", [0.5, 0.5, -0.1], Smooth),
            ("in the rounding of a corner", [0.52, 0.52, 0.43], Smooth),
            ("deep", [0.2, 0.42, -0.1], Smooth),
            ("exactly where an edge begins", [0.55, 0.45, -0.1], Kink),
        ] {
            check_field(&rounded, regime, x, smoothness);
        }
    }

    #[test]
    fn cuboid_without_edge_radius_is_the_sharp_one_bit_for_bit() {
        let half = Vector3::new(0.5, 0.6, 0.7);
        let rounded = Collider::rounded_cuboid(Vector3::new(0.1, 0.0, -0.2), half, 0.0).unwrap();
        for x in [[0.9, 0.1, -0.1], [0.9, -0.8, 0.9], [0.2, 0.45, -0.1], [0.6, 0.6, -0.1]] {
            assert_eq!(rounded.field(&Vector3::from(x)), cuboid().field(&Vector3::from(x)));
        }
        assert_eq!(rounded, cuboid());
    }

    #[test]
    fn cube_rounded_to_the_middle_is_a_ball() {
        let center = Vector3::new(0.1, 0.0, -0.2);
        let cube = Collider::rounded_cuboid(center, Vector3::repeat(0.3), 0.3).unwrap();
        let ball = Collider::sphere(center, 0.3).unwrap();
        for x in [[0.9, 0.1, -0.1], [0.2, -0.1, 0.0], [0.35, 0.2, -0.35]] {
            let (a, b) = (cube.field(&Vector3::from(x)), ball.field(&Vector3::from(x)));
            assert!((a.phi - b.phi).abs() < 1e-15 && (a.gradient - b.gradient).norm() < 1e-15);
        }
        for radius in [-0.1, 0.31, f64::NAN] {
            assert!(Collider::rounded_cuboid(center, Vector3::repeat(0.3), radius).is_err());
        }
    }

    #[test]
    fn distance_is_continuous_across_faces_edges_and_corners() {
        let c = cuboid();
        for x in [[0.6, 0.1, -0.1], [0.6, 0.6, -0.1], [0.6, 0.6, 0.5]] {
            assert!(c.phi(&Vector3::from(x)).abs() < 1e-16);
            assert!(c.phi(&(Vector3::from(x) + Vector3::repeat(1e-9))) > 0.0);
            assert!(c.phi(&(Vector3::from(x) - Vector3::repeat(1e-9))) < 0.0);
        }
    }

    #[test]
    fn gradient_outside_is_unit() {
        let g = cuboid().field(&Vector3::new(0.9, -0.8, 0.9)).gradient;
        assert!((g.norm() - 1.0).abs() < 1e-15);
    }
}
