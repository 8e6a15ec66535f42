//! Roll-outs of ours that differ in one known thing, where nothing else shows why a recording parts.
//!
//! ```text
//! rotation     q ← (q + h/2 (ω, 0) q)/‖…‖, as the recording turns bodies: an angle of 2 atan(hω/2) a step instead of hω
//! cut short    an eighth of the sweeps fewer, and more: what a solve that is cut short leaves
//! ```
//!
//! With the first the motion is that of the recording, and its angles are wrong by a known amount. With the second the roll-outs part as
//! far as the recording does: the motion is that of what the sweeps leave, and neither side meets its law.

use super::evidence::Shown;
use super::motion::{Setting, TOLERANCE, allowed, roll};
use super::scenes::{Mark, Set};
use crate::CliError;
use nalgebra::{Quaternion, Rotation3, UnitQuaternion, Vector3};
use osculate_dynamics::impulse::{
    ImpulseRunError, ImpulseSettings, ImpulseSimulator, ImpulseStepper, ImpulseTrajectory,
    RigidState,
};
use serde_json::json;

/// Part of the sweeps that is left out, and added \[–\].
const PART: f64 = 0.125;
/// How much farther than its twins a recording may be: they are two \[–\].
const BEYOND: f64 = 1.25;

/// What either twin shows.
///
/// * `settings`, `ours`: of the roll-out with as many sweeps from zero as the recording.
///
/// # Errors
/// Where a roll-out fails.
pub(super) fn find(
    setting: &Setting<'_>,
    set: &Set,
    (settings, ours): (ImpulseSettings, &ImpulseTrajectory),
) -> Result<Option<Shown>, CliError> {
    if let Some(shown) = rotation(setting, set, (settings, ours))? {
        return Ok(Some(shown));
    }
    cut_short(setting, set, (settings, ours))
}

fn place(states: &[RigidState], mark: &Mark) -> Vector3<f64> {
    let state = &states[mark.body];
    state.center + state.rotation * mark.offset
}

/// The largest, over the marks, of a distance over what is allowed at an instant.
fn largest(set: &Set, instant: usize, distance: impl Fn(&Mark) -> f64) -> f64 {
    set.marks.iter().map(|mark| distance(mark) / allowed(mark, instant)).fold(0.0, f64::max)
}

/// Free bodies with point friction, turned as the recording turns them; a step forgets what contacts carried.
fn turned(set: &Set, settings: ImpulseSettings) -> Result<Vec<Vec<RigidState>>, CliError> {
    let whole = ImpulseSimulator::new(set.scene.clone(), settings, set.durations())?;
    let mut stepper = ImpulseStepper::new(&set.scene, settings, &whole.parameters())?;
    let mut path = vec![stepper.states().to_vec()];
    for _ in 0..set.steps {
        let before = stepper.states().to_vec();
        let failed = |e| CliError::Impulse(Box::new(ImpulseRunError::from(e)));
        stepper.step(&set.wrench, set.dt).map_err(failed)?;
        for (i, body) in set.scene.bodies.iter().enumerate() {
            if body.mass().is_some() {
                let after = stepper.states()[i];
                let rotation = Rotation3::from_matrix_unchecked(before[i].rotation);
                let q = UnitQuaternion::from_rotation_matrix(&rotation).into_inner();
                let w = after.angular_velocity * (0.5 * set.dt);
                let q = q + Quaternion::from_parts(0.0, w) * q;
                let rotation = UnitQuaternion::from_quaternion(q).to_rotation_matrix();
                let turned = RigidState { rotation: rotation.into_inner(), ..after };
                let refused = |e| CliError::Impulse(Box::new(ImpulseRunError::from(e)));
                stepper.reset(i, turned).map_err(refused)?;
            }
        }
        path.push(stepper.states().to_vec());
    }
    Ok(path)
}

/// Whether the recording is our motion with rotations of first order in the quaternion.
fn rotation(
    setting: &Setting<'_>,
    set: &Set,
    (settings, ours): (ImpulseSettings, &ImpulseTrajectory),
) -> Result<Option<Shown>, CliError> {
    if set.scene.articulation.is_some() || settings.patch_friction() {
        return Ok(None);
    }
    let path = turned(set, settings)?;
    let steps = &setting.case.steps;
    let off = |(instant, &step): (usize, &usize)| {
        largest(set, instant, |mark| (place(&path[step], mark) - mark.path[instant]).norm())
    };
    let as_there = steps.iter().enumerate().map(off).fold(0.0, f64::max);
    // What its steps miss of the angle of their own angular velocity.
    let missed = |step: usize| {
        let angle = |s: &RigidState| s.angular_velocity.norm() * set.dt;
        let miss = |s: &RigidState| angle(s) - 2.0 * (0.5 * angle(s)).atan();
        ours.state(step).iter().map(miss).fold(0.0, f64::max)
    };
    let missed: f64 = (1..=set.steps).map(missed).sum();
    Ok((as_there <= TOLERANCE).then(|| Shown {
        text: format!(
            "rotations of the recording are of first order in the quaternion and miss {missed:.1e} rad of their own angular velocity by the end; turned alike, ours is within {as_there:.2} of what is allowed"
        ),
        numbers: json!({ "by": "rotation", "missed_angle": missed, "turned_alike_off": as_there }),
    }))
}

/// Whether a few sweeps more or less part ours as far as the recording is off.
fn cut_short(
    setting: &Setting<'_>,
    set: &Set,
    (settings, ours): (ImpulseSettings, &ImpulseTrajectory),
) -> Result<Option<Shown>, CliError> {
    let few = ((settings.sweeps as f64 * PART) as usize).max(1);
    let counts = [settings.sweeps.saturating_sub(few).max(1), settings.sweeps + few];
    let mut others = Vec::new();
    for sweeps in counts {
        others.push(roll(set, ImpulseSettings { sweeps, ..settings })?);
    }
    let (mut theirs, mut twins, mut among) = (0.0_f64, 0.0_f64, true);
    for (instant, &step) in setting.case.steps.iter().enumerate() {
        let own = |mark: &Mark| place(ours.state(step), mark);
        theirs = theirs.max(largest(set, instant, |mark| (own(mark) - mark.path[instant]).norm()));
        for other in &others {
            let apart = |mark: &Mark| (own(mark) - place(other.state(step), mark)).norm();
            twins = twins.max(largest(set, instant, apart));
        }
        // What has parted does not come together again.
        among &= theirs <= TOLERANCE.max(BEYOND * twins);
    }
    let [fewer, more] = counts;
    let sweeps = settings.sweeps;
    Ok(among.then(|| Shown {
        text: format!(
            "{sweeps} sweeps are cut short: ours with {fewer} and {more} part from ours with {sweeps} by {twins:.1} times what is allowed, the recording by {theirs:.1} times, at no instant {BEYOND} times as far as they"
        ),
        numbers: json!({ "by": "cut short", "sweeps": counts, "recorded_off": theirs, "twins_off": twins }),
    }))
}
