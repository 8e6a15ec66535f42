//! What the channels of a model read of a twin.

use super::{TwinError, TwinFile, noisy};
use crate::problem::{Channel, Model, Sample, Toss};
use crate::recording::csv::{COLUMNS, POSE_COLUMNS};
use nalgebra::Vector3;
use osculate_math::{se3::Pose, so3};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Names of tables are those of joints and channels.
pub(super) fn names(model: &Model, twin: &TwinFile) -> Result<(), TwinError> {
    let articulation = model.scene.articulation.as_ref();
    let joints: Vec<&str> = articulation
        .iter()
        .flat_map(|a| a.model().links())
        .filter(|l| l.joint.kind.is_scalar())
        .map(|l| l.name.as_str())
        .collect();
    let channels: Vec<&str> = model.channels.iter().map(|c| c.name.as_str()).collect();
    let given = twin.joints.keys().map(|k| ("joints", k, &joints));
    let given = given.chain(twin.noise.keys().map(|k| ("noise", k, &channels)));
    for (table, found, known) in given {
        if !known.contains(&found.as_str()) {
            let allowed = format!("[{}]", known.join(", "));
            return Err(TwinError::Name { table, found: found.clone(), allowed });
        }
    }
    Ok(())
}

/// A toss with what its channels read, with noise.
pub(super) fn read_channels(
    model: &Model,
    twin: &TwinFile,
    toss: Toss,
    rng: &mut impl Rng,
) -> Result<(Toss, usize), TwinError> {
    let frames = toss.times.len();
    let zero = |c: &Channel| vec![Some(Sample::zero(c.quantity)); frames];
    let series = model.channels.iter().map(zero).collect();
    let rolled = model.roll_out(Toss { series, ..toss.clone() })?;
    let mut series = Vec::with_capacity(model.channels.len());
    for (channel, readings) in model.channels.iter().zip(&rolled.channels) {
        let given = if channel.estimated { 0.0 } else { channel.sigma };
        let sigma = twin.noise.get(&channel.name).copied().unwrap_or(given);
        // What a frame measures of the frame before, the first cannot.
        let mut records = vec![None; frames - readings.len()];
        for (_, reading) in readings {
            let noise =
                Vector3::from_fn(|_, _| sigma * Distribution::<f64>::sample(&StandardNormal, rng));
            let exact = Sample::of_reading(channel.quantity, reading);
            records.push(Some(match exact {
                Sample::Vector(v) => Sample::Vector(v + noise),
                Sample::Rotation(r) => Sample::Rotation(so3::exp(&noise) * r),
            }));
        }
        series.push(records);
    }
    let mut measured: Vec<Pose> = rolled.simulated.iter().map(|p| noisy(p, twin, rng)).collect();
    if twin.exact_start {
        measured[0] = rolled.simulated[0];
    }
    Ok((Toss { measured, series, ..toss }, rolled.unconverged))
}

/// Columns beside the pose: name, channel, place among the channel's columns.
pub(super) fn extra_columns(model: &Model) -> Vec<(String, usize, usize)> {
    let mut extra: Vec<(String, usize, usize)> = Vec::new();
    for (c, channel) in model.channels.iter().enumerate() {
        for (k, name) in channel.columns.iter().enumerate() {
            let known = COLUMNS[..POSE_COLUMNS].contains(&name.as_str())
                || extra.iter().any(|e| e.0 == *name);
            if !known {
                extra.push((name.clone(), c, k));
            }
        }
    }
    extra
}
