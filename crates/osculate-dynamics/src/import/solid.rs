//! Mass properties of solids, and of bodies made of several.
//!
//! ```text
//! m = Σ m_i,   c = Σ m_i c_i / m,   I = Σ R_i I_i R_iᵀ + m_i (|d_i|² 1 − d_i d_iᵀ),   d_i = c_i − c
//! ```

use super::description::GeometryShape;
use crate::articulated::LinkInertia;
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::GeometryError;
use osculate_geometry::mass::MassProperties;
use osculate_math::se3::Pose;
use std::f64::consts::PI;

/// Volume of a shape \[m³\], and its mass properties at mass `1 kg` about its own origin; `None` of a half-space.
pub(super) fn unit_mass(
    shape: &GeometryShape,
) -> Result<Option<(f64, LinkInertia)>, GeometryError> {
    let about_origin = |volume: f64, moments: Vector3<f64>| {
        let inertia = Matrix3::from_diagonal(&moments);
        Some((volume, LinkInertia { mass: 1.0, center: Vector3::zeros(), inertia }))
    };
    Ok(match shape {
        GeometryShape::Plane => None,
        GeometryShape::Sphere { radius: r } => {
            about_origin(4.0 / 3.0 * PI * r * r * r, Vector3::repeat(0.4 * r * r))
        }
        GeometryShape::Box { half_extents: h } => {
            let square = h.component_mul(h);
            about_origin(8.0 * h.product(), (Vector3::repeat(square.sum()) - square) / 3.0)
        }
        GeometryShape::Ellipsoid { half_axes: h } => {
            let square = h.component_mul(h);
            let moments = (Vector3::repeat(square.sum()) - square) / 5.0;
            about_origin(4.0 / 3.0 * PI * h.product(), moments)
        }
        GeometryShape::Cylinder { radius: r, half_length: h } => {
            let across = r * r / 4.0 + h * h / 3.0;
            about_origin(2.0 * PI * r * r * h, Vector3::new(across, across, r * r / 2.0))
        }
        GeometryShape::Capsule { radius, half_length } => {
            let (volume, moments) = capsule(*radius, *half_length);
            about_origin(volume, moments)
        }
        GeometryShape::Mesh(mesh) => {
            let one = MassProperties::of_mesh_with_mass(&mesh.mesh, 1.0)?;
            Some((mesh.mesh.signed_volume(), one.into()))
        }
    })
}

/// Volume and moments at mass 1 of a cylinder of length `2h` between two half balls, whose centres of mass are
/// `h + 3r/8` away: `I_across = m_b (2r²/5 + h² + 3hr/4)` for the two.
fn capsule(r: f64, h: f64) -> (f64, Vector3<f64>) {
    let (cylinder, balls) = (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r * r * r);
    let volume = cylinder + balls;
    let (c, b) = (cylinder / volume, balls / volume);
    let across = c * (r * r / 4.0 + h * h / 3.0) + b * (0.4 * r * r + h * h + 0.75 * h * r);
    let along = c * r * r / 2.0 + b * 0.4 * r * r;
    (volume, Vector3::new(across, across, along))
}

/// The same body of another mass.
pub(super) fn with_mass(unit: &LinkInertia, mass: f64) -> LinkInertia {
    LinkInertia { mass, center: unit.center, inertia: unit.inertia * mass }
}

/// The same body placed in another frame.
pub(super) fn placed(body: &LinkInertia, pose: &Pose) -> LinkInertia {
    let r = &pose.rotation;
    LinkInertia {
        mass: body.mass,
        center: pose.transform_point(&body.center),
        inertia: symmetric(&(r * body.inertia * r.transpose())),
    }
}

/// Bodies of one frame as one.
pub(super) fn sum(bodies: &[LinkInertia]) -> LinkInertia {
    let mass: f64 = bodies.iter().map(|b| b.mass).sum();
    if mass <= 0.0 {
        return LinkInertia::massless();
    }
    let center = bodies.iter().map(|b| b.center * (b.mass / mass)).sum::<Vector3<f64>>();
    let inertia = bodies.iter().fold(Matrix3::zeros(), |total, b| {
        let d = b.center - center;
        let shifted = Matrix3::identity() * d.norm_squared() - d * d.transpose();
        total + b.inertia + shifted * b.mass
    });
    LinkInertia { mass, center, inertia }
}

/// The symmetric part.
pub(super) fn symmetric(m: &Matrix3<f64>) -> Matrix3<f64> {
    (m + m.transpose()) * 0.5
}

/// What became of principal moments that no body has.
pub(super) enum Moments {
    /// They are possible.
    Fine,
    /// The largest exceeded the sum of the others by a little, and was lowered to it.
    Lowered(Matrix3<f64>, f64),
    /// They are impossible.
    Impossible,
}

/// How far the largest moment may exceed the sum of the others and still be rounding of a file, relative.
const ROUNDED: f64 = 0.01;

