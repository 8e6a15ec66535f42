//! Where the anchors of a region stand.
//!
//! ```text
//! m = mean of the points,  C = mean of (p − m)(p − m)ᵀ in the tangent plane,  e its long axis
//! anchors at the largest and the smallest (p − m)·e, each with the mean sideways offset and height of the points
//! within max(10⁻⁵ R, 5 % of the extent) of its end
//! one anchor at m where they are closer than 10⁻⁴ R
//! ```
//!
//! A footprint is isotropic where `λ₁ − λ₂ ≤ 10⁻⁶ tr C`: a square, a regular polygon, a disk. Its axis is then the one of least fourth moment,
//!
//! ```text
//! arg e = (arg Σ r⁴ e^{4iφ} + π)/4 + k π/2,  k such that e is closest to the first tangent
//! ```
//!
//! which turns with the footprint and is parallel to an edge of a square, so that the anchors are the middles of two edges. Opposite corners,
//! as elsewhere, couple a push along an edge to a turn: their blocks are skewed to the same side. Without a fourth moment (a disk, the
//! three points of a cap) the axis `e` is the first tangent, and the anchors are at `m ± e (max − min)/2`: where they are not opposite to each
//! other, spin pushes aside.
//!
//! Generic over the scalar: anchors move with the points, except where the choice of axis or ends changes.
//! Source: the page *Friction* of the Steel solver; the axis of isotropic footprints is of this project.

use nalgebra::Vector3;
use osculate_math::norm::{self, scale};
use osculate_math::{Scalar, lift};

/// Relative difference of variances below which a footprint has no long axis.
const ISOTROPIC: f64 = 1e-6;

/// Relative fourth harmonic below which an isotropic footprint has no axis of its own.
const ROUND: f64 = 1e-6;

/// Anchors closer than this part of `R` are one.
const COINCIDENT: f64 = 1e-4;

/// Part of the extent within which points belong to an end, and the part of `R` it is at least.
const END: (f64, f64) = (0.05, 1e-5);

/// Where the anchors of a footprint without a long axis stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IsotropicFootprint {
    /// At the ends of the axis of least fourth moment: the middles of two edges of a square.
    #[default]
    Edges,
    /// At the first point in the order of coordinates, and the one farthest from it: opposite corners of a square.
    Corners,
}

/// The anchors of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchors<T = f64> {
    /// Of a region no longer than a point.
    One([Vector3<T>; 1]),
    /// At the ends of its long axis.
    Two([Vector3<T>; 2]),
}

impl<T> Anchors<T> {
    /// The points \[m\].
    pub fn points(&self) -> &[Vector3<T>] {
        match self {
            Self::One(points) => points,
            Self::Two(points) => points,
        }
    }
}

/// Two unit vectors across the unit vector `normal`: the first is `normal × x`, or `normal × y` where it is along x.
pub fn tangents<T: Scalar>(normal: &Vector3<T>) -> [Vector3<T>; 2] {
    let side = lift(&beside(normal.x.re()));
    let first = norm::direction(&normal.cross(&side)).unwrap_or(side);
    [first, normal.cross(&first)]
}

/// What a normal is crossed with: x, or y where it is along x.
pub(super) fn beside(x: f64) -> Vector3<f64> {
    // As in the reference, x serves until it is parallel to rounding.
    if x.abs() < 1.0 - 1e-9 { Vector3::x() } else { Vector3::y() }
}

/// Mean of some points.
pub(super) fn mean<T: Scalar>(points: &[Vector3<T>]) -> Vector3<T> {
    let sum = points.iter().fold(Vector3::zeros(), |sum, p| sum + p);
    scale(&sum, T::from(1.0 / points.len() as f64))
}

/// `arg(x + iy)/n` as cosine and sine, turned by multiples of `2π/n` to be closest to the first axis.
fn nearest_root<T: Scalar>(x: T, y: T, n: f64) -> (T, T) {
    let angle = y.atan2(x) / n;
    (angle.cos(), angle.sin())
}

