//! Mass, centre of mass and inertia of a rigid body.
//!
//! ```text
//! m = ∫ρ dV,   c = ∫ρ X dV / m,   J = ∫ρ r rᵀ dV,   I = tr(J)·1 − J,   r = X − c
//! ```

use crate::GeometryError;
use crate::mesh::{TriangleMesh, check_positive};
use nalgebra::{Matrix3, Vector3};

/// Largest violation of symmetry, positivity and triangle inequality that passes as rounding, relative to the largest
/// entry or principal moment. Rods and plates lie exactly on the boundary.
const ROUNDING: f64 = 1e-10;

/// Mass properties of a rigid body in its local coordinates.
///
/// The inertia is about the *centre of mass*, along the local axes, and is a tensor: off the diagonal stand minus the
/// products of inertia, `I_xy = −∫ρ r_x r_y dV`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    mass: f64,
    center_of_mass: Vector3<f64>,
    inertia: Matrix3<f64>,
}

impl MassProperties {
    /// Mass `[kg]`, centre of mass `[m]` and inertia tensor about it `[kg·m²]`.
    ///
    /// Rounding up to 10⁻¹⁰ of the largest entry is forgiven, and the symmetric part is kept. Moments may be zero, as of
    /// a rod about itself or of a point.
    ///
    /// # Errors
    /// Where the mass is not positive, a number is not finite, the inertia is not symmetric, a principal moment is
    /// negative, or one exceeds the sum of the other two.
    pub fn new(
        mass: f64,
        center_of_mass: Vector3<f64>,
        inertia: Matrix3<f64>,
    ) -> Result<Self, GeometryError> {
        check_positive("mass", mass)?;
        check_finite("coordinate of the centre of mass", center_of_mass.iter())?;
        check_finite("entry of the inertia", inertia.iter())?;
        let largest = inertia.amax();
        for (row, column) in [(0, 1), (0, 2), (1, 2)] {
            let (found, mirror) = (inertia[(row, column)], inertia[(column, row)]);
            if (found - mirror).abs() > ROUNDING * largest {
                return Err(GeometryError::AsymmetricInertia { row, column, found, mirror });
            }
        }
        let inertia = (inertia + inertia.transpose()) * 0.5;
        check_moments(&inertia)?;
        Ok(Self { mass, center_of_mass, inertia })
    }

    /// Exact properties of the homogeneous body inside a closed mesh, of a density `[kg/m³]`.
    ///
    /// # Errors
    /// Where the density is not positive and finite, or the mesh is open or faces inwards.
    pub fn of_mesh(mesh: &TriangleMesh, density: f64) -> Result<Self, GeometryError> {
        check_positive("density", density)?;
        let (volume, center, inertia) = volume_moments(mesh)?;
        Self::new(density * volume, center, inertia * density)
    }

    /// Exact properties of the homogeneous body inside a closed mesh, of a total mass `[kg]`.
    ///
    /// # Errors
    /// Where the mass is not positive and finite, or the mesh is open or faces inwards.
    pub fn of_mesh_with_mass(mesh: &TriangleMesh, mass: f64) -> Result<Self, GeometryError> {
        check_positive("mass", mass)?;
        let (volume, center, inertia) = volume_moments(mesh)?;
        Self::new(mass, center, inertia * (mass / volume))
    }

    /// Homogeneous box about the local origin: `I_x = m (h_y² + h_z²)/3`, and so on.
    ///
    /// * `mass`: `[kg]`.
    /// * `half_extents`: `h` `[m]`, along the local axes.
    ///
    /// # Errors
    /// Where a number is not positive and finite.
    pub fn cuboid(mass: f64, half_extents: &Vector3<f64>) -> Result<Self, GeometryError> {
        half_extents.iter().try_for_each(|&x| check_positive("half extent of a box", x))?;
        let square = half_extents.component_mul(half_extents);
        let diagonal = (Vector3::repeat(square.sum()) - square) * (mass / 3.0);
        Self::new(mass, Vector3::zeros(), Matrix3::from_diagonal(&diagonal))
    }

