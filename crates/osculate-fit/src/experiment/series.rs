//! From the columns of recordings to the records of channels, and to where a roll-out starts.

use super::channel::ChannelFile;
use super::{Experiment, ExperimentError};
use crate::problem::{BodyStart, Channel, JointStart, Quantity, Sample, Toss};
use crate::recording::csv::{COLUMNS, NORM_TOLERANCE};
use crate::recording::{self, Recording};
use nalgebra::Vector3;
use osculate_dynamics::articulated::{Configuration, JointPosition, TreeKinematics};
use osculate_dynamics::file::{Place, Source};
use osculate_math::se3::Pose;
use osculate_math::so3;

/// Frames that a velocity is taken from where none is recorded.
const SLOPE_FRAMES: usize = 5;

impl Experiment {
    /// A recorded toss with the records of the channels.
    pub(super) fn toss(&self, t: recording::Toss) -> Result<Toss, ExperimentError> {
        let mut t = t;
        let every = self
            .model
            .channels
            .iter()
            .map(|c| self.series(c, &t.recording))
            .collect::<Result<Vec<_>, _>>()?;
        let first = t.start.frame;
        let joints = self.joints(&t, &every)?;
        let others = self.others(&t.recording.times, first, &every);
        if t.recording.poses.is_empty() {
            t.recording.poses = self.poses(&t.recording, &every, &joints)?;
        }
        let series = every.into_iter().map(|s| s[first..].to_vec()).collect();
        let plain = Toss::from(t);
        Ok(Toss { joints, others, series, ..plain })
    }

    fn column(
        &self,
        channel: &Channel,
        recording: &Recording,
        name: &str,
    ) -> Result<Vec<Option<f64>>, ExperimentError> {
        let vectors = |series: &Option<Vec<Vector3<f64>>>, k: usize| {
            series.as_ref().map(|v| v.iter().map(|x| Some(x[k])).collect())
        };
        let found = match COLUMNS.iter().position(|c| *c == name) {
            Some(c @ 1..=3) if !recording.poses.is_empty() => {
                Some(recording.poses.iter().map(|p| Some(p.position[c - 1])).collect())
            }
            Some(c @ 4..=7) if !recording.poses.is_empty() => {
                let quaternion = |p: &Pose| Some(so3::to_quaternion(&p.rotation)[c - 4]);
                Some(recording.poses.iter().map(quaternion).collect())
            }
            Some(c @ 8..=10) => vectors(&recording.velocities, c - 8),
            Some(c @ 11..=13) => vectors(&recording.angular_velocities, c - 11),
            _ => recording.extra.get(name).cloned(),
        };
        found.ok_or_else(|| {
            let motion = match (recording.poses.is_empty(), recording.has_velocities()) {
                (true, _) => &COLUMNS[..0],
                (false, false) => &COLUMNS[1..8],
                (false, true) => &COLUMNS[1..],
            };
            let known = motion.iter().copied().chain(recording.extra.keys().map(String::as_str));
            ExperimentError::Column {
                place: self.naming(name),
                channel: channel.name.clone(),
                column: name.to_owned(),
                id: recording.id,
                known: known.collect::<Vec<_>>().join(", "),
            }
        })
    }

    /// The field of the file that names a column.
    fn naming(&self, column: &str) -> Place {
        let named = |c: &ChannelFile| c.columns.iter().flatten().any(|c| c == column);
        let masks = |c: &ChannelFile| c.mask.as_deref() == Some(column);
        let all = &self.file.channels;
        let field = match (all.iter().position(named), all.iter().position(masks)) {
            (Some(i), _) => format!("channel[{i}].columns"),
            (None, Some(i)) => format!("channel[{i}].mask"),
            (None, None) => "channel".into(),
        };
        // Where the file is gone by now its line is not known.
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        Source::new(&self.path, &text).place(&field)
    }

