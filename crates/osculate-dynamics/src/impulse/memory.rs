//! Impulses of the last step, found again by bodies and features.

use super::build::Touch;
use super::rows::{FrictionPair, Rows};
use super::solve::world;
use nalgebra::{Vector2, Vector3};
use osculate_geometry::manifold::FeatureId;

/// Bodies and features of a contact.
type Key = ([usize; 2], FeatureId);

/// Impulses of the contacts of a step, sorted by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarmStart {
    duration: f64,
    impulses: Vec<(Key, f64, Vector3<f64>)>,
}

impl WarmStart {
    /// Forgets what involves a body.
    pub(crate) fn forget(&mut self, body: usize) {
        self.impulses.retain(|(key, ..)| !key.0.contains(&body));
    }

    /// Keeps the impulses of a step.
    pub(crate) fn store(&mut self, touches: &[Touch], rows: &Rows, point: bool, duration: f64) {
        self.duration = duration;
        self.impulses.clear();
        for (i, normal) in rows.normals.iter().enumerate() {
            let touch = &touches[normal.contact];
            let friction = if point { world(&rows.pairs[i]) } else { Vector3::zeros() };
            self.impulses.push(((touch.bodies, touch.contact.id), normal.impulse, friction));
        }
        self.impulses.sort_by_key(|x| x.0);
    }

    fn find(&self, touch: &Touch) -> Option<(f64, Vector3<f64>)> {
        let key = (touch.bodies, touch.contact.id);
        let found = self.impulses.binary_search_by_key(&key, |x| x.0).ok()?;
        let (_, normal, friction) = self.impulses[found];
        Some((normal, friction))
    }

    /// Starts rows from a part of the impulses of the last step, scaled by the ratio of the durations; friction is
    /// turned into the new basis and clamped to its new disk.
    pub(crate) fn start(
        &self,
        touches: &[Touch],
        rows: &mut Rows,
        part: f64,
        (point, duration): (bool, f64),
    ) {
        if self.duration <= 0.0 || part <= 0.0 {
            return;
        }
        let factor = part * duration / self.duration;
        for i in 0..rows.normals.len() {
            let touch = &touches[rows.normals[i].contact];
            let Some((normal, friction)) = self.find(touch) else { continue };
            rows.normals[i].impulse = normal * factor;
            if point {
                let pair = &mut rows.pairs[i];
                pair.impulse = clamped(pair, &(friction * factor), normal * factor);
            }
        }
    }
}

/// A friction impulse of the world in the basis of a pair, inside its disk.
pub(crate) fn clamped(pair: &FrictionPair, friction: &Vector3<f64>, load: f64) -> Vector2<f64> {
    let [s, t] = &pair.directions;
    let impulse = Vector2::new(s.dot(friction), t.dot(friction));
    let (size, radius) = (impulse.norm(), pair.share * load);
    if size > radius { impulse * (radius / size) } else { impulse }
}
