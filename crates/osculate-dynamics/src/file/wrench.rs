//! `[[wrench]]`: forces and torques of each step.

use super::build::Context;
use super::error::FileError;
use super::schema::AppliedWrench;
use crate::{Scene, Wrench};
use std::ops::Range;

/// The most wrenches of a scene, steps times dynamic actors.
const MOST: usize = 10_000_000;

/// The wrench of every step and dynamic body, in the order of [`crate::Parameters::wrenches`]; empty for none.
pub(super) fn applied(
    context: &Context<'_>,
    list: &[AppliedWrench],
    scene: &Scene,
    durations: &[f64],
) -> Result<Vec<Wrench>, FileError> {
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let dynamic: Vec<usize> = scene.dynamic_bodies().collect();
    let count = durations.len() * dynamic.len();
    if count > MOST {
        let found = format!("{count} wrenches, steps times dynamic actors");
        return Err(context.value("wrench", found, "at most 10000000"));
    }
    let mut wrenches = vec![Wrench::zero(); count];
    for (i, wrench) in list.iter().enumerate() {
        let at = format!("wrench[{i}]");
        let body = context.actor(&format!("{at}.actor"), &wrench.actor, scene)?;
        let Some(place) = dynamic.iter().position(|&d| d == body) else {
            let found = format!("'{}', which is static", wrench.actor);
            return Err(context.value(&format!("{at}.actor"), found, "a dynamic actor"));
        };
        let force = context.vector(&format!("{at}.force"), &wrench.force)?;
        let torque = context.vector(&format!("{at}.torque"), &wrench.torque)?;
        let given = (wrench.steps, wrench.times);
        for step in steps(context, given, &at, durations)? {
            let total = &mut wrenches[step * dynamic.len() + place];
            total.force += force;
            total.torque += torque;
        }
    }
    Ok(wrenches)
}

/// The steps that a table names, all of them by default; `at` is its field path.
pub(super) fn steps(
    context: &Context<'_>,
    given: (Option<[usize; 2]>, Option<[f64; 2]>),
    at: &str,
    durations: &[f64],
) -> Result<Range<usize>, FileError> {
    let count = durations.len();
    match given {
        (None, None) => Ok(0..count),
        (Some([from, to]), None) => {
            if from < to && to <= count {
                return Ok(from..to);
            }
            let allowed = format!("[from, to] with 0 <= from < to <= {count}");
            Err(context.value(&format!("{at}.steps"), format!("[{from}, {to}]"), allowed))
        }
        (None, Some(times)) => {
            let field = format!("{at}.times");
            context.numbers(&field, &times)?;
            let found = steps_between(durations, times);
            if times[0] < times[1] && !found.is_empty() {
                return Ok(found);
            }
            let allowed = "[from, to] with from < to and the middle of a step between them";
            Err(context.value(&field, format!("{times:?}"), allowed))
        }
        (Some(_), Some(_)) => {
            Err(context.value(&format!("{at}.times"), "steps beside times", "one of them"))
        }
    }
}

/// The steps whose middle lies in `[from, to)` \[s\]; `durations` are those of all steps \[s\].
pub fn steps_between(durations: &[f64], [from, to]: [f64; 2]) -> Range<usize> {
    let (mut start, mut first, mut end) = (0.0, durations.len(), 0);
    for (step, duration) in durations.iter().enumerate() {
        let middle = start + 0.5 * duration;
        if middle >= from && middle < to {
            first = first.min(step);
            end = step + 1;
        }
        start += duration;
    }
    first..end.max(first)
}
