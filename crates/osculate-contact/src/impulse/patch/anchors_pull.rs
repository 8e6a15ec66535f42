//! Derivatives of where anchors stand, in reverse: one pass whatever the number of points.
//!
//! ```text
//! a = m̄ + e (p_k − m̄)·e        m̄ mean of the members of an end, p_k its outermost point
//! e = t₁ cos θ + t₂ sin θ,      θ = atan2(2 Σ x y, Σ x² − y²)/2
//! isotropic                     θ = atan2(−Σ 2 c s, −Σ c² − s²)/4,   c = x² − y²,  s = 2 x y
//! ```

use super::anchors::{
    Anchors, Axis, IsotropicFootprint, anchors, axis, beside, corner_places, mean, outermost,
    reach, tangents,
};
use nalgebra::Vector3;

/// Derivatives of a number by the points and the normal of a region.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacesBar {
    /// By each point.
    pub points: Vec<Vector3<f64>>,
    /// By the normal.
    pub normal: Vector3<f64>,
}

/// Pullback of [`anchors`].
///
/// * `bars`: derivatives by the anchors, in their order.
pub fn pull_anchors(
    points: &[Vector3<f64>],
    normal: &Vector3<f64>,
    (length, footprint): (f64, IsotropicFootprint),
    bars: &[Vector3<f64>],
) -> PlacesBar {
    let zero = Vector3::zeros();
    let mut out = PlacesBar { points: vec![zero; points.len()], normal: zero };
    match anchors(points, normal, length, footprint) {
        None => return out,
        Some(Anchors::One(_)) => {
            let share = bars.first().copied().unwrap_or(zero) / points.len() as f64;
            out.points.fill(share);
            return out;
        }
        Some(Anchors::Two(_)) => {}
    }
    let center = mean(points);
    let [first, second] = tangents(normal);
    let flat = |p: &Vector3<f64>| ((p - center).dot(&first), (p - center).dot(&second));
    let plane: Vec<(f64, f64)> = points.iter().map(flat).collect();
    let Some((kind, (c, s))) = axis(&plane, footprint) else {
        corner_places(points).into_iter().zip(bars).for_each(|(k, bar)| out.points[k] += bar);
        return out;
    };
    let along = first * c + second * s;
    if kind == Axis::Tangent {
        pull_opposite(points, (&center, &along), bars, &mut out);
        let by_first = std::mem::replace(&mut out.normal, zero);
        out.normal = pull_tangents(normal, &first, &by_first, &zero);
        return out;
    }
    let by_axis = pull_ends(points, (&center, &along), length, bars, &mut out.points);
    let by_angle = by_axis.dot(&(second * c - first * s));
    let (mut by_first, mut by_second) = (by_axis * c, by_axis * s);
    let mut sum = zero;
    let by_plane = pull_angle(&plane, kind == Axis::Long, by_angle);
    for ((p, (x, y)), by) in points.iter().zip(by_plane).zip(&mut out.points) {
        let arm = p - center;
        let own = first * x + second * y;
        *by += own;
        sum += own;
        by_first += arm * x;
        by_second += arm * y;
    }
    let share = sum / points.len() as f64;
    out.points.iter_mut().for_each(|by| *by -= share);
    out.normal = pull_tangents(normal, &first, &by_first, &by_second);
    out
}

/// Derivative by the axis; adds those by the points at fixed axis.
fn pull_ends(
    points: &[Vector3<f64>],
    (center, axis): (&Vector3<f64>, &Vector3<f64>),
    length: f64,
    bars: &[Vector3<f64>],
    by_points: &mut [Vector3<f64>],
) -> Vector3<f64> {
    // As in the forward pass: which of two points that are as far out counts must not hang on rounding.
    let along: Vec<f64> = points.iter().map(|p| (p - center).dot(axis)).collect();
    let outermost = outermost(along.iter().copied());
    let near = reach(along[outermost[1]] - along[outermost[0]], length);
    let mut by_axis = Vector3::zeros();
    for (&k, bar) in outermost.iter().zip(bars) {
        let belongs = |i: &usize| (along[*i] - along[k]).abs() <= near;
        let members = || (0..points.len()).filter(belongs);
        let count = members().count() as f64;
        let mean = members().map(|i| points[i]).sum::<Vector3<f64>>() / count;
        let arm = points[k] - mean;
        by_axis += bar * arm.dot(axis) + arm * bar.dot(axis);
        let straight = axis * axis.dot(bar);
        by_points[k] += straight;
        members().for_each(|i| by_points[i] += (bar - straight) / count);
    }
    by_axis
}

/// Of two anchors at `m ± e (p_j − p_i)·e/2`; that by the axis goes to the place of the normal.
fn pull_opposite(
    points: &[Vector3<f64>],
    (center, axis): (&Vector3<f64>, &Vector3<f64>),
    bars: &[Vector3<f64>],
    out: &mut PlacesBar,
) {
    let [i, j] = outermost(points.iter().map(|p| (p - center).dot(axis)));
    let bar = |k: usize| bars.get(k).copied().unwrap_or_else(Vector3::zeros);
    out.points.fill((bar(0) + bar(1)) / points.len() as f64);
    let (span, by_half) = (points[j] - points[i], bar(1) - bar(0));
    let straight = axis * (by_half.dot(axis) * 0.5);
    out.points[j] += straight;
    out.points[i] -= straight;
    out.normal = by_half * (span.dot(axis) * 0.5) + span * (by_half.dot(axis) * 0.5);
}

