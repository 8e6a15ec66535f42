//! Round shapes as triangles, their corners on the surface.

use crate::file::Triangles;
use nalgebra::Vector3;
use osculate_geometry::mesh::TriangleMesh;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Corners of a circle.
const CORNERS: usize = 16;
/// Rings of half a ball, without its pole.
const RINGS: usize = 4;

/// Capsule along z.
pub(super) fn capsule(radius: f64, half_length: f64) -> Triangles {
    let rings = (0..RINGS).map(|i| FRAC_PI_2 * i as f64 / RINGS as f64);
    let upper: Vec<[f64; 2]> =
        rings.map(|a| [radius * a.cos(), half_length + radius * a.sin()]).collect();
    let lower = upper.iter().rev().map(|[r, z]| [*r, -z]);
    let end = half_length + radius;
    revolved(&lower.chain(upper.iter().copied()).collect::<Vec<_>>(), end)
}

/// Cylinder along z.
pub(super) fn cylinder(radius: f64, half_length: f64) -> Triangles {
    revolved(&[[radius, -half_length], [radius, half_length]], half_length)
}

/// Ellipsoid along the axes.
pub(super) fn ellipsoid(half_axes: &Vector3<f64>) -> Triangles {
    let rings = (1 - RINGS as i32..RINGS as i32).map(|i| FRAC_PI_2 * f64::from(i) / RINGS as f64);
    let ball: Vec<[f64; 2]> = rings.map(|a| [a.cos(), a.sin()]).collect();
    let mut out = revolved(&ball, 1.0);
    for vertex in &mut out.vertices {
        *vertex = Vector3::from(*vertex).component_mul(half_axes).into();
    }
    out
}

/// The triangles of a mesh.
pub(super) fn of_mesh(mesh: &TriangleMesh) -> Triangles {
    let vertices = mesh.vertices().iter().map(|v| (*v).into()).collect();
    Triangles { vertices, triangles: mesh.triangles().to_vec() }
}

/// Rings of radius and height, from below to above, between two poles at ∓ `end`.
fn revolved(rings: &[[f64; 2]], end: f64) -> Triangles {
    let mut vertices = vec![[0.0, 0.0, -end]];
    for [radius, z] in rings {
        vertices.extend((0..CORNERS).map(|i| {
            let angle = TAU * i as f64 / CORNERS as f64;
            [radius * angle.cos(), radius * angle.sin(), *z]
        }));
    }
    vertices.push([0.0, 0.0, end]);
    let (top, last) = (vertices.len() - 1, rings.len() - 1);
    let at = |ring: usize, i: usize| 1 + ring * CORNERS + i % CORNERS;
    let mut triangles = Vec::new();
    for i in 0..CORNERS {
        triangles.push([0, at(0, i + 1), at(0, i)]);
        for ring in 0..last {
            let (a, b) = (at(ring, i), at(ring, i + 1));
            let (c, d) = (at(ring + 1, i + 1), at(ring + 1, i));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([at(last, i), at(last, i + 1), top]);
    }
    Triangles { vertices, triangles }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A regular polygon of `n` corners fills `n sin(2π/n)/(2π)` of its circle.
    #[test]
    fn facets_close_and_lie_within_the_round_shape() {
        let n = CORNERS as f64;
        let share = n * (TAU / n).sin() / TAU;
        let volume = |t: &Triangles| {
            let vertices = t.vertices.iter().map(|v| Vector3::from(*v)).collect();
            let mesh = TriangleMesh::new(vertices, t.triangles.clone()).unwrap();
            mesh.check_closed().unwrap();
            mesh.signed_volume()
        };
        let (r, h) = (0.3, 0.7);
        let exact = std::f64::consts::PI * r * r * 2.0 * h;
        assert!((volume(&cylinder(r, h)) - share * exact).abs() < 1e-14);
        let ball = 4.0 / 3.0 * std::f64::consts::PI * r * r * r;
        let found = volume(&capsule(r, h)) / (exact + ball);
        assert!(found < share && found > 0.9 * share, "{found}");
        let found = volume(&ellipsoid(&Vector3::new(0.1, 0.2, 0.3))) / (ball / r.powi(3) * 0.006);
        assert!(found < share && found > 0.9 * share, "{found}");
    }
}