    /// Records of a channel, one a frame.
    fn series(
        &self,
        channel: &Channel,
        recording: &Recording,
    ) -> Result<Vec<Option<Sample>>, ExperimentError> {
        let columns = channel
            .columns
            .iter()
            .map(|name| self.column(channel, recording, name))
            .collect::<Result<Vec<_>, _>>()?;
        let mask = match &channel.mask {
            Some(name) => Some(self.column(channel, recording, name)?),
            None => None,
        };
        let mut series = Vec::with_capacity(recording.times.len());
        for frame in 0..recording.times.len() {
            let counts = mask.as_ref().is_none_or(|m| m[frame].is_some_and(|x| x > 0.5));
            let values: Option<Vec<f64>> = columns.iter().map(|c| c[frame]).collect();
            series.push(match values {
                Some(values) if counts => {
                    Some(self.sample(channel, (recording.id, frame), &values)?)
                }
                _ => None,
            });
        }
        Ok(series)
    }

    fn sample(
        &self,
        channel: &Channel,
        (id, frame): (u32, usize),
        values: &[f64],
    ) -> Result<Sample, ExperimentError> {
        if let (Quantity::Rotation, &[w, x, y, z]) = (channel.quantity, values) {
            let norm = (w * w + x * x + y * y + z * z).sqrt();
            if (norm - 1.0).abs() > NORM_TOLERANCE {
                let channel = channel.name.clone();
                return Err(ExperimentError::Quaternion { id, channel, frame, norm });
            }
            return Ok(Sample::Rotation(so3::from_quaternion([w, x, y, z])));
        }
        let mut vector = Vector3::zeros();
        for (axis, value) in channel.axes.iter().zip(values) {
            vector[*axis] = *value;
        }
        Ok(Sample::Vector(vector))
    }

    /// Where joints start: as the metadata say, else as their channels read at the start.
    fn joints(
        &self,
        t: &recording::Toss,
        every: &[Vec<Option<Sample>>],
    ) -> Result<Vec<JointStart>, ExperimentError> {
        let scene = &self.model.scene;
        let mut joints = Vec::new();
        for (name, [position, rate]) in &t.joints {
            let scalar = |b: usize| {
                let a = scene.articulation.as_ref()?;
                Some(a.model().links()[a.link_of_body(b)?].joint.kind.is_scalar())
            };
            let body = scene.bodies.iter().position(|b| b.name == *name);
            match body.filter(|&b| scalar(b) == Some(true)) {
                Some(body) => joints.push(JointStart { body, position: *position, rate: *rate }),
                None => {
                    let (id, joint) = (t.recording.id, name.clone());
                    return Err(ExperimentError::StartJoint { id, joint });
                }
            }
        }
        let (first, times) = (t.start.frame, &t.recording.times);
        for (c, channel) in self.model.channels.iter().enumerate() {
            let body = channel.body;
            let known = joints.iter().any(|j: &JointStart| j.body == body);
            if channel.quantity != Quantity::JointPosition || known {
                continue;
            }
            let Some(Sample::Vector(at)) = every[c][first] else {
                let (id, channel) = (t.recording.id, channel.name.clone());
                return Err(ExperimentError::StartMissing { id, channel, frame: first });
            };
            let rate = self.at_start(Quantity::JointRate, body, first, every);
            let rate = rate.unwrap_or_else(|| slope(times, first, &every[c]));
            joints.push(JointStart { body, position: at.x, rate: rate.x });
        }
        Ok(joints)
    }

    /// The record of a channel of a body at a frame.
    fn at_start(
        &self,
        quantity: Quantity,
        body: usize,
        frame: usize,
        every: &[Vec<Option<Sample>>],
    ) -> Option<Vector3<f64>> {
        let whole = if quantity.of_joint() { 1 } else { 3 };
        let fits = |c: &Channel| c.quantity == quantity && c.body == body && c.axes.len() == whole;
        let c = self.model.channels.iter().position(fits)?;
        match every[c][frame] {
            Some(Sample::Vector(v)) => Some(v),
            _ => None,
        }
    }