/// What an axis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// The long one.
    Long,
    /// That of least fourth moment.
    Fourth,
    /// The first tangent.
    Tangent,
}

/// The axis of a footprint in its tangent plane, or `None` where it is isotropic and corners are wanted.
pub(super) fn axis<T: Scalar>(
    plane: &[(T, T)],
    isotropic: IsotropicFootprint,
) -> Option<(Axis, (T, T))> {
    let zero = T::zero();
    let (xx, xy, yy) = plane
        .iter()
        .fold((zero, zero, zero), |(xx, xy, yy), &(x, y)| (xx + x * x, xy + x * y, yy + y * y));
    let (difference, shear) = (xx - yy, xy * 2.0);
    let spread = (difference * difference + shear * shear).re().sqrt();
    if spread > ISOTROPIC * (xx + yy).re() {
        return Some((Axis::Long, nearest_root(difference, shear, 2.0)));
    }
    if isotropic == IsotropicFootprint::Corners {
        return None;
    }
    let (mut even, mut odd, mut size) = (zero, zero, 0.0);
    for &(x, y) in plane {
        let (c, s) = (x * x - y * y, x * y * 2.0);
        even += c * c - s * s;
        odd += c * s * 2.0;
        size += (c * c + s * s).re();
    }
    if (even * even + odd * odd).re().sqrt() <= ROUND * size {
        return Some((Axis::Tangent, (T::one(), zero)));
    }
    // cos 4(φ − θ) is least where 4θ is opposite to the harmonic.
    Some((Axis::Fourth, nearest_root(-even, -odd, 4.0)))
}

/// Anchors of the contact points of a region; none for no points.
///
/// * `points`: \[m\].
/// * `normal`: unit vector.
/// * `length`: `R` \[m\], > 0.
pub fn anchors<T: Scalar>(
    points: &[Vector3<T>],
    normal: &Vector3<T>,
    length: f64,
    isotropic: IsotropicFootprint,
) -> Option<Anchors<T>> {
    if points.is_empty() {
        return None;
    }
    let center = mean(points);
    let [first, second] = tangents(normal);
    let plane: Vec<(T, T)> =
        points.iter().map(|p| ((p - center).dot(&first), (p - center).dot(&second))).collect();
    let pair = match axis(&plane, isotropic) {
        Some((Axis::Tangent, _)) => opposite(points, &center, &first),
        Some((_, (c, s))) => ends(points, &center, &(scale(&first, c) + scale(&second, s)), length),
        None => corners(points),
    };
    let apart = (pair[1] - pair[0]).map(|x| x.re()).norm();
    let one = apart <= COINCIDENT * length;
    Some(if one { Anchors::One([center]) } else { Anchors::Two(pair) })
}

/// Two points on an axis through the middle of a footprint, as far apart as it is long.
fn opposite<T: Scalar>(
    points: &[Vector3<T>],
    center: &Vector3<T>,
    axis: &Vector3<T>,
) -> [Vector3<T>; 2] {
    let along = points.iter().map(|p| (p - center).dot(axis));
    let [i, j] = outermost(along.map(|x| x.re()));
    let half = scale(axis, (points[j] - points[i]).dot(axis) * 0.5);
    [center - half, center + half]
}

/// Where numbers are least and greatest, the first of equal ones.
pub(super) fn outermost(along: impl Iterator<Item = f64> + Clone) -> [usize; 2] {
    let pick = |better: fn(f64, f64) -> bool| {
        let first = (0, f64::NAN);
        let best = along
            .clone()
            .enumerate()
            .fold(first, |best, (i, x)| if i == 0 || better(x, best.1) { (i, x) } else { best });
        best.0
    };
    [pick(|a, b| a < b), pick(|a, b| a > b)]
}

/// How far from its outermost point the points of an end are \[m\].
pub(super) fn reach(extent: f64, length: f64) -> f64 {
    let (part, floor) = END;
    (part * extent).max(floor * length)
}

