//! The same questions of the parameters of a fit: over one standard error, of a few of its tosses.
//!
//! Asked is the motion of a toss along its own change by the parameter, `J_i = u_i · r` ([`Along`]): its derivative is
//! what standard errors and descent directions are made of. Each toss has a verdict; the parameter has that of the
//! middle toss of those to which it matters, the worse of two, and the worst one beside it.

use super::verdict::spaced;
use super::{Asked, Evidence, Judged, Verdict, judge};
use crate::least_squares::BlockProblem;
use crate::parameter::{FreeParameter, Scale};
use crate::problem::{Along, Problem, ProblemError};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Most tosses, evenly spread over those of the fit.
    pub tosses: usize,
    /// Time grids, each with half the step of the one before.
    pub grids: usize,
}

/// What one toss says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfToss {
    /// Number of the toss.
    pub toss: u32,
    /// Index of the segment asked: 0 but for multiple shooting.
    pub segment: usize,
    /// The verdict; none where a roll-out fails.
    pub verdict: Option<Verdict>,
    /// What was measured; none where the motion does not change at all or a roll-out fails.
    pub evidence: Option<Evidence>,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What the derivatives by a fitted parameter are good for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trust {
    /// Verdict of the middle toss of those to which the parameter matters; none where nothing was asked.
    pub verdict: Option<&'static str>,
    /// Verdict of the worst toss.
    pub worst: Option<&'static str>,
    /// The change asked about, in the unit of the parameter: its standard error, or less where the range ends before.
    pub over: Option<f64>,
    /// The smallest range of local trust, in the unit of the parameter.
    pub within: Option<f64>,
    /// The tosses.
    pub tosses: Vec<OfToss>,
    /// All of it in a sentence.
    pub statement: String,
}

/// Which blocks are asked: evenly spread, the first always among them.
pub fn chosen(blocks: usize, most: usize) -> Vec<usize> {
    if blocks <= most {
        (0..blocks).collect()
    } else {
        (0..most).map(|k| k * blocks / most).collect()
    }
}

/// Asks about every free parameter of a problem at a point.
///
/// * `sigmas`: standard error of each, in its unit; not asked about where there is none.
///
/// Costs about 70 roll-outs a parameter and toss with four grids: 18 for differences, 15 with an adjoint each for the
/// grids, the rest for the Hessian and the distances to switches. None where interrupted. Whatever the number of
/// threads, the result is the same.
///
/// # Errors
/// Where a roll-out at the point fails.
pub fn fitted(
    problem: &Problem,
    (shared, own): (&[f64], &[Vec<f64>]),
    sigmas: &[Option<f64>],
    extent: Extent,
    interrupted: &AtomicBool,
) -> Result<Option<Vec<Trust>>, ProblemError> {
    let free = problem.parameters();
    let asked: Vec<Result<Change, String>> =
        (0..free.len()).map(|i| change(&free[i], shared[i], sigmas[i])).collect();
    let of_tosses: Result<Vec<Option<Vec<Option<OfToss>>>>, ProblemError> =
        chosen(problem.blocks(), extent.tosses)
            .into_par_iter()
            .map(|block| {
                of_toss(problem, (block, shared, &own[block]), &asked, extent, interrupted)
            })
            .collect();
    if interrupted.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let Some(of_tosses) = of_tosses?.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let aggregated = asked.iter().enumerate().map(|(i, asked)| match asked {
        Ok(change) => {
            let tosses = of_tosses.iter().filter_map(|t| t[i].clone()).collect();
            aggregate(&free[i].path, problem.unit(i), change, tosses)
        }
        Err(why) => Trust {
            verdict: None,
            worst: None,
            over: None,
            within: None,
            tosses: Vec::new(),
            statement: format!("{}: not asked, because {why}", free[i].path),
        },
    });
    Ok(Some(aggregated.collect()))
}

/// The changes of a parameter that are asked about, in its unit.
struct Change {
    scale: f64,
    over: f64,
    /// The standard error, where the range of the parameter ends before it.
    cut: Option<f64>,
}

