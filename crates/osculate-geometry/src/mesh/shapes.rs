//! The box of eight vertices and the sphere as meshes.

use super::TriangleMesh;
use crate::GeometryError;
use nalgebra::Vector3;
use std::collections::HashMap;

/// The most subdivisions of a sphere: five million triangles.
const MOST_SUBDIVISIONS: usize = 9;

/// Triangles of a box whose vertex `4x + 2y + z` is at the upper end of the axes where x, y, z are 1.
const CUBOID: [[usize; 3]; 12] = [
    [0, 1, 3],
    [0, 3, 2],
    [4, 6, 7],
    [4, 7, 5],
    [0, 4, 5],
    [0, 5, 1],
    [2, 3, 7],
    [2, 7, 6],
    [0, 2, 6],
    [0, 6, 4],
    [1, 5, 7],
    [1, 7, 3],
];

/// Triangles of a regular icosahedron with the vertices of [`icosahedron`].
const ICOSAHEDRON: [[usize; 3]; 20] = [
    [0, 11, 5],
    [0, 5, 1],
    [0, 1, 7],
    [0, 7, 10],
    [0, 10, 11],
    [1, 5, 9],
    [5, 11, 4],
    [11, 10, 2],
    [10, 7, 6],
    [7, 1, 8],
    [3, 9, 4],
    [3, 4, 2],
    [3, 2, 6],
    [3, 6, 8],
    [3, 8, 9],
    [4, 9, 5],
    [2, 4, 11],
    [6, 2, 10],
    [8, 6, 7],
    [9, 8, 1],
];

/// Corners of three golden rectangles in the xy, yz and zx planes.
fn icosahedron() -> Vec<Vector3<f64>> {
    let t = (1.0 + 5f64.sqrt()) / 2.0;
    let rectangle = [(-1.0, t), (1.0, t), (-1.0, -t), (1.0, -t)];
    let axes: [fn(f64, f64) -> Vector3<f64>; 3] = [
        |u, v| Vector3::new(u, v, 0.0),
        |u, v| Vector3::new(0.0, u, v),
        |u, v| Vector3::new(v, 0.0, u),
    ];
    axes.iter().flat_map(|place| rectangle.map(|(u, v)| place(u, v).normalize())).collect()
}

impl TriangleMesh {
    /// Box `|X_i| ≤ half_extents_i` `[m]` of 8 vertices and 12 triangles.
    ///
    /// # Errors
    /// Where a half extent is not positive and finite.
    pub fn cuboid(half_extents: &Vector3<f64>) -> Result<Self, GeometryError> {
        check_extents(half_extents)?;
        let corner = |i: usize| {
            let side = Vector3::new(i >> 2 & 1, i >> 1 & 1, i & 1);
            side.map(|s| 2.0 * s as f64 - 1.0).component_mul(half_extents)
        };
        Self::new((0..8).map(corner).collect(), CUBOID.to_vec())
    }

    /// Sphere of a radius `[m]` about the origin: an icosahedron whose triangles are cut in four `subdivisions`
    /// times, `20·4ˢ` triangles with all vertices on the sphere.
    ///
    /// The mesh is inscribed, so its area and volume are below those of the sphere, by a factor `1 − O(4⁻ˢ)`.
    ///
    /// # Errors
    /// Where the radius is not positive and finite, or there are more than 9 subdivisions.
    pub fn icosphere(radius: f64, subdivisions: usize) -> Result<Self, GeometryError> {
        check_positive("radius of a sphere", radius)?;
        if subdivisions > MOST_SUBDIVISIONS {
            return Err(GeometryError::Quantity {
                quantity: "number of subdivisions of a sphere",
                found: subdivisions as f64,
                allowed: "0..=9",
            });
        }
        let mut directions = icosahedron();
        let mut triangles = ICOSAHEDRON.to_vec();
        for _ in 0..subdivisions {
            triangles = subdivided(&mut directions, &triangles);
        }
        Self::new(directions.iter().map(|x| x * radius).collect(), triangles)
    }
}