    /// Homogeneous ball about the local origin: `I = ⅖ m r²`.
    ///
    /// * `mass`: `[kg]`.
    /// * `radius`: `r` `[m]`.
    ///
    /// # Errors
    /// Where a number is not positive and finite.
    pub fn sphere(mass: f64, radius: f64) -> Result<Self, GeometryError> {
        check_positive("radius of a sphere", radius)?;
        let moment = 0.4 * mass * radius * radius;
        Self::new(mass, Vector3::zeros(), Matrix3::from_diagonal_element(moment))
    }

    /// Homogeneous cylinder about the local origin, its axis along z: `I_z = ½ m r²`, `I_x = I_y = m (r²/4 + h²/3)`.
    ///
    /// * `mass`: `[kg]`.
    /// * `radius`, `half_height`: `r`, `h` `[m]`.
    ///
    /// # Errors
    /// Where a number is not positive and finite.
    pub fn cylinder(mass: f64, radius: f64, half_height: f64) -> Result<Self, GeometryError> {
        check_positive("radius of a cylinder", radius)?;
        check_positive("half height of a cylinder", half_height)?;
        let square = mass * radius * radius;
        let across = square / 4.0 + mass * half_height * half_height / 3.0;
        let moments = Vector3::new(across, across, square / 2.0);
        Self::new(mass, Vector3::zeros(), Matrix3::from_diagonal(&moments))
    }

    /// Mass `m` `[kg]`.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Centre of mass `c` `[m]`, local coordinates.
    pub fn center_of_mass(&self) -> Vector3<f64> {
        self.center_of_mass
    }

    /// Inertia tensor `I` `[kg·m²]` about the centre of mass, local axes.
    pub fn inertia(&self) -> Matrix3<f64> {
        self.inertia
    }

    /// Second moment `J = ∫ρ r rᵀ dV = ½ tr(I)·1 − I` `[kg·m²]` about the centre of mass, local axes.
    pub fn second_moment(&self) -> Matrix3<f64> {
        inertia_from_moment(&self.inertia, 0.5)
    }
}

/// `factor · tr(A)·1 − A`: inertia from second moment with 1, second moment from inertia with ½.
fn inertia_from_moment(a: &Matrix3<f64>, factor: f64) -> Matrix3<f64> {
    Matrix3::from_diagonal_element(factor * a.trace()) - a
}

/// Volume `[m³]`, centroid `[m]` and inertia of unit density about it `[m⁵]`.
///
/// Sum over signed tetrahedra `(o, a, b, c)` with `D = a·(b × c)`, corners relative to `o`:
/// `V = D/6`, `∫x = D (a+b+c)/24`, `∫xxᵀ = D [(a+b+c)(a+b+c)ᵀ + aaᵀ + bbᵀ + ccᵀ]/120`.
fn volume_moments(mesh: &TriangleMesh) -> Result<(f64, Vector3<f64>, Matrix3<f64>), GeometryError> {
    mesh.check_closed()?;
    // About the mean of the vertices and not the origin: a small body far away keeps its digits.
    let vertices = mesh.vertices();
    let origin = vertices.iter().sum::<Vector3<f64>>() / vertices.len() as f64;
    let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for triangle in 0..mesh.triangles().len() {
        let [a, b, c] = mesh.corners(triangle).map(|x| x - origin);
        let d = a.dot(&b.cross(&c));
        let sum = a + b + c;
        let squares = [sum, a, b, c].iter().map(|x| x * x.transpose()).sum::<Matrix3<f64>>();
        volume += d / 6.0;
        first += sum * (d / 24.0);
        second += squares * (d / 120.0);
    }
    check_positive("volume of a mesh, which is negative where triangles face inwards,", volume)?;
    let center = first / volume;
    let central = second - center * center.transpose() * volume;
    Ok((volume, origin + center, inertia_from_moment(&central, 1.0)))
}

fn check_finite<'a>(
    quantity: &'static str,
    mut numbers: impl Iterator<Item = &'a f64>,
) -> Result<(), GeometryError> {
    match numbers.find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(&found) => Err(GeometryError::Quantity { quantity, found, allowed: "finite" }),
    }
}

