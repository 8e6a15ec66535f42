//! `osculate fit --compare`: every solver on the problem of one stage.

use crate::{CliError, Console, Report, files, table};
use osculate_fit::compare::{Contestant, Course, CoursePoint, compare};
use osculate_fit::fit::{Plan, starting_points};
use osculate_fit::problem::Horizon;
use osculate_fit::report::{ReportError, number};
use osculate_plot::{Axis, LineFigure, Series};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A loss this close to the lowest one counts as found.
const FOUND: f64 = 1.01;

/// Runs the comparison and writes `comparison.csv` and its figures.
///
/// * `stage`: from 1.
pub(super) fn run(
    plan: &Plan,
    stage: usize,
    (out, figures): (&Path, bool),
    interrupted: &Arc<AtomicBool>,
    console: &Console,
) -> Result<Report, CliError> {
    let horizon = plan.stages[stage - 1].horizon;
    let problem = plan.problem(horizon).map_err(|e| CliError::from(ReportError::from(e)))?;
    let problem = problem.interrupted_by(interrupted);
    let starts: Vec<_> = starting_points(&plan.parameters, plan.starts, plan.seed)
        .into_iter()
        .map(|u| (u, problem.own_start()))
        .collect();
    let parameters = problem.parameters();
    let bounds: Vec<[f64; 2]> = parameters.iter().map(|p| p.coordinate_bounds()).collect();
    let simplex = plan.stages[stage - 1].simplex;
    let steps: Vec<f64> = parameters.iter().map(|p| p.step.unwrap_or(simplex)).collect();
    let bar = console.progress(starts.len() * Contestant::ALL.len(), "compare");
    let courses = compare(&problem, &starts, (&bounds, &steps, plan.seed), interrupted, &|done| {
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    files::write(&out.join("comparison.csv"), csv(&courses).as_bytes())?;
    if figures {
        draw(&out.join("figures"), &courses)?;
    }
    Ok(report(&courses, (stage, horizon)))
}

fn csv(courses: &[Course]) -> String {
    let mut text = String::from("solver,start,evaluations,jacobians,cpu_s,loss\n");
    for course in courses {
        for p in &course.points {
            let cpu = p.cpu_seconds.map_or_else(String::new, |s| format!("{s:.6}"));
            let _ = writeln!(
                text,
                "\"{}\",{},{:.4},{:.4},{cpu},{:e}",
                course.contestant.name(),
                course.start + 1,
                p.evaluations,
                p.jacobians,
                p.loss
            );
        }
    }
    text
}

/// Loss against evaluations and against processor time, from the first start.
fn draw(folder: &Path, courses: &[Course]) -> Result<(), CliError> {
    files::create_folder(folder)?;
    let first: Vec<&Course> = courses.iter().filter(|c| c.start == 0).collect();
    let figure = |title: &str, x: Axis, of: &dyn Fn(&CoursePoint) -> f64| LineFigure {
        title: title.into(),
        x,
        y: Axis::log("lowest loss so far", ""),
        series: first
            .iter()
            .map(|c| {
                let (x, y) = c.points.iter().map(|p| (of(p), p.loss)).unzip();
                Series::line(c.contestant.name(), x, y)
            })
            .collect(),
        slopes: vec![],
    };
    let evaluations = figure(
        "Loss against evaluations, from the first start",
        Axis::log("evaluations (roll-outs of all tosses)", ""),
        &|p| p.evaluations,
    );
    let cpu = figure(
        "Loss against processor time, from the first start",
        Axis::log("processor time", "s"),
        &|p| p.cpu_seconds.unwrap_or(f64::NAN),
    );
    for (name, figure) in [("comparison_evaluations", evaluations), ("comparison_cpu", cpu)] {
        for extension in ["png", "svg"] {
            figure.save(&folder.join(format!("{name}.{extension}")))?;
        }
    }
    Ok(())
}

/// Medians of what each solver needed, over the starts from which it got there.
struct Needed {
    contestant: Contestant,
    reached: usize,
    evaluations: Option<f64>,
    jacobians: Option<f64>,
    cpu_seconds: Option<f64>,
}

fn needed(courses: &[Course], contestant: Contestant, lowest: f64) -> Needed {
    let points: Vec<&CoursePoint> = courses
        .iter()
        .filter(|c| c.contestant == contestant)
        .filter_map(|c| c.reached(FOUND * lowest))
        .collect();
    let of = |f: &dyn Fn(&CoursePoint) -> f64| median(points.iter().map(|p| f(p)).collect());
    Needed {
        contestant,
        reached: points.len(),
        evaluations: of(&|p| p.evaluations),
        jacobians: of(&|p| p.jacobians),
        cpu_seconds: of(&|p| p.cpu_seconds.unwrap_or(f64::NAN)),
    }
}

fn median(mut x: Vec<f64>) -> Option<f64> {
    x.sort_by(f64::total_cmp);
    let n = x.len();
    (n > 0).then(|| 0.5 * (x[(n - 1) / 2] + x[n / 2]))
}

fn report(courses: &[Course], (stage, horizon): (usize, Horizon)) -> Report {
    let lowest = courses.iter().map(Course::loss).fold(f64::INFINITY, f64::min);
    let starts = courses.iter().map(|c| c.start + 1).max().unwrap_or(0);
    let all: Vec<Needed> = Contestant::ALL.iter().map(|&c| needed(courses, c, lowest)).collect();
    let unit = all[0].evaluations;
    let show = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), number);
    let header = ["solver", "starts", "evaluations", "with Jacobian", "CPU s", "x of the first"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for n in &all {
        rows.push(vec![
            n.contestant.name().to_owned(),
            format!("{} of {starts}", n.reached),
            show(n.evaluations),
            show(n.jacobians),
            show(n.cpu_seconds),
            show(n.evaluations.zip(unit).map(|(e, u)| e / u)),
        ]);
    }
    let frames = match horizon {
        Horizon::Full => "whole motion".to_owned(),
        Horizon::Short { frames } => format!("{frames} frames"),
        Horizon::MultipleShooting { frames } => format!("shooting, {frames} frames"),
    };
    let text = format!(
        "comparison at stage {stage} ({frames}): to within 1 % of the lowest loss found, {}; medians over the starts that get there\n{}",
        number(lowest),
        table::render(&rows, &[false, true, true, true, true, true])
    );
    let needed: Vec<_> = all
        .iter()
        .map(|n| {
            json!({
                "solver": n.contestant, "starts_reached": n.reached, "evaluations": n.evaluations,
                "jacobians": n.jacobians, "cpu_seconds": n.cpu_seconds,
            })
        })
        .collect();
    let json =
        json!({ "stage": stage, "lowest_loss": lowest, "needed": needed, "courses": courses });
    Report { text, json, agrees: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solver_is_judged_by_the_starts_from_which_it_got_there() {
        let course = |start: usize, losses: &[f64]| Course {
            contestant: Contestant::CmaEs,
            start,
            points: losses
                .iter()
                .enumerate()
                .map(|(k, &loss)| CoursePoint {
                    evaluations: k as f64,
                    jacobians: 0.0,
                    cpu_seconds: None,
                    loss,
                })
                .collect(),
            stop: None,
        };
        let all = [course(0, &[3.0, 2.0, 1.0]), course(1, &[3.0, 2.5]), course(2, &[1.005])];
        let n = needed(&all, Contestant::CmaEs, 1.0);
        assert_eq!((n.reached, n.evaluations), (2, Some(1.0)));
        assert_eq!(needed(&all, Contestant::Lbfgs, 1.0).evaluations, None);
    }
}
