//! The comparison of candidates, the choice of several, and the local search from the best.

use super::criterion::Posterior;
use super::prepared::{NearSwitch, Set};
use super::report::{
    Ascended, CandidateReport, ChosenReport, GradientEntry, ParameterReport, Report, SettingReport,
};
use super::{Candidate, Criterion, Design, DesignError, Setting};
use crate::contact_model::ModelError;
use crate::trust::Asked;
use nalgebra::DMatrix;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest move of a setting in the first step of the local search, as part of its range.
const FIRST_MOVE: f64 = 0.1;
/// The local search ends where every move is shorter.
const LAST_MOVE: f64 = 1e-4;

/// What one candidate tells.
struct Judged {
    information: DMatrix<f64>,
    jacobian: DMatrix<f64>,
    elimination: DMatrix<f64>,
    unconverged: usize,
}

/// How good a state of knowledge is: how many targets are not determined, then the score over the others.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rank {
    undetermined: usize,
    score: f64,
}

impl Rank {
    fn before(&self, other: &Self) -> std::cmp::Ordering {
        let few = self.undetermined.cmp(&other.undetermined);
        few.then(self.score.total_cmp(&other.score))
    }
}

impl Design {
    fn criterion(&self) -> Criterion {
        self.file.criterion
    }

    fn rank(&self, posterior: &Posterior) -> Rank {
        let (told, not): (Vec<usize>, Vec<usize>) =
            self.targets.iter().partition(|t| posterior.determined[**t]);
        let score = match told.as_slice() {
            [] => f64::INFINITY,
            told => posterior.score(self.criterion(), told),
        };
        Rank { undetermined: not.len(), score }
    }

    fn judge(&self, candidate: &Candidate, settings: &[Set]) -> Result<Judged, ModelError> {
        let told = self.experiment(candidate).told(settings)?;
        let (information, elimination) = told.joint.eliminated();
        let (jacobian, unconverged) = (told.joint.jacobian, told.unconverged);
        Ok(Judged { information, jacobian, elimination, unconverged })
    }

    /// Derivative of the logarithm of the score by the settings; none where there is none.
    fn gradient(
        &self,
        candidate: &Candidate,
        settings: &[Set],
        judged: &Judged,
    ) -> Result<Option<Vec<f64>>, ModelError> {
        let posterior = Posterior::of(&(&self.present + &judged.information));
        let Some(slope) = posterior.slope(self.criterion(), &self.targets) else {
            return Ok(None);
        };
        let x = &judged.elimination;
        let cotangent = x * slope * x.transpose();
        self.experiment(candidate).gradient(settings, &cotangent, &judged.jacobian)
    }

    fn report(&self, index: usize) -> (CandidateReport, Option<DMatrix<f64>>) {
        let candidate = &self.candidates[index];
        let settings = sets(&candidate.settings);
        let mut report = CandidateReport::new(index, candidate);
        let judged = match self.judge(candidate, &settings) {
            Ok(judged) if judged.information.iter().all(|x| x.is_finite()) => judged,
            Ok(_) => {
                report.failure = Some("its derivatives are not finite".into());
                return (report, None);
            }
            Err(error) => {
                report.failure = Some(error.to_string());
                return (report, None);
            }
        };
        let posterior = Posterior::of(&(&self.present + &judged.information));
        let errors = posterior.standard_errors();
        report.score = Some(posterior.score(self.criterion(), &self.targets));
        report.log_det = posterior.log_det(&self.targets);
        report.standard_errors = errors.clone();
        report.information = rows(&judged.information);
        report.unconverged = judged.unconverged;
        let before = Posterior::of(&self.present).score(self.criterion(), &self.targets);
        report.gain = report.score.map(|after| before / after).filter(|g| g.is_finite());
        if !candidate.settings.is_empty() {
            match self.gradient(candidate, &settings, &judged) {
                Ok(gradient) => report.gradient = gradient.map(|g| entries(candidate, &g)),
                Err(error) => report.failure = Some(format!("its gradient: {error}")),
            }
        }
        report.switches = self.switches(candidate, &settings, &errors);
        (report, Some(judged.information))
    }

    /// The nearest switch of each target, over its standard error after the experiment.
    fn switches(
        &self,
        candidate: &Candidate,
        settings: &[Set],
        errors: &[f64],
    ) -> Vec<Option<NearSwitch>> {
        let nearest = |&t: &usize| {
            let sigma = errors[t] * self.known[t].slope.abs();
            let asked = (sigma.is_finite() && sigma > 0.0).then_some((t, sigma))?;
            self.experiment(candidate).switch(settings, asked).ok().flatten()
        };
        self.targets.iter().map(nearest).collect()
    }

