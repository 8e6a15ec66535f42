//! Boxes about samples and colliders: pairs whose boxes are apart exert no force.

use super::{Pair, Part, Stage, System};
use crate::BodyState;
use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactParams, DissipationSchedule};
use osculate_geometry::aabb::Aabb;
use osculate_geometry::collider::Collider;
use osculate_math::{Scalar, real};

/// Where a body's samples are, and where its field is below the threshold: relative to the centre of mass, body axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    samples: Option<Aabb>,
    field: Option<Field>,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Within(Aabb),
    /// A half-space.
    Unbounded,
}

impl Extent {
    /// * `points`: samples relative to the centre of mass.
    /// * `field`: the collider, and the centre of mass in its local frame.
    pub(super) fn new<T: Scalar>(
        contact: &ContactParams<T>,
        (collider, center): (Option<&Collider<T>>, &Vector3<T>),
        points: &[Vector3<T>],
    ) -> Self {
        let points: Vec<_> = points.iter().map(real).collect();
        let threshold = contact.threshold.re() + contact.threshold_padding.re();
        let field = collider.map(|collider| {
            let bounds = collider.bounds(threshold.max(0.0));
            let shift = -real(center);
            bounds
                .map_or(Field::Unbounded, |b| Field::Within(b.moved(&Matrix3::identity(), &shift)))
        });
        Self { samples: Aabb::of_points(&points), field }
    }

    /// The box about both; a point where there is neither, `None` if the field is unbounded.
    fn whole(&self) -> Option<Aabb> {
        match (self.samples, self.field) {
            (_, Some(Field::Unbounded)) => None,
            (Some(samples), Some(Field::Within(field))) => Some(samples.union(&field)),
            (Some(one), None) | (None, Some(Field::Within(one))) => Some(one),
            (None, None) => Some(Aabb::about(&Vector3::zeros(), &Vector3::zeros())),
        }
    }
}

fn moved<T: Scalar>(local: &Aabb, state: &BodyState<T>) -> Aabb {
    local.moved(&state.rotation.map(|x| x.re()), &real(&state.center))
}

/// Boxes of samples and field of each slot at one evaluation, world. Their memory is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Culling(Vec<(Option<Aabb>, Option<Aabb>)>);

impl Culling {
    /// Whether no sample of the colliding body can be within the threshold of the collider.
    pub(super) fn apart<T>(&self, pair: &Pair<T>) -> bool {
        let [a, b] = pair.slots;
        match (self.0[a].0, self.0[b].1) {
            (Some(samples), Some(field)) => !samples.overlaps(&field),
            _ => false,
        }
    }
}

impl<T: Scalar> System<'_, T> {
    /// The box about the samples and the collider of a body at one state, padded by its thresholds and by `slack` \[m\];
    /// `None` if its collider is unbounded.
    pub(crate) fn bounds(&self, body: usize, state: &BodyState<T>, slack: f64) -> Option<Aabb> {
        Some(moved(&self.bodies[body].extent.whole()?, state).padded(slack))
    }

    /// Finds the boxes of a part at a stage; `None` for a small scene, whose few pairs are not worth it.
    pub(super) fn culling<'a>(
        &self,
        part: &Part<'_, T>,
        stage: &Stage<'_, T>,
        culling: &'a mut Culling,
    ) -> Option<&'a Culling> {
        if self.is_small() {
            return None;
        }
        // Contacts of the start are retained where its normals are used.
        let explicit = self.law.schedule == DissipationSchedule::StageStart;
        let at = |local: &Aabb, slot: usize| {
            let now = moved(local, &stage.now[slot]);
            if explicit { now.union(&moved(local, &stage.start[slot])) } else { now }
        };
        let boxes = part.bodies.iter().enumerate().map(|(slot, &body)| {
            let extent = &self.bodies[body].extent;
            let field = match &extent.field {
                Some(Field::Within(local)) => Some(at(local, slot)),
                _ => None,
            };
            (extent.samples.as_ref().map(|local| at(local, slot)), field)
        });
        culling.0.clear();
        culling.0.extend(boxes);
        Some(culling)
    }
}