/// Every triangle cut in four at the midpoints of its edges, which are pushed out to the unit sphere.
fn subdivided(directions: &mut Vec<Vector3<f64>>, triangles: &[[usize; 3]]) -> Vec<[usize; 3]> {
    let mut middles: HashMap<(usize, usize), usize> = HashMap::new();
    let mut middle = |i: usize, j: usize| {
        *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
            directions.push((directions[i] + directions[j]).normalize());
            directions.len() - 1
        })
    };
    let mut cut = Vec::with_capacity(4 * triangles.len());
    for &[a, b, c] in triangles {
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        cut.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    cut
}

pub(super) fn check_extents(half_extents: &Vector3<f64>) -> Result<(), GeometryError> {
    half_extents.iter().try_for_each(|&x| check_positive("half extent of a box", x))
}

pub(crate) fn check_positive(quantity: &'static str, found: f64) -> Result<(), GeometryError> {
    if found > 0.0 && found.is_finite() {
        Ok(())
    } else {
        Err(GeometryError::Quantity { quantity, found, allowed: "> 0 and finite" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn assert_outward(mesh: &TriangleMesh) {
        mesh.check_closed().unwrap();
        for i in 0..mesh.triangles().len() {
            let centre = mesh.corners(i).iter().sum::<Vector3<f64>>() / 3.0;
            assert!(mesh.face_normal(i).dot(&centre) > 0.0, "triangle {i} faces inwards");
        }
    }

    #[test]
    fn boxes_are_closed_and_have_area_and_volume_of_a_box() {
        let h = Vector3::new(0.5, 0.2, 1.3);
        let volume = 8.0 * h.x * h.y * h.z;
        let area = 8.0 * (h.x * h.y + h.y * h.z + h.z * h.x);
        let meshes = (1..5).map(|n| TriangleMesh::refined_cuboid(&h, n).unwrap());
        for mesh in meshes.chain([TriangleMesh::cuboid(&h).unwrap()]) {
            assert_outward(&mesh);
            assert!((mesh.area() - area).abs() < 1e-13);
            assert!((mesh.signed_volume() - volume).abs() < 1e-14);
        }
    }

    #[test]
    fn icosphere_is_closed_and_inscribed() {
        for s in 0..4 {
            let mesh = TriangleMesh::icosphere(0.7, s).unwrap();
            assert_outward(&mesh);
            assert_eq!(mesh.triangles().len(), 20 << (2 * s));
            assert_eq!(mesh.vertices().len(), (10 << (2 * s)) + 2);
            assert!(mesh.vertices().iter().all(|v| (v.norm() - 0.7).abs() < 1e-15));
        }
    }

    #[test]
    fn icosphere_converges_to_the_sphere_at_second_order() {
        let r = 0.7f64;
        let defects: Vec<_> = (2..6)
            .map(|s| {
                let mesh = TriangleMesh::icosphere(r, s).unwrap();
                let volume = 4.0 / 3.0 * PI * r.powi(3);
                let area = 4.0 * PI * r * r;
                (1.0 - mesh.signed_volume() / volume, 1.0 - mesh.area() / area)
            })
            .collect();
        for pair in defects.windows(2) {
            let (volume, area) = (pair[0].0 / pair[1].0, pair[0].1 / pair[1].1);
            assert!((volume - 4.0).abs() < 0.1, "volume defect falls by {volume} a subdivision");
            assert!((area - 4.0).abs() < 0.1, "area defect falls by {area} a subdivision");
        }
    }

    #[test]
    fn shapes_without_a_size_are_refused() {
        for x in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let h = Vector3::new(1.0, x, 1.0);
            assert!(TriangleMesh::cuboid(&h).is_err());
            assert!(TriangleMesh::refined_cuboid(&h, 2).is_err());
            assert!(TriangleMesh::icosphere(x, 2).is_err());
        }
        let h = Vector3::repeat(1.0);
        assert!(TriangleMesh::refined_cuboid(&h, 0).is_err());
        assert!(TriangleMesh::refined_cuboid(&h, usize::MAX).is_err());
        assert!(TriangleMesh::icosphere(1.0, usize::MAX).is_err());
    }
}
