//! What every collider is checked for.

use super::*;
use osculate_math::check::{self, Law, Smoothness};

/// Φ and G as functions of the point (3) and of the dimensions (7).
struct FieldLaw(Collider);
impl Law<{ 3 + DIMENSIONS }, 4> for FieldLaw {
    fn value<T: Scalar>(&self, x: [T; 3 + DIMENSIONS]) -> [T; 4] {
        let collider = self.0.with_dimensions(&std::array::from_fn(|i| x[3 + i]));
        let field = collider.field(&Vector3::new(x[0], x[1], x[2]));
        [field.phi, field.gradient.x, field.gradient.y, field.gradient.z]
    }
}

/// Checks derivatives by point and dimensions, and that the stored gradient is the derivative of the value.
pub(crate) fn check_field(
    collider: &Collider,
    regime: &str,
    point: [f64; 3],
    smoothness: Smoothness,
) {
    let d = collider.dimensions();
    let x = std::array::from_fn(|i| if i < 3 { point[i] } else { d[i - 3] });
    check::gradients(
        &FieldLaw(collider.clone()),
        regime,
        x,
        [1e-3; 3 + DIMENSIONS],
        smoothness,
        1e-6,
    );
    let seeded = Vector3::from_fn(|i, _| Jet::<3>::variable(point[i], i));
    let field = collider.constant().field(&seeded);
    assert_eq!(field.phi, collider.constant().phi(&seeded), "{regime}");
    for i in 0..3 {
        assert!(
            (field.phi.eps[i] - field.gradient[i].re).abs() < 1e-14,
            "{regime}: the gradient is not the derivative of the distance"
        );
    }
}
