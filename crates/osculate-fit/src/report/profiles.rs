//! Profiles of every free parameter and of those that are only profiled.

use super::ReportError;
use crate::experiment::Experiment;
use crate::fit::{Fit, Plan};
use crate::identify::{Curvature, Profile, profile, settle};
use crate::parameter::FreeParameter;
use crate::problem::{Horizon, Problem, ProblemError};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A first distance (in coordinates) where there is no standard error.
const DISTANCE: f64 = 0.1;

/// On a subset of the tosses; of as many frames as the last stage fitted. Where interrupted, those that had begun.
///
/// # Errors
/// Where a roll-out at the best point fails.
pub(super) fn profiles(
    experiment: &Experiment,
    plan: &Plan,
    (fitted, curved): (&Fit, Option<&Curvature>),
    interrupted: &Arc<AtomicBool>,
) -> Result<Vec<Profile>, ReportError> {
    let n = plan.tosses.len();
    // A group may have few tosses: none may be left out of its profile.
    let grouped = plan.parameters.iter().any(|p| p.group.is_some());
    let most = if grouped { n } else { experiment.file.profile.tosses.max(2) };
    let chosen: Vec<usize> =
        if n <= most { (0..n).collect() } else { (0..most).map(|k| k * n / most).collect() };
    let problem = problem(plan, &chosen)?.interrupted_by(interrupted);
    let kept: Vec<usize> =
        (0..plan.parameters.len()).filter(|&i| plan.parameters[i].profile_only).collect();
    let made_by = experiment.profile_plan();
    let mut from = best(plan, fitted, (&problem, &chosen));
    if n > most && made_by.known_noise {
        match settle(&problem, &mut from, &kept, interrupted) {
            Err(_) if interrupted.load(Ordering::Relaxed) => return Ok(Vec::new()),
            settled => settled?,
        }
    }
    let scales = distances(plan, curved);
    let made: Vec<_> = (0..plan.parameters.len())
        .into_par_iter()
        .map(|i| {
            let which = (i, kept.as_slice(), scales[i]);
            profile(&problem, (&from.0, &from.1), which, &made_by, interrupted)
        })
        .collect();
    let had_begun = |p: &Result<_, ProblemError>| p.is_ok() || !interrupted.load(Ordering::Relaxed);
    made.into_iter().filter(had_begun).map(|p| p.map_err(ReportError::from)).collect()
}

/// The problem of some tosses, in which everything is free that has a profile.
fn problem(plan: &Plan, chosen: &[usize]) -> Result<Problem, ReportError> {
    let tosses = chosen.iter().map(|&i| plan.tosses[i].clone()).collect();
    let free = |p: &FreeParameter| FreeParameter { profile_only: false, ..p.clone() };
    let all: Vec<FreeParameter> = plan.parameters.iter().map(free).collect();
    let horizon = match plan.stages.last().map(|s| s.horizon) {
        Some(short @ Horizon::Short { .. }) => short,
        _ => Horizon::Full,
    };
    let (model, initial) = (plan.model.clone(), plan.initial.clone());
    let made = Problem::new(model, tosses, &all, plan.weights, horizon, initial)?;
    Ok(made.with_nuisances(&plan.nuisances)?)
}

/// The best point of the fit in that problem; what was kept at the scene's value stands there.
fn best(
    plan: &Plan,
    fitted: &Fit,
    (problem, chosen): (&Problem, &[usize]),
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let best = fitted.best();
    let mut free = best.coordinates.iter();
    let of_scene =
        |p: &FreeParameter| p.to_coordinate(problem.scene_value(&p.path).unwrap_or(f64::NAN));
    let mut coordinate = |p: &FreeParameter| {
        let fitted = if p.profile_only { None } else { free.next().copied() };
        fitted.unwrap_or_else(|| of_scene(p))
    };
    let shared = plan.parameters.iter().map(&mut coordinate).collect();
    let own = chosen.iter().zip(problem.own_start()).map(|(&i, zero)| {
        let own = &best.own[i];
        if own.len() == zero.len() { own.clone() } else { zero }
    });
    (shared, own.collect())
}

/// First distances from the best values: robust standard errors where there are any.
fn distances(plan: &Plan, curved: Option<&Curvature>) -> Vec<f64> {
    let mut errors = curved.iter().flat_map(|c| c.robust_standard_errors.iter());
    let mut of = |p: &FreeParameter| {
        let error = if p.profile_only { None } else { errors.next().copied() };
        error.filter(|e| e.is_finite() && *e > 0.0).unwrap_or(DISTANCE)
    };
    plan.parameters.iter().map(&mut of).collect()
}