    /// Where free bodies other than the tracked one start, of which there are records of position or rotation.
    fn others(&self, times: &[f64], first: usize, every: &[Vec<Option<Sample>>]) -> Vec<BodyStart> {
        let scene = &self.model.scene;
        let mut starts: Vec<BodyStart> = Vec::new();
        for (c, channel) in self.model.channels.iter().enumerate() {
            let body = channel.body;
            let jointed =
                scene.articulation.as_ref().is_some_and(|a| a.link_of_body(body).is_some());
            let placed = matches!(channel.quantity, Quantity::Position | Quantity::Rotation);
            if body == self.model.body || jointed || !placed || channel.axes.len() != 3 {
                continue;
            }
            let Some(sample) = every[c][first] else { continue };
            let i = starts.iter().position(|s| s.body == body).unwrap_or_else(|| {
                let b = &scene.bodies[body];
                let (pose, velocity, angular_velocity) = (b.pose, b.velocity, b.angular_velocity);
                starts.push(BodyStart { body, pose, velocity, angular_velocity });
                starts.len() - 1
            });
            match sample {
                Sample::Vector(p) => {
                    starts[i].pose.position = p;
                    let v = self.at_start(Quantity::Velocity, body, first, every);
                    starts[i].velocity = v.unwrap_or_else(|| slope(times, first, &every[c]));
                }
                Sample::Rotation(r) => {
                    starts[i].pose.rotation = r;
                    let w = self.at_start(Quantity::AngularVelocity, body, first, every);
                    starts[i].angular_velocity =
                        w.map_or_else(|| spin(times, first, &every[c]), |w| r * w);
                }
            }
        }
        starts
    }

    /// Poses of the tracked body by its joints, where the recordings have none.
    fn poses(
        &self,
        recording: &Recording,
        every: &[Vec<Option<Sample>>],
        starts: &[JointStart],
    ) -> Result<Vec<Pose>, ExperimentError> {
        let none = || ExperimentError::NoPoses { id: recording.id, body: self.file.body.clone() };
        let articulation = self.model.scene.articulation.as_ref().ok_or_else(none)?;
        let link = articulation.link_of_body(self.model.body).ok_or_else(none)?;
        if !crate::problem::starts_by_joints(&self.model) {
            return Err(none());
        }
        let mut positions = articulation.initial.configuration.joints().to_vec();
        for start in starts {
            if let Some(l) = articulation.link_of_body(start.body) {
                positions[l] = JointPosition::Scalar(start.position);
            }
        }
        let mut poses = Vec::with_capacity(recording.times.len());
        for frame in 0..recording.times.len() {
            for (channel, series) in self.model.channels.iter().zip(every) {
                // A joint without a record stays where it was last seen.
                if let (Quantity::JointPosition, Some(Sample::Vector(x)), Some(l)) =
                    (channel.quantity, series[frame], articulation.link_of_body(channel.body))
                {
                    positions[l] = JointPosition::Scalar(x.x);
                }
            }
            let at = Configuration::of(articulation.model(), positions.clone());
            let at = at.map_err(|_| none())?;
            poses.push(TreeKinematics::new(articulation.model(), &at).links[link]);
        }
        Ok(poses)
    }
}

/// Frames around a start that a velocity is taken from: those up to it, those from it where it is the first.
fn around(first: usize, frames: usize) -> std::ops::RangeInclusive<usize> {
    if first >= 2 {
        first.saturating_sub(SLOPE_FRAMES - 1)..=first
    } else {
        first..=(first + 2).min(frames - 1)
    }
}

/// Slope of the straight line through the records around a start; zero where there is one only.
fn slope(times: &[f64], first: usize, series: &[Option<Sample>]) -> Vector3<f64> {
    let points: Vec<(f64, Vector3<f64>)> = around(first, times.len())
        .filter_map(|k| match series[k] {
            Some(Sample::Vector(v)) => Some((times[k], v)),
            _ => None,
        })
        .collect();
    line(&points)
}

/// Angular velocity (rad/s, world) around a start.
fn spin(times: &[f64], first: usize, series: &[Option<Sample>]) -> Vector3<f64> {
    let Some(Sample::Rotation(r0)) = series[first] else { return Vector3::zeros() };
    let points: Vec<(f64, Vector3<f64>)> = around(first, times.len())
        .filter_map(|k| match series[k] {
            Some(Sample::Rotation(r)) => Some((times[k], so3::log(&(r * r0.transpose())))),
            _ => None,
        })
        .collect();
    line(&points)
}

fn line(points: &[(f64, Vector3<f64>)]) -> Vector3<f64> {
    let n = points.len().max(1) as f64;
    let mean_t = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean = points.iter().fold(Vector3::zeros(), |sum, p| sum + p.1) / n;
    let square: f64 = points.iter().map(|p| (p.0 - mean_t).powi(2)).sum();
    if square <= 0.0 {
        return Vector3::zeros();
    }
    points.iter().fold(Vector3::zeros(), |sum, p| sum + (p.1 - mean) * (p.0 - mean_t)) / square
}