/// Derivatives by the coordinates in the plane, from that by the angle of the axis.
///
/// * `long`: whether it is the long axis, or that of least fourth moment.
fn pull_angle(plane: &[(f64, f64)], long: bool, by_angle: f64) -> Vec<(f64, f64)> {
    let squares = |&(x, y): &(f64, f64)| (x * x - y * y, 2.0 * x * y);
    if long {
        let (d, s) = plane.iter().map(squares).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let factor = by_angle / (d * d + s * s);
        // By x² − y² and 2 x y.
        let (by_d, by_s) = (-0.5 * s * factor, 0.5 * d * factor);
        let by = |&(x, y): &(f64, f64)| (2.0 * (x * by_d + y * by_s), 2.0 * (x * by_s - y * by_d));
        return plane.iter().map(by).collect();
    }
    let fourth = |q: &(f64, f64)| {
        let (c, s) = squares(q);
        (c * c - s * s, 2.0 * c * s)
    };
    let (e, o) = plane.iter().map(fourth).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    let factor = by_angle / (e * e + o * o);
    let (by_e, by_o) = (-0.25 * o * factor, 0.25 * e * factor);
    let by = |q: &(f64, f64)| {
        let ((x, y), (c, s)) = (*q, squares(q));
        let (by_c, by_s) = (2.0 * (c * by_e + s * by_o), 2.0 * (c * by_o - s * by_e));
        (2.0 * (x * by_c + y * by_s), 2.0 * (x * by_s - y * by_c))
    };
    plane.iter().map(by).collect()
}

/// Derivative by the normal, from those by the two tangents.
fn pull_tangents(
    normal: &Vector3<f64>,
    first: &Vector3<f64>,
    by_first: &Vector3<f64>,
    by_second: &Vector3<f64>,
) -> Vector3<f64> {
    // t₂ = n × t₁,   t₁ = u/‖u‖,  u = n × x
    let by_first = by_first + by_second.cross(normal);
    let x = beside(normal.x);
    let length = normal.cross(&x).norm();
    let by_u = (by_first - first * first.dot(&by_first)) / length;
    first.cross(by_second) + x.cross(&by_u)
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::{Jet, lift, so3};

    /// Points, normal and what is done where there is no long axis.
    type Region = (&'static str, Vec<Vector3<f64>>, Vector3<f64>, IsotropicFootprint);

    /// Regions with every kind of axis.
    fn regions() -> Vec<Region> {
        let turn = so3::exp(&Vector3::new(0.3, -0.2, 0.7));
        let normal = turn * Vector3::z();
        let place = |p: &[f64; 3]| turn * Vector3::from(*p) + Vector3::new(0.3, 0.1, -0.2);
        let points = |list: &[[f64; 3]]| list.iter().map(place).collect::<Vec<_>>();
        let rectangle =
            [[0.1, 0.06, 0.0], [-0.1, 0.06, 0.001], [-0.1, -0.06, 0.0], [0.1, -0.06, 0.0]];
        let square = [[0.1, 0.1, 0.0], [-0.1, 0.1, 0.0], [-0.1, -0.1, 0.0], [0.1, -0.1, 0.0]];
        let half = 0.75f64.sqrt() * 0.1;
        let triangle = [[0.1, 0.0, 0.0], [-0.05, -half, 0.0], [-0.05, half, 0.0]];
        let scattered = [
            [0.1, 0.02, 0.0],
            [-0.07, 0.05, 0.01],
            [0.0, -0.06, 0.0],
            [0.03, 0.01, 0.0],
            [0.098, 0.06, 0.0],
        ];
        let edges = IsotropicFootprint::Edges;
        vec![
            ("rectangle", points(&rectangle), normal, edges),
            ("square", points(&square), normal, edges),
            ("corners", points(&square), normal, IsotropicFootprint::Corners),
            ("triangle", points(&triangle), normal, edges),
            ("scattered", points(&scattered), normal, edges),
            (
                "along x",
                points(&scattered).iter().map(|p| turn.tr_mul(p)).collect(),
                Vector3::x(),
                edges,
            ),
            ("one", points(&scattered[..1]), normal, edges),
            ("two", points(&scattered[..2]), normal, edges),
        ]
    }

    #[test]
    fn pullback_is_the_derivative_by_jets_for_every_kind_of_axis() {
        let bars = [Vector3::new(0.3, -0.7, 0.4), Vector3::new(-0.2, 0.5, 0.9)];
        for (name, points, normal, footprint) in regions() {
            let found = pull_anchors(&points, &normal, (0.2, footprint), &bars);
            for moved in 0..=points.len() {
                let mut jets: Vec<Vector3<Jet<3>>> =
                    points.iter().chain([&normal]).map(lift).collect();
                (0..3).for_each(|k| jets[moved][k].eps[k] = 1.0);
                let (own, n) = jets.split_at(points.len());
                let places = anchors(own, &n[0], 0.2, footprint).unwrap();
                let mut by = Vector3::zeros();
                for (p, bar) in places.points().iter().zip(&bars) {
                    by +=
                        Vector3::from_fn(|k, _| (0..3).map(|c| p[c].eps[k] * bar[c]).sum::<f64>());
                }
                let pulled = found.points.get(moved).unwrap_or(&found.normal);
                assert!(
                    (pulled - by).norm() < 1e-13 * by.norm().max(1.0),
                    "{name} {moved}: {pulled:?} {by:?}"
                );
            }
        }
    }
}