fn change(p: &FreeParameter, u: f64, sigma: Option<f64>) -> Result<Change, String> {
    let Some(sigma) = sigma.filter(|s| s.is_finite() && *s > 0.0) else {
        return Err("no standard error was found".into());
    };
    let (value, [low, high]) = (p.to_value(u), p.range);
    let room = (value - low).min(high - value);
    if room <= 1e-6 * (high - low) {
        return Err("it is at the edge of its range".into());
    }
    let scale = match p.scale {
        Scale::Linear => 0.25 * (high - low),
        Scale::Log | Scale::Bounded => p.slope(u).abs(),
    };
    Ok(Change { scale, over: sigma.min(room), cut: (sigma > room).then_some(sigma) })
}

/// The verdicts of one toss, by parameter; none where interrupted.
fn of_toss(
    problem: &Problem,
    (block, shared, own): (usize, &[f64], &[f64]),
    asked: &[Result<Change, String>],
    extent: Extent,
    interrupted: &AtomicBool,
) -> Result<Option<Vec<Option<OfToss>>>, ProblemError> {
    let toss = problem.toss_id(block);
    let along = problem.along(block, shared, own)?;
    let influence = |a: &Option<Along<'_>>, change: &Result<Change, String>| {
        a.as_ref().zip(change.as_ref().ok()).map_or(0.0, |(a, c)| a.sensitivity * c.scale)
    };
    let influences: Vec<f64> = along.iter().zip(asked).map(|(a, c)| influence(a, c)).collect();
    let largest = influences.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let one = |i: usize| {
        let change = asked[i].as_ref().ok()?;
        let Some(along) = &along[i] else {
            let verdict = Some(Verdict::TrustAsZero);
            return Some(OfToss { toss, segment: 0, verdict, evidence: None, failure: None });
        };
        Some(ask((toss, along), change, influences[i] / largest, extent))
    };
    let answers = (0..asked.len())
        .into_par_iter()
        .map(|i| if interrupted.load(Ordering::Relaxed) { None } else { Some(one(i)) });
    Ok(answers.collect())
}

