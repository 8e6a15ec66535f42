//! `[[effort]]`: forces and targets of joints.

use super::build::Context;
use super::error::FileError;
use super::schema::{EffortTable, SceneFile};
use super::wrench;
use crate::ArticulationParameters;

/// The most numbers of a scene.
const MOST: usize = 10_000_000;

/// Fills efforts and targets of every step and degree of freedom, where the file has any.
pub(super) fn apply(
    context: &Context<'_>,
    file: &SceneFile,
    durations: &[f64],
    parameters: Option<&mut ArticulationParameters>,
) -> Result<(), FileError> {
    if file.efforts.is_empty() {
        return Ok(());
    }
    let Some(p) = parameters else {
        return Err(context.value("effort", "an effort without joints", "joints to act on"));
    };
    let (dofs, steps) = (p.model.dofs(), durations.len());
    if dofs * steps > MOST {
        let found = format!("{} efforts, steps times degrees of freedom", dofs * steps);
        return Err(context.value("effort", found, "at most 10000000"));
    }
    if file.efforts.iter().any(|e| e.effort.is_some()) {
        p.efforts = vec![0.0; dofs * steps];
    }
    if file.efforts.iter().any(|e| e.target.is_some()) {
        let drive = |k: usize| p.model.links()[p.model.link_of(k)].joint.laws.drive;
        let target = |k: usize| drive(k).map_or(0.0, |d| d.target);
        p.targets = (0..dofs * steps).map(|i| target(i % dofs)).collect();
    }
    for (i, table) in file.efforts.iter().enumerate() {
        one(context, (table, &format!("effort[{i}]")), durations, p)?;
    }
    Ok(())
}

fn one(
    context: &Context<'_>,
    (table, at): (&EffortTable, &str),
    durations: &[f64],
    p: &mut ArticulationParameters,
) -> Result<(), FileError> {
    let Some(link) = p.model.find(&table.joint) else {
        let known: Vec<&str> = p.model.links().iter().map(|l| l.name.as_str()).collect();
        let allowed = format!("the child of a joint: {}", known.join(", "));
        return Err(context.value(&format!("{at}.joint"), format!("'{}'", table.joint), allowed));
    };
    let (own, dofs) = (p.model.joint_dofs(link), p.model.dofs());
    let steps = wrench::steps(context, (table.steps, table.times), at, durations)?;
    if table.effort.is_none() && table.target.is_none() {
        return Err(context.value(at, "neither", "effort, target or both"));
    }
    if let Some(effort) = &table.effort {
        let field = format!("{at}.effort");
        context.numbers(&field, effort)?;
        if effort.len() != own.len() {
            let allowed = format!("{}, one for each degree of freedom", own.len());
            return Err(context.value(&field, format!("{} numbers", effort.len()), allowed));
        }
        for step in steps.clone() {
            for (k, x) in own.clone().zip(effort) {
                p.efforts[step * dofs + k] += x;
            }
        }
    }
    if let Some(target) = table.target {
        let field = format!("{at}.target");
        context.number(&field, target)?;
        if p.model.links()[link].joint.laws.drive.is_none() {
            let found = "a target of a joint without drive";
            return Err(context.value(&field, found, "a joint with drive"));
        }
        steps.for_each(|step| p.targets[step * dofs + own.start] = target);
    }
    Ok(())
}