/// The two ends of the points along the unit vector `axis`.
fn ends<T: Scalar>(
    points: &[Vector3<T>],
    center: &Vector3<T>,
    axis: &Vector3<T>,
    length: f64,
) -> [Vector3<T>; 2] {
    let along: Vec<T> = points.iter().map(|p| (p - center).dot(axis)).collect();
    let least = along.iter().copied().fold(along[0], |a, b| if b < a { b } else { a });
    let greatest = along.iter().copied().fold(along[0], |a, b| if b > a { b } else { a });
    let near = reach((greatest - least).re(), length);
    [least, greatest].map(|end| {
        let members: Vec<Vector3<T>> = points
            .iter()
            .zip(&along)
            .filter(|(_, s)| (**s - end).re().abs() <= near)
            .map(|(p, _)| *p)
            .collect();
        let offset = mean(&members) - center;
        center + offset + scale(axis, end - offset.dot(axis))
    })
}

/// The first point in the order of coordinates, and the one farthest from it.
fn corners<T: Scalar>(points: &[Vector3<T>]) -> [Vector3<T>; 2] {
    corner_places(points).map(|k| points[k])
}

/// Which points those are.
pub(super) fn corner_places<T: Scalar>(points: &[Vector3<T>]) -> [usize; 2] {
    let key = |p: &Vector3<T>| [p.x.re(), p.y.re(), p.z.re()];
    let less = |a: &Vector3<T>, b: &Vector3<T>| {
        let pairs = key(a).into_iter().zip(key(b));
        pairs.map(|(x, y)| x.total_cmp(&y)).find(|o| o.is_ne()).is_some_and(|o| o.is_lt())
    };
    let count = points.len();
    let first = (1..count).fold(0, |a, b| if less(&points[b], &points[a]) { b } else { a });
    let far = |i: usize| (points[i] - points[first]).map(|x| x.re()).norm_squared();
    let last = (0..count).fold(first, |a, b| if far(b) > far(a) { b } else { a });
    [first, last]
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};
    use osculate_math::so3;

    /// Corners of a rectangle across z, turned by `angle`.
    fn rectangle(half: [f64; 2], angle: f64) -> Vec<Vector3<f64>> {
        let turn = so3::exp(&(Vector3::z() * angle));
        let corner = |(x, y)| turn * Vector3::new(x * half[0], y * half[1], 0.0);
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(corner).to_vec()
    }

    fn two(points: &[Vector3<f64>], isotropic: IsotropicFootprint) -> [Vector3<f64>; 2] {
        match anchors(points, &Vector3::z(), 0.1, isotropic) {
            Some(Anchors::Two(pair)) => pair,
            other => panic!("{other:?}"),
        }
    }

    /// Whether two pairs of points are the same in any order.
    fn same(a: &[Vector3<f64>; 2], b: &[Vector3<f64>; 2]) -> bool {
        let close = |p: &Vector3<f64>, q: &Vector3<f64>| (p - q).norm() <= 1e-12;
        (close(&a[0], &b[0]) && close(&a[1], &b[1])) || (close(&a[0], &b[1]) && close(&a[1], &b[0]))
    }

    #[test]
    fn anchors_of_a_rectangle_are_the_middles_of_its_short_edges() {
        for angle in [0.0, 0.3, 1.5, -2.0] {
            let axis = so3::exp(&(Vector3::z() * angle)) * Vector3::x() * 0.09;
            let pair = two(&rectangle([0.09, 0.06], angle), IsotropicFootprint::Edges);
            assert!(same(&pair, &[axis, -axis]), "{angle}: {pair:?}");
        }
    }

    #[test]
    fn anchors_of_a_square_are_the_middles_of_two_edges_whatever_its_angle() {
        for angle in [0.0, 0.3, 0.7, 1.2, -2.0] {
            let turn = so3::exp(&(Vector3::z() * angle));
            let pair = two(&rectangle([0.1, 0.1], angle), IsotropicFootprint::Edges);
            let middles = [Vector3::x(), Vector3::y()].map(|v| turn * v * 0.1);
            assert!(middles.iter().any(|m| same(&pair, &[*m, -m])), "{angle}: {pair:?}");
        }
    }

    #[test]
    fn anchors_of_a_triangle_are_opposite_to_each_other_about_its_middle() {
        let corner = |k: f64| {
            so3::exp(&(Vector3::z() * (0.3 + k * std::f64::consts::TAU / 3.0))) * Vector3::x()
        };
        let pair = two(&[corner(0.0), corner(1.0), corner(2.0)], IsotropicFootprint::Edges);
        assert!((pair[0] + pair[1]).norm() < 1e-15 && (pair[1] - pair[0]).norm() > 1.4, "{pair:?}");
    }

    #[test]
    fn corners_of_a_square_are_opposite() {
        let pair = two(&rectangle([0.1, 0.1], 0.0), IsotropicFootprint::Corners);
        assert!(same(&pair, &[Vector3::new(-0.1, -0.1, 0.0), Vector3::new(0.1, 0.1, 0.0)]));
    }

    #[test]
    fn a_round_footprint_has_the_axis_of_the_first_tangent() {
        let disk: Vec<_> = (0..64)
            .map(|i| so3::exp(&(Vector3::z() * (f64::from(i) * std::f64::consts::TAU / 64.0))))
            .map(|turn| turn * Vector3::x() * 0.1)
            .collect();
        let pair = two(&disk, IsotropicFootprint::Edges);
        let axis = tangents(&Vector3::z())[0] * 0.1;
        assert!(same(&pair, &[axis, -axis]), "{pair:?}");
    }

    #[test]
    fn a_point_has_one_anchor_and_nothing_has_none() {
        let close = [Vector3::zeros(), Vector3::new(5e-6, 0.0, 0.0)];
        assert!(matches!(
            anchors(&close, &Vector3::z(), 0.1, IsotropicFootprint::Edges),
            Some(Anchors::One(_))
        ));
        assert!(anchors::<f64>(&[], &Vector3::z(), 0.1, IsotropicFootprint::Edges).is_none());
    }

    #[test]
    fn an_anchor_stands_at_the_height_of_its_end() {
        let mut points = rectangle([0.09, 0.06], 0.0);
        points[0].z = -1e-3;
        points[3].z = -3e-3;
        let pair = two(&points, IsotropicFootprint::Edges);
        let end = pair.iter().find(|p| p.x < 0.0).unwrap();
        assert!((end - Vector3::new(-0.09, 0.0, -2e-3)).norm() <= 1e-12, "{end}");
    }

    #[test]
    fn tangents_and_normal_are_right_handed_axes() {
        for n in [Vector3::x(), -Vector3::x(), Vector3::z(), Vector3::new(0.36, -0.48, 0.8)] {
            let [a, b] = tangents(&n);
            assert!((a.cross(&b) - n).norm() <= 1e-15);
        }
    }

    struct Ends(f64);
    impl Law<8, 6> for Ends {
        fn value<T: Scalar>(&self, x: [T; 8]) -> [T; 6] {
            let points: Vec<Vector3<T>> =
                x.chunks(2).map(|p| Vector3::new(p[0], p[1], T::from(self.0))).collect();
            let normal = Vector3::new(T::zero(), T::zero(), T::one());
            match anchors(&points, &normal, 0.1, IsotropicFootprint::Edges) {
                Some(Anchors::Two([a, b])) => [a.x, a.y, a.z, b.x, b.y, b.z],
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn anchors_have_exact_derivatives_where_their_ends_do_not_change() {
        let half = [0.9, 0.4];
        let mut x = [0.0; 8];
        for (x, p) in x.chunks_mut(2).zip(rectangle(half, 0.3)) {
            (x[0], x[1]) = (p.x, p.y);
        }
        // One corner of each end stands out, so that the extent does not jump between the two.
        x[0] -= 0.01;
        x[2] += 0.012;
        check::gradients(&Ends(0.2), "rectangle", x, [1e-3; 8], Smoothness::Smooth, 1e-6);
    }
}
