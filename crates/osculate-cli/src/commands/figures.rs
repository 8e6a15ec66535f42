//! Figures of a fit.

use crate::CliError;
use osculate_fit::fit::Fit;
use osculate_fit::identify::{Profile, Verdict};
use osculate_fit::parameter::Scale;
use osculate_fit::report::Report;
use osculate_math::so3;
use osculate_plot::{
    Axis, ConvergenceFigure, CorrelationFigure, ParameterProfile, PlotError, ProfileFigure,
    ResidualFigure, TrajectoryFigure, Verdict as PlotVerdict,
};
use std::path::Path;

/// Writes every figure as PNG and SVG.
pub(crate) fn write(folder: &Path, report: &Report, fit: &Fit) -> Result<(), CliError> {
    std::fs::create_dir_all(folder).map_err(|e| CliError::io("create", folder, e))?;
    let both = |name: &str, save: &dyn Fn(&Path) -> Result<(), PlotError>| {
        save(&folder.join(format!("{name}.png")))?;
        save(&folder.join(format!("{name}.svg")))
    };
    let convergence = convergence(report);
    both("convergence", &|p| convergence.save(p))?;
    if let Some(figure) = residuals(report) {
        both("residuals", &|p| figure.save(p))?;
    }
    if let Some(figure) = correlation(report) {
        both("correlation", &|p| figure.save(p))?;
    }
    if let Some(figure) = profiles(report, fit) {
        both("profiles", &|p| figure.save(p))?;
    }
    for (name, block) in chosen(report) {
        if let Some(figure) = trajectory(fit, block, name) {
            both(&format!("toss_{name}"), &|p| figure.save(p))?;
        }
    }
    Ok(())
}

fn convergence(report: &Report) -> ConvergenceFigure {
    ConvergenceFigure {
        title: "Convergence at the last horizon".into(),
        loss_label: "mean loss a toss".into(),
        starts: report.starts.iter().map(|s| comparable(&s.history)).collect(),
    }
}

/// Losses of the last stages that have one loss in common: each starts where the one before ended. Stages with
/// another horizon have losses of their own, which say nothing about the others.
fn comparable(history: &[Vec<f64>]) -> Vec<f64> {
    let mut losses: Vec<f64> = Vec::new();
    for stage in history {
        match (losses.last(), stage.first()) {
            (Some(end), Some(begin)) if (end - begin).abs() <= 1e-9 * begin.abs() => {
                losses.extend_from_slice(&stage[1..]);
            }
            _ => losses.clone_from(stage),
        }
    }
    if losses.is_empty() { vec![f64::NAN] } else { losses }
}

fn residuals(report: &Report) -> Option<ResidualFigure> {
    let evaluation = report.evaluation.as_ref()?;
    Some(ResidualFigure {
        title: format!("Errors of {} fitted tosses", evaluation.tosses.len()),
        position_errors: evaluation.tosses.iter().map(|t| t.position_error_percent).collect(),
        position_unit: "% of width".into(),
        rotation_errors: evaluation.tosses.iter().map(|t| t.rotation_error_deg).collect(),
    })
}

fn correlation(report: &Report) -> Option<CorrelationFigure> {
    let curvature = report.curvature.as_ref()?;
    let names = report.parameters.iter().map(|p| short(&p.path));
    Some(CorrelationFigure {
        title: "Correlation of the estimates".into(),
        names: names.take(curvature.correlation.len()).collect(),
        matrix: curvature.correlation.clone(),
    })
}

/// The last part of a path: the symbol.
fn short(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).to_owned()
}

fn profiles(report: &Report, fit: &Fit) -> Option<ProfileFigure> {
    let log = |path: &str| {
        fit.problem
            .parameters()
            .iter()
            .find(|p| p.path == path)
            .is_none_or(|p| p.scale == Scale::Log)
    };
    let parameters: Vec<_> = report
        .profiles
        .iter()
        .filter_map(|p| {
            let axis = if log(&p.path) {
                Axis::log(short(&p.path), p.unit.clone())
            } else {
                Axis::linear(short(&p.path), p.unit.clone())
            };
            // An interrupted profile has no verdict, and is not drawn: it would look finished.
            let verdict = match p.verdict? {
                Verdict::Point { lower, upper } => PlotVerdict::Point { lower, upper },
                Verdict::Interval { lower, upper } => PlotVerdict::Interval { lower, upper },
                Verdict::LowerBound { lower } => PlotVerdict::LowerBound(lower),
                Verdict::UpperBound { upper } => PlotVerdict::UpperBound(upper),
                Verdict::Undetermined => PlotVerdict::Undetermined,
            };
            let drawn = drawn(p, log(&p.path));
            let pick = |all: &[f64]| drawn.iter().map(|&i| all[i]).collect();
            Some(ParameterProfile {
                axis,
                values: pick(&p.values),
                losses: pick(&p.losses),
                estimate: p.best,
                verdict,
                top: top(p),
            })
        })
        .collect();
    (!parameters.is_empty()).then(|| ProfileFigure {
        title: "Loss along each parameter, the others optimal".into(),
        loss: Axis::linear("mean loss a toss", ""),
        threshold: None,
        parameters,
    })
}

