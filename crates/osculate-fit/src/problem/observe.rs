//! Which records of a toss are compared, at which time of its roll-out, in which order.

use super::channel::{Numbers, Sample};
use super::segments::Segments;
use super::typed::Typed;
use crate::contact_model::ContactModel;
use nalgebra::Vector3;
use osculate_dynamics::Kinematics;
use osculate_math::Scalar;

/// A record that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) channel: usize,
    /// Frame of the toss.
    pub(super) frame: usize,
}

/// Place of a time between two steps: `f(step) + weight (f(step + 1) − f(step))`, beyond the ends along the first or last step.
pub(super) fn between<T: Scalar>(ends: &[f64], t: T) -> (usize, T) {
    let last = ends.len().saturating_sub(2);
    let step = ends.partition_point(|&e| e <= t.re()).saturating_sub(1).min(last);
    (step, (t - ends[step]) / (ends[step + 1] - ends[step]))
}

impl<S: ContactModel> Typed<S> {
    /// The records of a segment, frame by frame. A frame shared by two segments belongs to the later one.
    pub(super) fn records(&self, segments: &Segments<S>, segment: usize) -> Vec<Record> {
        let toss = &segments.toss;
        let frames = segments.cuts[segment]..segments.cuts[segment + 1];
        let mut records = Vec::new();
        for frame in frames {
            for (channel, series) in toss.series.iter().enumerate() {
                let over = self.stretch.channels[channel].quantity.over_a_frame();
                if series[frame].is_some() && !(over && frame == 0) {
                    records.push(Record { channel, frame });
                }
            }
        }
        records
    }

    /// One over the standard deviation of a record, and over the root of how many its channel has where each counts alike.
    pub(super) fn weight_of(&self, segments: &Segments<S>, channel: usize) -> f64 {
        let count = segments.toss.series[channel].iter().flatten().count().max(1) as f64;
        let mean = if self.weights.per_frame_mean { count.sqrt() } else { 1.0 };
        1.0 / (self.stretch.channels[channel].sigma * mean)
    }

    /// How far the readings of a roll-out are from one record, in the unit of its channel.
    ///
    /// * `bodies`: motion of a body after some steps; `offset`: clock offset of the channel.
    pub(super) fn misfit<T: Scalar>(
        &self,
        (times, ends): (&[f64], &[f64]),
        (record, sample): (Record, &Sample),
        bodies: &impl Fn(usize, usize) -> Kinematics<T>,
        (numbers, offset): (&Numbers<T>, T),
    ) -> Vector3<T> {
        let channel = &self.stretch.channels[record.channel];
        let at_step = |step: usize| channel.at_step(&|body| bodies(step, body), numbers, sample);
        let at = |frame: usize| {
            let fixed = self.offsets[record.channel].is_none();
            if fixed && channel.clock_offset == 0.0 {
                return at_step(frame * self.stretch.substeps);
            }
            let (step, weight) = between(ends, offset + (times[frame] - times[0]));
            let (a, b) = (at_step(step), at_step(step + 1));
            a + (b - a).map(|x| x * weight)
        };
        if !channel.quantity.over_a_frame() {
            return at(record.frame);
        }
        let length = times[record.frame] - times[record.frame - 1];
        channel.over_frame((at(record.frame - 1), at(record.frame)), length, numbers, sample)
    }
}
