//! Convex hulls: triangles of parry's hull, coplanar ones joined to faces.

use super::feature::Plane;
use super::polytope::Polytope;
use crate::GeometryError;
use nalgebra::Vector3;
use parry3d_f64::math::Vector;
use std::collections::{BTreeMap, BTreeSet};

/// Normals of one face agree to this cosine.
const COPLANAR: f64 = 1.0 - 1e-10;
/// A hull thinner than this part of its size has no volume.
const THINNEST: f64 = 1e-9;

impl Polytope {
    /// The convex hull of points.
    ///
    /// # Errors
    /// Where the points span no volume.
    pub fn hull(points: &[Vector3<f64>]) -> Result<Self, GeometryError> {
        let given: Vec<_> = points.iter().map(|x| Vector::new(x.x, x.y, x.z)).collect();
        let flat = GeometryError::NoHull { points: points.len() };
        let finite = points.iter().all(|x| x.iter().all(|c| c.is_finite()));
        if points.len() < 4 || !finite {
            return Err(flat);
        }
        let Ok((vertices, triangles)) = parry3d_f64::transformation::try_convex_hull(&given) else {
            return Err(flat);
        };
        let vertices: Vec<_> = vertices.iter().map(|v| Vector3::new(v.x, v.y, v.z)).collect();
        let triangles: Vec<_> = triangles.iter().map(|t| t.map(|i| i as usize)).collect();
        join(vertices, &triangles).ok_or(flat)
    }
}

/// Joins coplanar triangles; `None` where a face has no simple border.
fn join(vertices: Vec<Vector3<f64>>, triangles: &[[usize; 3]]) -> Option<Polytope> {
    let normal = |t: &[usize; 3]| {
        let [a, b, c] = t.map(|i| vertices[i]);
        (b - a).cross(&(c - a)).try_normalize(0.0)
    };
    let normals = triangles.iter().map(normal).collect::<Option<Vec<_>>>()?;
    let mut loops = Vec::new();
    let mut done = vec![false; triangles.len()];
    for first in 0..triangles.len() {
        if done[first] {
            continue;
        }
        // Half-edges of the face whose opposite belongs to another face.
        let mut rim = BTreeSet::new();
        for (t, triangle) in triangles.iter().enumerate() {
            if done[t] || normals[t].dot(&normals[first]) < COPLANAR {
                continue;
            }
            done[t] = true;
            let [a, b, c] = *triangle;
            for (i, j) in [(a, b), (b, c), (c, a)] {
                if !rim.remove(&(j, i)) {
                    rim.insert((i, j));
                }
            }
        }
        loops.push(border(&vertices, &rim.into_iter().collect())?);
    }
    let hull = renumbered(&vertices, loops);
    // Parry returns two-sided sheets for flat points.
    let deepest = |plane: &Plane| {
        let depths = hull.vertices.iter().map(|v| plane.offset - plane.normal.dot(v));
        depths.fold(0.0, f64::max)
    };
    let size = hull.vertices.iter().map(|v| (v - hull.center).norm()).fold(0.0, f64::max);
    let solid = hull.faces.iter().all(|f| deepest(&f.plane) > THINNEST * size);
    solid.then_some(hull)
}

/// The border in order, without corners in the middle of a straight side.
fn border(vertices: &[Vector3<f64>], next: &BTreeMap<usize, usize>) -> Option<Vec<usize>> {
    let start = *next.keys().next()?;
    let mut corners = vec![start];
    let mut at = *next.get(&start)?;
    while at != start {
        corners.push(at);
        at = *next.get(&at)?;
        if corners.len() > next.len() {
            return None;
        }
    }
    let n = corners.len();
    let bent = |k: usize| {
        let [a, b, c] = [(k + n - 1) % n, k, (k + 1) % n].map(|i| vertices[corners[i]]);
        let (p, q) = ((b - a).normalize(), (c - b).normalize());
        p.cross(&q).norm() > 1e-9
    };
    let kept: Vec<_> = (0..n).filter(|&k| bent(k)).map(|k| corners[k]).collect();
    (kept.len() >= 3).then_some(kept)
}

/// Only the vertices that faces use.
fn renumbered(vertices: &[Vector3<f64>], mut loops: Vec<Vec<usize>>) -> Polytope {
    let mut used: Vec<usize> = loops.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    for corner in loops.iter_mut().flatten() {
        *corner = used.partition_point(|&u| u < *corner);
    }
    Polytope::from_loops(used.iter().map(|&i| vertices[i]).collect(), loops)
}