    /// The candidates that lower the score most, one after another.
    fn choose(&self, told: &[Option<DMatrix<f64>>]) -> Vec<ChosenReport> {
        let (mut known, mut chosen) = (self.present.clone(), Vec::<ChosenReport>::new());
        for _ in 0..self.file.experiments {
            let free = |i: &usize| self.file.repeat || !chosen.iter().any(|c| c.candidate == *i);
            let after = |i: usize| Some((i, &known + told[i].as_ref()?));
            let best = (0..told.len())
                .filter(free)
                .filter_map(after)
                .map(|(i, after)| (i, Posterior::of(&after), after))
                .min_by(|a, b| self.rank(&a.1).before(&self.rank(&b.1)));
            let Some((candidate, posterior, after)) = best else { break };
            known = after;
            chosen.push(ChosenReport {
                candidate,
                score: posterior.score(self.criterion(), &self.targets),
                standard_errors: posterior.standard_errors(),
            });
        }
        chosen
    }

    /// Descends from a candidate along the exact gradient, inside the ranges of its settings; none where nothing can move.
    fn ascend(
        &self,
        index: usize,
        interrupted: &AtomicBool,
    ) -> Result<Option<Ascended>, ModelError> {
        let start = &self.candidates[index];
        let ranges: Vec<Option<[f64; 2]>> = start.settings.iter().map(|s| s.range).collect();
        let mut settings = sets(&start.settings);
        let score = |settings: &[Set]| -> Result<(Judged, f64), ModelError> {
            let judged = self.judge(start, settings)?;
            let posterior = Posterior::of(&(&self.present + &judged.information));
            let score = posterior.score(self.criterion(), &self.targets);
            Ok((judged, score))
        };
        let (mut judged, mut value) = score(&settings)?;
        let (before, mut evaluations, mut steps, mut length) = (value, 1, 0, FIRST_MOVE);
        while steps < self.file.ascent.steps && !interrupted.load(Ordering::Relaxed) {
            let Some(gradient) = self.gradient(start, &settings, &judged)? else { break };
            let Some(direction) = downhill(&settings, &ranges, &gradient) else { break };
            let mut found = None;
            while length >= LAST_MOVE {
                let next = moved(&settings, &ranges, &direction, length);
                evaluations += 1;
                // A roll-out that fails is a step too far.
                if let Ok((j, v)) = score(&next)
                    && v < value
                {
                    found = Some((next, j, v));
                    break;
                }
                length *= 0.5;
            }
            let Some((next, j, v)) = found else { break };
            (settings, judged, value) = (next, j, v);
            steps += 1;
            length *= 2.0;
        }
        if ranges.iter().all(Option::is_none) {
            return Ok(None);
        }
        let at = start.settings.iter().zip(&settings);
        let settings = at.map(|(s, (_, value))| Setting { value: *value, ..s.clone() });
        Ok(Some(Ascended {
            candidate: index,
            settings: settings.map(|s| SettingReport::of(&s)).collect(),
            before,
            after: value,
            steps,
            evaluations,
        }))
    }

    /// What the Fisher matrix of a candidate is good for, target by target.
    fn trust(&self, report: &mut CandidateReport) {
        let candidate = &self.candidates[report.candidate];
        let settings = sets(&candidate.settings);
        for &t in &self.targets {
            let known = &self.known[t];
            // Over one standard error, or less where the range ends before.
            let sigma = (report.standard_errors[t] * known.slope.abs()).min(known.room());
            if !(report.standard_errors[t].is_finite() && sigma > 0.0) {
                let why = "not asked, as it is not determined or stands at the end of its range";
                report.trust.push(format!("{}: {why}", known.path));
                continue;
            }
            let asked = Asked { index: t, scale: known.large(), sigma };
            let asked = self.experiment(candidate).trust(&settings, asked, self.file.trust.grids);
            report.trust.push(match asked {
                Ok(Some(judged)) => judged.sentence(),
                Ok(None) => format!("{}: its measurements do not change with it", known.path),
                Err(error) => format!("{}: not asked, because {error}", known.path),
            });
        }
    }
}

fn sets(settings: &[Setting]) -> Vec<Set> {
    settings.iter().map(|s| (s.index, s.value)).collect()
}

fn rows(m: &DMatrix<f64>) -> Vec<Vec<f64>> {
    m.row_iter().map(|r| r.iter().copied().collect()).collect()
}

fn entries(candidate: &Candidate, gradient: &[f64]) -> Vec<GradientEntry> {
    let settings = candidate.settings.iter().zip(gradient);
    settings
        .map(|(s, g)| GradientEntry { path: s.path.clone(), unit: s.unit, log_score: *g })
        .collect()
}