/// Checks the triangle inequality of principal moments; what files with few digits violate is lowered.
pub(super) fn moments(inertia: &Matrix3<f64>) -> Moments {
    if inertia.iter().any(|x| !x.is_finite()) {
        return Moments::Impossible;
    }
    let parts = inertia.symmetric_eigen();
    let mut values = parts.eigenvalues;
    let largest = values.imax();
    let others = values.sum() - values[largest];
    let excess = values[largest] - others;
    if excess <= 1e-11 * values[largest] && values.min() >= 0.0 {
        return Moments::Fine;
    }
    if values.min() < 0.0 || excess > ROUNDED * values[largest] {
        return Moments::Impossible;
    }
    let relative = excess / values[largest];
    values[largest] = others;
    let q = parts.eigenvectors;
    Moments::Lowered(symmetric(&(q * Matrix3::from_diagonal(&values) * q.transpose())), relative)
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::so3;

    fn numbers(shape: &GeometryShape) -> (f64, LinkInertia) {
        unit_mass(shape).unwrap().unwrap()
    }

    /// `∫ρ` over thin slices across z of a body of revolution: volume, along, across at unit mass.
    fn slices(radius: impl Fn(f64) -> f64, end: f64) -> (f64, f64, f64) {
        let n = 200_000;
        let dz = 2.0 * end / f64::from(n);
        let (mut volume, mut along, mut across) = (0.0, 0.0, 0.0);
        for i in 0..n {
            let z = -end + (f64::from(i) + 0.5) * dz;
            let area = PI * radius(z).powi(2);
            volume += area * dz;
            along += area * dz * radius(z).powi(2) / 2.0;
            across += area * dz * (radius(z).powi(2) / 4.0 + z * z);
        }
        (volume, along / volume, across / volume)
    }

    #[test]
    fn bodies_of_revolution_have_the_moments_of_their_slices() {
        let (r, h) = (0.3, 0.7);
        let round = |z: f64| (r * r - (z.abs() - h).max(0.0).powi(2)).max(0.0).sqrt();
        let cases = [
            (GeometryShape::Capsule { radius: r, half_length: h }, slices(round, h + r)),
            (GeometryShape::Cylinder { radius: r, half_length: h }, slices(|_| r, h)),
            (
                GeometryShape::Ellipsoid { half_axes: Vector3::new(r, r, h) },
                slices(|z| r * (1.0 - (z / h).powi(2)).max(0.0).sqrt(), h),
            ),
            (GeometryShape::Sphere { radius: r }, slices(|z| (r * r - z * z).max(0.0).sqrt(), r)),
        ];
        for (shape, (volume, along, across)) in cases {
            let (found, unit) = numbers(&shape);
            assert!((found - volume).abs() < 1e-9, "{shape:?}: {found} for {volume}");
            let expected = Vector3::new(across, across, along);
            assert!((unit.inertia.diagonal() - expected).norm() < 1e-9, "{shape:?}: {unit:?}");
        }
    }

    #[test]
    fn capsule_without_length_is_a_ball() {
        let capsule = numbers(&GeometryShape::Capsule { radius: 0.2, half_length: 0.0 });
        let ball = numbers(&GeometryShape::Sphere { radius: 0.2 });
        assert!((capsule.0 - ball.0).abs() < 1e-16);
        assert!((capsule.1.inertia - ball.1.inertia).norm() < 1e-16);
    }

    #[test]
    fn two_boxes_side_by_side_are_the_box_of_both() {
        let half = GeometryShape::Box { half_extents: Vector3::new(0.1, 0.3, 0.2) };
        let whole = GeometryShape::Box { half_extents: Vector3::new(0.2, 0.3, 0.2) };
        let pose = Pose {
            position: Vector3::new(1.0, -2.0, 0.5),
            rotation: so3::exp(&Vector3::new(0.4, -0.2, 1.0)),
        };
        let parts = [-0.1, 0.1].map(|x| {
            let local = Pose { position: Vector3::new(x, 0.0, 0.0), ..Pose::identity() };
            placed(&placed(&with_mass(&numbers(&half).1, 1.5), &local), &pose)
        });
        let (sum, whole) = (sum(&parts), placed(&with_mass(&numbers(&whole).1, 3.0), &pose));
        assert!((sum.mass - 3.0).abs() < 1e-15);
        assert!((sum.center - whole.center).norm() < 1e-14);
        assert!((sum.inertia - whole.inertia).norm() < 1e-14);
    }

    #[test]
    fn moments_a_little_beyond_the_triangle_inequality_are_lowered_to_it() {
        let turn = so3::exp(&Vector3::new(0.3, 0.2, -0.9));
        let turned = |x, y, z| {
            symmetric(&(turn * Matrix3::from_diagonal(&Vector3::new(x, y, z)) * turn.transpose()))
        };
        assert!(matches!(moments(&turned(1.0, 2.0, 3.0)), Moments::Fine));
        assert!(matches!(moments(&turned(1.0, 2.0, 3.1)), Moments::Impossible));
        assert!(matches!(moments(&turned(1.0, 2.0, -1e-9)), Moments::Impossible));
        let Moments::Lowered(lowered, by) = moments(&turned(1.0, 2.0, 3.003)) else {
            panic!("not lowered")
        };
        assert!((by - 0.003 / 3.003).abs() < 1e-12);
        assert!((lowered - turned(1.0, 2.0, 3.0)).norm() < 1e-14);
    }
}
