//! Trees for tests: every kind of joint, at places and offsets without symmetry.

use super::{
    ArticulatedModel, Attachment, ClosureKind, Configuration, Joint, JointKind, Link, LinkInertia,
    LoopClosure,
};
use nalgebra::{Matrix3, Vector3};
use osculate_math::se3::Pose;
use osculate_math::so3;

/// A number in (−1, 1) that has no pattern.
pub(super) fn number(seed: usize) -> f64 {
    let x = (seed as f64 * 12.9898 + 4.1414).sin() * 43_758.545;
    2.0 * (x - x.floor()) - 1.0
}

pub(crate) fn vector(seed: usize) -> Vector3<f64> {
    Vector3::from_fn(|i, _| number(3 * seed + i))
}

pub(super) fn pose(seed: usize) -> Pose {
    Pose { position: vector(2 * seed), rotation: so3::exp(&vector(2 * seed + 1)) }
}

pub(crate) fn values(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| number(1000 * seed + i)).collect()
}

/// A physical inertia: of four masses about their centre.
pub(super) fn inertia(seed: usize) -> LinkInertia {
    let arms: Vec<Vector3<f64>> = (0..4).map(|i| vector(100 * seed + i) * 0.3).collect();
    let center = arms.iter().sum::<Vector3<f64>>() / 4.0;
    let mass = 1.5 + number(seed);
    let moment = arms.iter().fold(Matrix3::zeros(), |sum, x| {
        let r = x - center;
        sum + (Matrix3::identity() * r.norm_squared() - r * r.transpose()) * (mass / 4.0)
    });
    LinkInertia { mass, center, inertia: moment }
}

pub(super) fn link(i: usize, parent: Option<usize>, kind: JointKind) -> Link {
    let mut joint = Joint::new(kind).placed(pose(10 + i)).with_offset(pose(50 + i));
    for (k, a) in joint.armature.iter_mut().enumerate().take(kind.dofs()) {
        *a = 0.1 * (1.0 + number(7 * i + k));
    }
    Link { name: format!("link{i}"), parent, joint, inertia: inertia(i + 1) }
}

fn unit(seed: usize) -> Vector3<f64> {
    vector(seed).normalize()
}

/// Kinds of joints in the order of the links of [`tree`].
pub(super) fn kinds() -> Vec<(Option<usize>, JointKind)> {
    vec![
        (None, JointKind::Free),
        (Some(0), JointKind::Revolute { axis: unit(1) }),
        (Some(1), JointKind::Spherical),
        (Some(0), JointKind::Prismatic { axis: unit(2) }),
        (Some(3), JointKind::Fixed),
        (Some(4), JointKind::Revolute { axis: unit(3) }),
        (Some(2), JointKind::Free),
    ]
}

/// A branched tree with every kind of joint and 18 degrees of freedom, and two loop closures.
pub(crate) fn tree() -> ArticulatedModel {
    let links =
        kinds().into_iter().enumerate().map(|(i, (parent, kind))| link(i, parent, kind)).collect();
    let attachment = |link, seed| Attachment { link, frame: pose(seed) };
    let closures = vec![
        LoopClosure::new("a", ClosureKind::Ball, attachment(Some(2), 80), attachment(Some(5), 81)),
        LoopClosure::new("b", ClosureKind::Fixed, attachment(Some(6), 82), attachment(None, 83)),
    ];
    ArticulatedModel::new(links, closures).unwrap()
}

/// A configuration of a model far from the neutral one.
pub(crate) fn configuration(model: &ArticulatedModel, seed: usize) -> Configuration {
    model.neutral().incremented(&values(model.dofs(), seed))
}