fn ask(
    (toss, along): (u32, &Along<'_>),
    change: &Change,
    influence: f64,
    extent: Extent,
) -> OfToss {
    let asked = Asked { index: along.index, scale: change.scale, sigma: change.over };
    let none =
        OfToss { toss, segment: along.segment, verdict: None, evidence: None, failure: None };
    match along.assess(asked, extent.grids).map(|j| j.into_iter().next()) {
        Ok(Some(Judged { mut evidence, .. })) => {
            // It was asked about alone: its influence is relative to the toss's other parameters only now.
            evidence.influence *= influence;
            OfToss { verdict: Some(judge(&evidence)), evidence: Some(evidence), ..none }
        }
        Ok(None) => none,
        Err(error) => OfToss { failure: Some(error.to_string()), ..none },
    }
}

/// From good to bad.
fn rank(verdict: &Verdict) -> usize {
    match verdict {
        Verdict::TrustAsZero => 0,
        Verdict::Trust => 1,
        Verdict::TrustLocally { .. } => 2,
        Verdict::DoNotTrust { .. } => 3,
    }
}

fn aggregate(path: &str, unit: &str, change: &Change, tosses: Vec<OfToss>) -> Trust {
    let verdicts = || tosses.iter().filter_map(|t| t.verdict.as_ref().map(|v| (t.toss, v)));
    // Tosses to which it does not matter say nothing about those to which it does.
    let mut matter: Vec<&Verdict> = verdicts().map(|(_, v)| v).filter(|v| rank(v) > 0).collect();
    matter.sort_by_key(|v| rank(v));
    let any = verdicts().next().map(|(_, v)| v.word());
    let verdict = matter.get(matter.len() / 2).map(|v| v.word()).or(any);
    let worst = matter.last().map(|v| v.word()).or(any);
    let within = matter.iter().filter_map(|v| match v {
        Verdict::TrustLocally { within, .. } => Some(*within),
        _ => None,
    });
    let within = within.reduce(f64::min);
    let mut statement = format!("{path}: ");
    match verdict {
        None => statement += "no verdict",
        Some(word) => {
            let agree = verdicts().filter(|(_, v)| v.word() == word).count();
            let asked = if matter.is_empty() { verdicts().count() } else { matter.len() };
            statement += &format!("{word} ({agree} of {asked} tosses");
            match verdicts().count() - asked {
                0 => statement.push(')'),
                others => statement += &format!(", {others} more do not depend on it)"),
            }
        }
    }
    let worst_rank = matter.last().map_or(0, |v| rank(v));
    if let Some((toss, v)) = verdicts().find(|(_, v)| rank(v) == worst_rank && worst_rank > 1) {
        statement += &format!("; toss {toss}: {}", v.explained(unit));
    }
    for t in tosses.iter().filter(|t| t.failure.is_some()) {
        statement += &format!("; toss {}: {}", t.toss, t.failure.as_deref().unwrap_or_default());
    }
    if let Some(sigma) = change.cut {
        statement += &format!(
            " (asked over ±{:.1e}{}, where its range ends, not over σ = {sigma:.1e})",
            change.over,
            spaced(unit)
        );
    }
    Trust { verdict, worst, over: Some(change.over), within, tosses, statement }
}

#[cfg(test)]
mod tests {
    use super::super::Reason;
    use super::*;

    fn toss(id: u32, verdict: Verdict) -> OfToss {
        OfToss { toss: id, segment: 0, verdict: Some(verdict), evidence: None, failure: None }
    }

    fn locally(within: f64) -> Verdict {
        Verdict::TrustLocally { within, reasons: vec![Reason::Unsettled { drift: 0.2 }] }
    }

    fn not() -> Verdict {
        Verdict::DoNotTrust { reasons: vec![Reason::NoPlateau] }
    }

    const CHANGE: Change = Change { scale: 1.0, over: 0.1, cut: None };

    #[test]
    fn middle_toss_decides_and_the_worst_is_named_with_its_reason() {
        let tosses = vec![toss(4, Verdict::Trust), toss(5, not()), toss(6, Verdict::Trust)];
        let trust = aggregate("cube.mu", "", &CHANGE, tosses);
        assert_eq!((trust.verdict, trust.worst), (Some("trust"), Some("do not trust")));
        assert!(trust.statement.contains("trust (2 of 3 tosses); toss 5: do not trust, because"));
        let two = vec![toss(4, Verdict::Trust), toss(5, locally(0.01))];
        let trust = aggregate("cube.mu", "", &CHANGE, two);
        assert_eq!((trust.verdict, trust.within), (Some("trust locally"), Some(0.01)));
    }

    #[test]
    fn tosses_to_which_a_parameter_does_not_matter_do_not_outvote_the_others() {
        let zero = |id| toss(id, Verdict::TrustAsZero);
        let trust = aggregate("cube.mu", "", &CHANGE, vec![zero(1), zero(2), toss(3, not())]);
        assert_eq!(trust.verdict, Some("do not trust"));
        let trust = aggregate("cube.mu", "", &CHANGE, vec![zero(1), zero(2)]);
        assert_eq!(trust.verdict, Some("trust as zero"));
    }

    #[test]
    fn change_asked_about_stays_inside_the_range() {
        let p = FreeParameter::new("cube.mu", Scale::Log, [0.1, 1.0]);
        let over = |value: f64, sigma| change(&p, value.ln(), sigma).map(|c| (c.over, c.cut));
        assert_eq!(over(0.5, Some(0.01)), Ok((0.01, None)));
        let (cut, sigma) = over(0.2, Some(0.3)).unwrap();
        assert!((cut - 0.1).abs() < 1e-12 && sigma == Some(0.3));
        assert!(over(0.1, Some(0.01)).unwrap_err().contains("edge of its range"));
        assert!(over(0.5, None).is_err() && over(0.5, Some(f64::INFINITY)).is_err());
    }
}