/// How much further than the first excluded value of its side a value is drawn.
const BEYOND: f64 = 3.0;

/// Indices of the values that are drawn: where the search went on far beyond an interval, interval and curve would be one line.
fn drawn(profile: &Profile, log: bool) -> Vec<usize> {
    let at = |x: f64| if log { (x / profile.best).ln() } else { x - profile.best };
    let all: Vec<f64> = profile.values.iter().map(|x| at(*x)).collect();
    let excluded = |side: f64| {
        let beyond = all.iter().zip(&profile.excess).filter(|(u, e)| **u * side > 0.0 && **e > 1.0);
        beyond.map(|(u, _)| u.abs()).fold(f64::INFINITY, f64::min)
    };
    let ends = [excluded(-1.0), excluded(1.0)];
    let near = |u: f64| u.abs() <= BEYOND * ends[usize::from(u > 0.0)];
    (0..all.len()).filter(|&i| near(all[i])).collect()
}

/// The largest loss that matters: of the values that are not excluded, and of the first excluded one a side.
fn top(profile: &Profile) -> Option<f64> {
    let best = profile.values.iter().position(|x| *x >= profile.best)?;
    let n = profile.values.len();
    let first = |mut side: Box<dyn Iterator<Item = usize>>| side.find(|&i| profile.excess[i] > 1.0);
    let ends = [first(Box::new((0..best).rev())), first(Box::new(best..n))];
    let inside = (0..n).filter(|&i| profile.excess[i] <= 1.0);
    inside.chain(ends.into_iter().flatten()).map(|i| profile.losses[i]).reduce(f64::max)
}

/// Blocks of the toss with the lowest, the median and the highest loss.
fn chosen(report: &Report) -> Vec<(&'static str, usize)> {
    let Some(evaluation) = &report.evaluation else { return Vec::new() };
    let mut order: Vec<usize> = (0..evaluation.tosses.len()).collect();
    order.sort_by(|&a, &b| evaluation.tosses[a].loss.total_cmp(&evaluation.tosses[b].loss));
    match order.len() {
        0 => Vec::new(),
        n => vec![("best", order[0]), ("median", order[n / 2]), ("worst", order[n - 1])],
    }
}

fn trajectory(fit: &Fit, block: usize, name: &str) -> Option<TrajectoryFigure> {
    let best = fit.best();
    let r = fit.problem.roll_out(block, &best.coordinates, &best.own[block]).ok()?;
    let pairs = || r.simulated.iter().zip(&r.measured);
    Some(TrajectoryFigure {
        title: format!("Toss {} ({name} of the fit)", r.id),
        measured: r.measured.iter().map(|p| p.position.into()).collect(),
        fitted: r.simulated.iter().map(|p| p.position.into()).collect(),
        position_errors: pairs().map(|(s, m)| (s.position - m.position).norm() * 1e3).collect(),
        position_unit: "mm".into(),
        rotation_errors: pairs()
            .map(|(s, m)| so3::log(&(s.rotation * m.rotation.transpose())).norm().to_degrees())
            .collect(),
        times: r.times,
    })
}

#[cfg(test)]
mod tests {
    use super::{Profile, comparable, drawn};

    /// An interval of 0.1 % in a figure that went to the ends of the range was a line.
    #[test]
    fn values_far_beyond_the_interval_are_not_drawn() {
        let values: Vec<f64> = [-4.0, -0.02, -0.01, -0.005, 0.0, 0.006, 0.011, 3.0]
            .iter()
            .map(|u: &f64| 0.2 * u.exp())
            .collect();
        let profile = Profile {
            path: "cube.mu".into(),
            unit: String::new(),
            losses: values.clone(),
            values,
            excess: vec![9.0, 3.0, 1.5, 0.5, 0.0, 0.6, 0.9, 7.0],
            known_noise: true,
            best: 0.2,
            verdict: None,
        };
        // Above, the first excluded value is the end itself.
        assert_eq!(drawn(&profile, true), [1, 2, 3, 4, 5, 6, 7]);
        let bound = Profile { excess: vec![0.0; 8], ..profile };
        assert_eq!(drawn(&bound, true).len(), 8);
    }

    #[test]
    fn stages_of_one_loss_are_joined_and_others_left_out() {
        let history = [vec![9.0, 8.0], vec![3.0, 2.0], vec![2.0, 1.0]];
        assert_eq!(comparable(&history), [3.0, 2.0, 1.0]);
        assert!(comparable(&[]).iter().all(|x| x.is_nan()));
    }
}
