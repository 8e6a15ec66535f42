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
    impulses: Vec<(Key, Kept)>,
}

/// Impulses of a contact.
#[derive(Clone, Copy, Debug)]
struct Kept {
    normal: f64,
    /// World; zero where friction acts at anchors.
    friction: Vector3<f64>,
    /// Of spin and rolling, world.
    angular: Vector3<f64>,
}

impl WarmStart {
    /// Forgets what involves a body.
    pub(crate) fn forget(&mut self, body: usize) {
        self.impulses.retain(|(key, _)| !key.0.contains(&body));
    }

    /// Keeps the impulses of a step.
    pub(crate) fn store(&mut self, touches: &[Touch], rows: &Rows, duration: f64) {
        self.duration = duration;
        self.impulses.clear();
        for group in &rows.groups {
            let pair = rows.pairs[group.pairs.clone()].first().filter(|_| group.point);
            let friction = pair.map_or_else(Vector3::zeros, world);
            for normal in &rows.normals[group.normals.clone()] {
                let touch = &touches[normal.contact];
                let kept =
                    Kept { normal: normal.impulse, friction, angular: group.angular.world() };
                self.impulses.push(((touch.bodies, touch.contact.id), kept));
            }
        }
        self.impulses.sort_by_key(|x| x.0);
    }

    fn find(&self, touch: &Touch) -> Option<Kept> {
        let key = (touch.bodies, touch.contact.id);
        let found = self.impulses.binary_search_by_key(&key, |x| x.0).ok()?;
        Some(self.impulses[found].1)
    }

    /// Starts rows from a part of the impulses of the last step, scaled by the ratio of the durations; friction is
    /// turned into the new basis and clamped to its new disk.
    pub(crate) fn start(&self, touches: &[Touch], rows: &mut Rows, part: f64, duration: f64) {
        if self.duration <= 0.0 || part <= 0.0 {
            return;
        }
        let factor = part * duration / self.duration;
        for group in &mut rows.groups {
            for normal in &mut rows.normals[group.normals.clone()] {
                let Some(kept) = self.find(&touches[normal.contact]) else { continue };
                normal.impulse = kept.normal * factor;
                group.angular.start(&(kept.angular * factor));
                if let Some(pair) = rows.pairs.get_mut(group.pairs.start).filter(|_| group.point) {
                    pair.impulse = clamped(pair, &(kept.friction * factor), normal.impulse);
                }
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