fn check_moments(inertia: &Matrix3<f64>) -> Result<(), GeometryError> {
    let mut found: [f64; 3] = inertia.symmetric_eigenvalues().into();
    found.sort_by(f64::total_cmp);
    let allowance = ROUNDING * found[2].abs().max(found[0].abs());
    if found[0] < -allowance || found[2] > found[0] + found[1] + allowance {
        return Err(GeometryError::PrincipalMoments { found });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::{se3::Pose, so3};

    const H: Vector3<f64> = Vector3::new(0.3, 0.2, 0.5);

    fn close(a: &MassProperties, b: &MassProperties, tolerance: f64) -> bool {
        (a.mass - b.mass).abs() < tolerance
            && (a.center_of_mass - b.center_of_mass).norm() < tolerance
            && (a.inertia - b.inertia).norm() < tolerance
    }

    #[test]
    fn mesh_of_a_box_has_the_properties_of_the_box() {
        let exact = MassProperties::cuboid(1.7, &H).unwrap();
        for n in 1..4 {
            let mesh = TriangleMesh::refined_cuboid(&H, n).unwrap();
            assert!(close(&MassProperties::of_mesh_with_mass(&mesh, 1.7).unwrap(), &exact, 1e-15));
            let density = 1.7 / (8.0 * H.x * H.y * H.z);
            assert!(close(&MassProperties::of_mesh(&mesh, density).unwrap(), &exact, 2e-15));
        }
    }

    #[test]
    fn moved_box_keeps_its_inertia_about_the_centre_and_turns_it() {
        let exact = MassProperties::cuboid(1.0, &H).unwrap();
        let rotation = so3::exp(&Vector3::new(0.3, -1.1, 0.8));
        let position = Vector3::new(10.0, -20.0, 30.0);
        let mesh = TriangleMesh::cuboid(&H).unwrap();
        let moved = mesh.transformed(&Pose { position, rotation }).unwrap();
        let found = MassProperties::of_mesh_with_mass(&moved, 1.0).unwrap();
        let inertia = rotation * exact.inertia * rotation.transpose();
        let turned = MassProperties::new(1.0, position, inertia).unwrap();
        assert!(close(&found, &turned, 1e-13), "{found:?} for {turned:?}");
    }

    /// Two boxes side by side are one: `I = Σ I_i + m_i (|d_i|² 1 − d_i d_iᵀ)`.
    #[test]
    fn halves_of_a_box_add_up_by_the_parallel_axis_theorem() {
        let whole = MassProperties::cuboid(2.0, &H).unwrap();
        let half = TriangleMesh::cuboid(&Vector3::new(H.x / 2.0, H.y, H.z)).unwrap();
        let mut inertia = Matrix3::zeros();
        for side in [-1.0, 1.0] {
            let position = Vector3::new(side * H.x / 2.0, 0.0, 0.0);
            let placed = Pose { position, rotation: Matrix3::identity() };
            let part = MassProperties::of_mesh_with_mass(&half.transformed(&placed).unwrap(), 1.0)
                .unwrap();
            let d = part.center_of_mass;
            assert!((d - position).norm() < 1e-16);
            inertia += part.inertia + inertia_from_moment(&(d * d.transpose() * part.mass), 1.0);
        }
        assert!((inertia - whole.inertia).norm() < 1e-15);
    }

    /// Corners 0, e_x, e_y, e_z: `c = ¼(1,1,1)`, `J_ii = m 3/80`, `J_ij = −m/80`, so `I_ii = m 3/40`, `I_ij = m/80`.
    #[test]
    fn tetrahedron_has_the_inertia_of_its_closed_form() {
        let mesh = TriangleMesh::new(
            vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()],
            vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        )
        .unwrap();
        let found = MassProperties::of_mesh(&mesh, 6.0).unwrap();
        let inertia = Matrix3::from_fn(|i, j| if i == j { 3.0 / 40.0 } else { 1.0 / 80.0 });
        let exact = MassProperties::new(1.0, Vector3::repeat(0.25), inertia).unwrap();
        assert!(close(&found, &exact, 1e-15), "{found:?}");
        let moment = Matrix3::from_fn(|i, j| if i == j { 3.0 / 80.0 } else { -1.0 / 80.0 });
        assert!((found.second_moment() - moment).norm() < 1e-15);
    }

    #[test]
    fn icosphere_tends_to_the_ball_at_second_order() {
        let ball = MassProperties::sphere(2.0, 0.3).unwrap();
        let defects: Vec<f64> = (1..5)
            .map(|s| {
                let mesh = TriangleMesh::icosphere(0.3, s).unwrap();
                let found = MassProperties::of_mesh_with_mass(&mesh, 2.0).unwrap();
                assert!(found.center_of_mass.norm() < 1e-15);
                (found.inertia - ball.inertia).norm()
            })
            .collect();
        for pair in defects.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((order - 2.0).abs() < 0.1, "order {order}");
        }
    }

    #[test]
    fn product_of_inertia_has_a_minus_sign() {
        let a = Vector3::new(1.0, 1.0, 0.0) / 2f64.sqrt();
        let rod = inertia_from_moment(&(a * a.transpose()), 1.0);
        assert!((rod[(0, 1)] + 0.5).abs() < 1e-15);
    }

    #[test]
    fn rods_plates_and_points_are_on_the_boundary_and_pass() {
        let turn = so3::exp(&Vector3::new(0.3, 0.2, -0.9));
        for moments in [[0.0, 1.0, 1.0], [1.0, 2.0, 3.0], [0.0; 3]] {
            let inertia = turn * Matrix3::from_diagonal(&Vector3::from(moments)) * turn.transpose();
            assert!(MassProperties::new(1.0, Vector3::zeros(), inertia).is_ok(), "{moments:?}");
        }
    }

    #[test]
    fn impossible_bodies_are_refused() {
        let o = Vector3::zeros();
        let diagonal = |x, y, z| Matrix3::from_diagonal(&Vector3::new(x, y, z));
        for mass in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(MassProperties::new(mass, o, Matrix3::identity()).is_err());
            assert!(MassProperties::cuboid(mass, &H).is_err());
            assert!(MassProperties::sphere(mass, 1.0).is_err());
        }
        assert!(MassProperties::new(1.0, o * f64::NAN, Matrix3::identity()).is_err());
        assert!(MassProperties::new(1.0, o, Matrix3::identity() * f64::INFINITY).is_err());
        assert!(MassProperties::cuboid(1.0, &-H).is_err());
        assert!(MassProperties::sphere(1.0, 0.0).is_err());
        for impossible in [diagonal(1.0, 1.0, -1.0), diagonal(1.0, 1.0, 2.001)] {
            assert!(matches!(
                MassProperties::new(1.0, o, impossible),
                Err(GeometryError::PrincipalMoments { .. })
            ));
        }
        let mut skewed = Matrix3::identity();
        skewed[(0, 2)] = 1e-3;
        assert!(matches!(
            MassProperties::new(1.0, o, skewed),
            Err(GeometryError::AsymmetricInertia { row: 0, column: 2, .. })
        ));
    }

    #[test]
    fn open_and_inside_out_meshes_have_no_mass() {
        let mesh = TriangleMesh::cuboid(&H).unwrap();
        let mut triangles = mesh.triangles().to_vec();
        triangles.pop();
        let open = TriangleMesh::new(mesh.vertices().to_vec(), triangles).unwrap();
        assert!(matches!(
            MassProperties::of_mesh(&open, 1.0),
            Err(GeometryError::NotClosed { .. })
        ));
        let triangles = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
        let inside_out = TriangleMesh::new(mesh.vertices().to_vec(), triangles).unwrap();
        for result in [
            MassProperties::of_mesh(&inside_out, 1.0),
            MassProperties::of_mesh_with_mass(&inside_out, 1.0),
        ] {
            assert!(matches!(result, Err(GeometryError::Quantity { found, .. }) if found < 0.0));
        }
    }
}
