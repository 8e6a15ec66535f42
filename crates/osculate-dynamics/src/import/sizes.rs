//! Sizes that look like millimetres: neither format has units for lengths.

use super::description::{Description, GeometryShape};
use super::notes::{Note, Outcome};

/// A length above which the unit is doubted \[m\]. Meshes have a limit of their own.
const LARGEST: f64 = 10.0;

/// The largest extent \[m\]; none of a plane, and of a mesh, which is doubted as it is read.
fn extent(shape: &GeometryShape) -> Option<f64> {
    Some(
        2.0 * match shape {
            GeometryShape::Plane | GeometryShape::Mesh(_) => return None,
            GeometryShape::Sphere { radius } => *radius,
            GeometryShape::Box { half_extents } => half_extents.amax(),
            GeometryShape::Capsule { radius, half_length } => radius + half_length,
            GeometryShape::Cylinder { radius, half_length } => radius.max(*half_length),
            GeometryShape::Ellipsoid { half_axes } => half_axes.amax(),
        },
    )
}

/// Notes on links that are larger, or further from their parents. What the world is made of may be large.
pub(super) fn doubts(robot: &Description) -> Vec<Note> {
    let doubt = |line: usize, element: &str, what: String| Note {
        line,
        element: element.into(),
        attribute: None,
        outcome: Outcome::Doubtful,
        reason: format!("{what}: are its lengths in millimetres?"),
    };
    let mut notes = Vec::new();
    for link in &robot.links {
        let (line, element) = (link.spot.line, &link.spot.element);
        for geometry in &link.geometries {
            if let Some(size) = extent(&geometry.shape).filter(|x| *x > LARGEST) {
                let name = format!("a geometry of link '{}'", link.name);
                notes.push(doubt(geometry.line, &name, format!("it is {size} m large")));
            }
        }
        let away = link.joint.placement.position.norm();
        if link.parent.is_some() && away > LARGEST {
            notes.push(doubt(line, element, format!("its joint is {away} m from its parent")));
        }
    }
    notes
}