/// Direction in parts of the ranges, largest part one; none where no setting may move on.
fn downhill(settings: &[Set], ranges: &[Option<[f64; 2]>], gradient: &[f64]) -> Option<Vec<f64>> {
    let one = |((&(_, x), range), g): ((&Set, &Option<[f64; 2]>), &f64)| {
        let Some([low, high]) = *range else { return 0.0 };
        let d = -g * (high - low);
        if (x <= low && d < 0.0) || (x >= high && d > 0.0) { 0.0 } else { d }
    };
    let direction: Vec<f64> = settings.iter().zip(ranges).zip(gradient).map(one).collect();
    let largest = direction.iter().fold(0.0_f64, |a, d| a.max(d.abs()));
    (largest > 0.0 && largest.is_finite()).then(|| direction.iter().map(|d| d / largest).collect())
}

fn moved(
    settings: &[Set],
    ranges: &[Option<[f64; 2]>],
    direction: &[f64],
    length: f64,
) -> Vec<Set> {
    let one = |((&(index, x), range), d): ((&Set, &Option<[f64; 2]>), &f64)| match *range {
        Some([low, high]) => (index, (x + length * d * (high - low)).clamp(low, high)),
        None => (index, x),
    };
    settings.iter().zip(ranges).zip(direction).map(one).collect()
}

/// The report of a candidate and its information; none where it failed.
type Answer = (CandidateReport, Option<DMatrix<f64>>);

impl Design {
    /// Asks every candidate, in the order of the file.
    fn ask_all(&self, interrupted: &AtomicBool, observe: &(dyn Fn() + Sync)) -> Vec<Answer> {
        let one = |i: usize| {
            if interrupted.load(Ordering::Relaxed) {
                let mut report = CandidateReport::new(i, &self.candidates[i]);
                report.failure = Some("interrupted".into());
                return (report, None);
            }
            let found = self.report(i);
            observe();
            found
        };
        (0..self.candidates.len()).into_par_iter().map(one).collect()
    }

    /// The local search and the verdicts, of candidates in the order of their ranks.
    fn look_on(
        &self,
        candidates: &mut [CandidateReport],
        interrupted: &AtomicBool,
    ) -> (Option<Ascended>, Option<String>) {
        let told = candidates.iter().take_while(|c| c.score.is_some()).count();
        let most = self.file.trust.candidates.min(told);
        candidates[..most].par_iter_mut().for_each(|c| {
            if !interrupted.load(Ordering::Relaxed) {
                self.trust(c);
            }
        });
        match candidates.first() {
            Some(best) if self.file.ascent.steps > 0 && told > 0 => {
                match self.ascend(best.candidate, interrupted) {
                    Ok(ascended) => (ascended, None),
                    Err(error) => (None, Some(error.to_string())),
                }
            }
            _ => (None, None),
        }
    }
}

/// Compares every candidate, chooses, and searches on from the best.
///
/// * `observe`: called once for every candidate that is done, from worker threads.
///
/// The result does not depend on the number of threads.
///
/// # Errors
/// Where every candidate fails.
pub fn search(
    design: &Design,
    interrupted: &AtomicBool,
    observe: &(dyn Fn() + Sync),
) -> Result<Report, DesignError> {
    let (mut candidates, told): (Vec<_>, Vec<_>) =
        design.ask_all(interrupted, observe).into_iter().unzip();
    if told.iter().all(Option::is_none) && !interrupted.load(Ordering::Relaxed) {
        let first = candidates[0].failure.clone().unwrap_or_default();
        return Err(DesignError::AllFailed { candidates: candidates.len(), first });
    }
    let chosen = design.choose(&told);
    let rank = |told: &Option<DMatrix<f64>>| match told {
        Some(f) => design.rank(&Posterior::of(&(&design.present + f))),
        None => Rank { undetermined: usize::MAX, score: f64::INFINITY },
    };
    let ranks: Vec<Rank> = told.iter().map(rank).collect();
    // A stable sort: ties keep the order of the file.
    candidates.sort_by(|a, b| ranks[a.candidate].before(&ranks[b.candidate]));
    let (ascended, ascent_failure) = design.look_on(&mut candidates, interrupted);
    let present = Posterior::of(&design.present);
    Ok(Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        design: design.path.display().to_string(),
        criterion: design.criterion(),
        parameters: ParameterReport::all(design, &present.standard_errors()),
        targets: design.targets.iter().map(|t| design.known[*t].path.clone()).collect(),
        present_score: present.score(design.criterion(), &design.targets),
        candidates,
        chosen,
        ascended,
        ascent_failure,
        interrupted: interrupted.load(Ordering::Relaxed),
    })
}
