//! The point of a triangle that is nearest to a point, and the feature it lies on.
//!
//! Regions of the plane of a triangle after Ericson, *Real-Time Collision Detection* (2005), §5.1.5.

use nalgebra::Vector3;

/// The part of a triangle that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// Its interior.
    Face,
    /// The edge from corner `k` to corner `k + 1`.
    Edge(u8),
    /// Corner `k`.
    Corner(u8),
}

/// What a query needs of a triangle `(a, b, c)`, computed once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triangle {
    a: Vector3<f64>,
    /// `b − a`.
    ab: Vector3<f64>,
    /// `c − a`.
    ac: Vector3<f64>,
    normal: Vector3<f64>,
    /// `ab·ab`, `ab·ac`, `ac·ac`.
    products: [f64; 3],
}

impl Triangle {
    pub(super) fn new([a, b, c]: [Vector3<f64>; 3]) -> Self {
        let (ab, ac) = (b - a, c - a);
        let products = [ab.dot(&ab), ab.dot(&ac), ac.dot(&ac)];
        Self { a, ab, ac, normal: ab.cross(&ac).normalize(), products }
    }

    /// Squared distance of a point (m²) and the nearest part, or `None` where the plane alone is at least
    /// `limit` (m²) away.
    #[inline]
    pub(super) fn closest(&self, point: &Vector3<f64>, limit: f64) -> Option<(f64, Region)> {
        let arm = point - self.a;
        let height = self.normal.dot(&arm);
        let height = height * height;
        if height >= limit {
            return None;
        }
        let (d1, d2) = (self.ab.dot(&arm), self.ac.dot(&arm));
        let [bb, bc, cc] = self.products;
        if d1 <= 0.0 && d2 <= 0.0 {
            return Some((arm.norm_squared(), Region::Corner(0)));
        }
        let (d3, d4) = (d1 - bb, d2 - bc);
        if d3 >= 0.0 && d4 <= d3 {
            return Some(((arm - self.ab).norm_squared(), Region::Corner(1)));
        }
        if d1 * d4 - d3 * d2 <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            return Some(((arm - self.ab * (d1 / bb)).norm_squared(), Region::Edge(0)));
        }
        let (d5, d6) = (d1 - bc, d2 - cc);
        if d6 >= 0.0 && d5 <= d6 {
            return Some(((arm - self.ac).norm_squared(), Region::Corner(2)));
        }
        if d5 * d2 - d1 * d6 <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            return Some(((arm - self.ac * (d2 / cc)).norm_squared(), Region::Edge(2)));
        }
        let (to_c, to_b) = (d4 - d3, d5 - d6);
        if d3 * d6 - d5 * d4 <= 0.0 && to_c >= 0.0 && to_b >= 0.0 {
            let along = to_c / (to_c + to_b);
            let from_b = arm - self.ab;
            return Some(((from_b - (self.ac - self.ab) * along).norm_squared(), Region::Edge(1)));
        }
        Some((height, Region::Face))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nearest of many points of the triangle.
    fn by_scan(corners: [Vector3<f64>; 3], x: &Vector3<f64>) -> f64 {
        let n = 400;
        let mut best = f64::INFINITY;
        for i in 0..=n {
            for j in 0..=n - i {
                let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                let p = corners[0] * (1.0 - u - v) + corners[1] * u + corners[2] * v;
                best = best.min((p - x).norm_squared());
            }
        }
        best
    }

    #[test]
    fn nearest_point_is_the_best_of_all_points_in_every_region() {
        let corners = [
            Vector3::new(0.1, 0.0, 0.2),
            Vector3::new(1.0, 0.3, -0.1),
            Vector3::new(0.2, 0.9, 0.4),
        ];
        let triangle = Triangle::new(corners);
        let mut seen = Vec::new();
        for i in 0..9 {
            for j in 0..9 {
                let x = Vector3::new(-0.8 + 0.33 * f64::from(i), -0.8 + 0.31 * f64::from(j), 0.35);
                let (squared, region) = triangle.closest(&x, f64::INFINITY).unwrap();
                let scanned = by_scan(corners, &x);
                assert!(squared <= scanned + 1e-12, "{x:?}: {squared} against {scanned}");
                assert!(
                    scanned.sqrt() - squared.sqrt() < 4e-3,
                    "{x:?}: {squared} against {scanned}"
                );
                if !seen.contains(&region) {
                    seen.push(region);
                }
                // A limit below the answer must not be met.
                let limited = triangle.closest(&x, squared * 0.999);
                assert!(limited.is_none_or(|(found, _)| found >= squared * 0.999));
            }
        }
        assert_eq!(seen.len(), 7, "face, edges and corners: {seen:?}");
    }
}
