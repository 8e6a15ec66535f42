//! What looks wrong with recordings that can be read: units, and starts inside of something. A doubt is told and stops nothing.

use super::Experiment;
use crate::problem::{Quantity, Sample, Toss, start_poses};
use serde::Serialize;
use std::fmt;

/// A body that travels so many times its own size in one recording has positions in a smaller unit.
const TRAVEL: f64 = 100.0;
/// Half widths of the recordings and of the scene's body that differ by more than this factor are in different units.
const SIZES: f64 = 3.0;
/// Largest angle (rad) of a joint that looks like radians: two turns.
const ANGLE: f64 = 4.0 * std::f64::consts::PI;
/// Largest angular speed (rad/s) that looks like radians.
const SPIN: f64 = 300.0;
/// Depth at the start that is told, in half widths of the body.
const DEPTH: f64 = 0.02;

/// Why a recording looks wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each field is explained by the message it appears in")]
pub enum Doubt {
    /// A half width that is not that of the scene's body.
    Size { body: String, half_side: f64, reach: f64 },
    /// Positions that look like millimetres.
    Millimetres { toss: u32, what: String, travel: f64, size: f64 },
    /// Angles that look like degrees.
    Degrees { toss: u32, channel: String, largest: f64 },
    /// Angular velocities that look like degrees a second.
    DegreesASecond { toss: u32, what: String, largest: f64 },
    /// A rate that is not that of its position.
    Rate { channel: String, rate: String, ratio: f64, reason: String },
    /// A start inside of something.
    Penetration { tosses: usize, deepest: u32, body: String, other: String, depth: f64 },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { body, half_side, reach } => write!(
                f,
                "half_side_m of the recordings is {half_side} m, the samples of '{body}' reach {reach:.3} m along an axis: another unit? Errors are told in parts of the width"
            ),
            Self::Millimetres { toss, what, travel, size } => write!(
                f,
                "{what} of toss {toss} travels {travel:.0} m, {:.0} times the size of the body ({size:.3} m): centimetres or millimetres in place of metres?",
                travel / size
            ),
            Self::Degrees { toss, channel, largest } => write!(
                f,
                "channel '{channel}' of toss {toss} reaches {largest:.1} rad, {:.1} turns: degrees in place of radians?",
                largest / std::f64::consts::TAU
            ),
            Self::DegreesASecond { toss, what, largest } => write!(
                f,
                "{what} of toss {toss} reaches {largest:.0} rad/s, {:.0} turns a second: degrees in place of radians?",
                largest / std::f64::consts::TAU
            ),
            Self::Rate { channel, rate, ratio, reason } => write!(
                f,
                "channel '{channel}' changes {ratio:.3} times as fast as '{rate}' says: {reason}"
            ),
            Self::Penetration { tosses, deepest, body, other, depth } => write!(
                f,
                "{tosses} tosses start with '{body}' inside '{other}', toss {deepest} by {:.2} mm: the first steps push it out",
                depth * 1e3
            ),
        }
    }
}

impl Experiment {
    /// What looks wrong with tosses that could be read, one doubt of a kind for each channel or body.
    ///
    /// * `size`: half the width of the body (m).
    pub fn doubts(&self, tosses: &[Toss], size: f64) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let reach = self.reach();
        let differs = |reach: &f64| !(1.0 / SIZES..=SIZES).contains(&(size / reach));
        doubts.extend(reach.filter(differs).map(|reach| Doubt::Size {
            body: self.file.body.clone(),
            half_side: size,
            reach,
        }));
        doubts.extend(self.lengths(tosses, reach.map_or(size, |reach| reach.min(size))));
        for c in 0..self.model.channels.len() {
            doubts.extend(self.angles(tosses, c));
            doubts.extend(self.rate(tosses, c));
        }
        let fast = |t: &&Toss| t.angular_velocity.norm() > SPIN;
        if let Some(t) = tosses.iter().find(fast) {
            let (what, largest) = ("the start".to_owned(), t.angular_velocity.norm());
            doubts.push(Doubt::DegreesASecond { toss: t.id, what, largest });
        }
        doubts.extend(self.penetration(tosses, size));
        doubts
    }

    /// How far the samples of the tracked body reach from its origin along an axis (m).
    fn reach(&self) -> Option<f64> {
        let samples = self.model.scene.bodies[self.model.body].samples.as_ref()?;
        let all = samples.points().iter().map(|x| x.amax());
        all.reduce(f64::max).filter(|reach| *reach > 0.0)
    }

    fn lengths(&self, tosses: &[Toss], size: f64) -> Option<Doubt> {
        let travel = |t: &Toss| {
            let first = t.measured[0].position;
            t.measured.iter().map(|p| (p.position - first).norm()).fold(0.0, f64::max)
        };
        let size = 2.0 * size;
        let (toss, travel) =
            tosses.iter().map(|t| (t.id, travel(t))).find(|(_, x)| *x > TRAVEL * size)?;
        let what = format!("'{}'", self.file.body);
        Some(Doubt::Millimetres { toss, what, travel, size })
    }

    fn angles(&self, tosses: &[Toss], c: usize) -> Option<Doubt> {
        let channel = &self.model.channels[c];
        let turns = channel.unit(&self.model.scene).starts_with("rad");
        let limit = match channel.quantity {
            Quantity::JointPosition if turns => ANGLE,
            Quantity::JointRate | Quantity::AngularVelocity if turns => SPIN,
            _ => return None,
        };
        let largest =
            |t: &Toss| t.series[c].iter().flatten().map(|s| vector(s).amax()).fold(0.0, f64::max);
        let (toss, largest) = tosses.iter().map(|t| (t.id, largest(t))).find(|x| x.1 > limit)?;
        let name = channel.name.clone();
        Some(match channel.quantity {
            Quantity::JointPosition => Doubt::Degrees { toss, channel: name, largest },
            _ => Doubt::DegreesASecond { toss, what: format!("channel '{name}'"), largest },
        })
    }

    /// Changes of a position against the rate that another channel says it has: a common factor is a unit.
    fn rate(&self, tosses: &[Toss], c: usize) -> Option<Doubt> {
        let channels = &self.model.channels;
        let position = &channels[c];
        let of = match position.quantity {
            Quantity::JointPosition => Quantity::JointRate,
            Quantity::Position => Quantity::Velocity,
            _ => return None,
        };
        let d = channels
            .iter()
            .position(|r| r.quantity == of && r.body == position.body && r.axes == position.axes)?;
        let (mut both, mut square) = (0.0, 0.0);
        for t in tosses {
            for k in 1..t.times.len().saturating_sub(1) {
                let (Some(a), Some(b), Some(v)) =
                    (t.series[c][k - 1], t.series[c][k + 1], t.series[d][k])
                else {
                    continue;
                };
                let change = (vector(&b) - vector(&a)) / (t.times[k + 1] - t.times[k - 1]);
                both += change.dot(&vector(&v));
                square += vector(&v).norm_squared();
            }
        }
        let ratio = both / square;
        let degree = std::f64::consts::PI / 180.0;
        let known = [
            (1.0 / degree, "degrees beside radians a second?"),
            (degree, "radians beside degrees a second?"),
            (1e3, "millimetres beside metres a second?"),
            (1e-3, "metres beside millimetres a second?"),
            (-1.0, "opposite signs?"),
        ];
        // Within a third of a factor: differences are coarse, and a wrong unit is a factor of 57 or 1000.
        let (_, reason) = known.into_iter().find(|(x, _)| (ratio / x - 1.0).abs() < 0.33)?;
        let (channel, rate) = (position.name.clone(), channels[d].name.clone());
        Some(Doubt::Rate { channel, rate, ratio, reason: reason.to_owned() })
    }

    fn penetration(&self, tosses: &[Toss], size: f64) -> Vec<Doubt> {
        let scene = &self.model.scene;
        let mut doubts = Vec::new();
        let starts: Vec<_> =
            tosses.iter().filter_map(|t| Some((t.id, start_poses(&self.model, t).ok()?))).collect();
        for (a, b) in scene.pairs() {
            let (Some(samples), Some(collider)) =
                (&scene.bodies[a].samples, &scene.bodies[b].collider)
            else {
                continue;
            };
            let depth = |poses: &[osculate_math::se3::Pose]| {
                let to = &poses[b];
                let phi = |x: &nalgebra::Vector3<f64>| {
                    let world = poses[a].position + poses[a].rotation * x;
                    collider.phi(&(to.rotation.transpose() * (world - to.position)))
                };
                samples.points().iter().map(phi).fold(f64::INFINITY, f64::min)
            };
            let inside: Vec<(u32, f64)> = starts
                .iter()
                .map(|(id, poses)| (*id, -depth(poses)))
                .filter(|(_, d)| *d > DEPTH * size)
                .collect();
            if let Some(&(deepest, depth)) = inside.iter().max_by(|x, y| x.1.total_cmp(&y.1)) {
                let (body, other) = (scene.bodies[a].name.clone(), scene.bodies[b].name.clone());
                let tosses = inside.len();
                doubts.push(Doubt::Penetration { tosses, deepest, body, other, depth });
            }
        }
        doubts
    }
}

fn vector(sample: &Sample) -> nalgebra::Vector3<f64> {
    match sample {
        Sample::Vector(v) => *v,
        Sample::Rotation(_) => nalgebra::Vector3::zeros(),
    }
}
