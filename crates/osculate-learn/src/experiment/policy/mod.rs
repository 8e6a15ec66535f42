//! A policy that pushes a box to a goal with a round pusher: states → network → force → roll-out, again and again.

mod config;
mod figures;
mod unroll;

use super::train::{Point, train};
use super::{ExperimentError, Options, files};
use crate::operation::{device, numbers};
use config::{Config, Pose};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use unroll::{Arena, Course};

/// Wanted: a start counts as reached within this \[m\].
const WITHIN: f64 = 0.01;

/// What is written.
#[derive(Serialize)]
struct Report {
    settings: Config,
    iterations: usize,
    reached: usize,
    starts: Vec<Judged>,
    held_out_reached: usize,
    held_out: Vec<Judged>,
    untrained: Vec<Judged>,
    loss: Vec<Point>,
    wall_s: f64,
}

/// How one start ended.
#[derive(Serialize)]
struct Judged {
    start: Pose,
    /// Distance of the box from the goal at the end (m).
    distance_m: f64,
    /// Speed of the box at the end (m/s).
    speed_m_s: f64,
    /// Largest force on the box, floor and pusher together (N).
    largest_contact_force_n: f64,
}

pub(super) fn run(file: &Path, options: &Options) -> Result<String, ExperimentError> {
    let begin = Instant::now();
    let config: Config = files::read(file)?;
    config.check(file)?;
    let device = device()?;
    let arena = Arena::new(file, &config, &device)?;
    let network = arena.network(&device);
    let judge =
        |network: &_, starts: &[Pose]| -> Result<(Vec<Judged>, Vec<Course>), ExperimentError> {
            if starts.is_empty() {
                return Ok((Vec::new(), Vec::new()));
            }
            let unrolled = arena.unroll(network, starts)?;
            let courses = unrolled.courses(&arena)?;
            Ok((
                starts.iter().zip(&courses).map(|(s, c)| judged(*s, c, config.goal)).collect(),
                courses,
            ))
        };
    let (untrained, _) = judge(&network, &config.starts)?;
    let training = if options.quick { config.quick } else { config.training };
    let (network, loss) = train(network, &training, |network, _| {
        Ok(arena.unroll(network, &config.starts)?.loss(&config))
    })?;
    let (starts, courses) = judge(&network, &config.starts)?;
    let (held_out, others) = judge(&network, &config.held_out)?;
    let count = |all: &[Judged]| all.iter().filter(|j| j.distance_m <= WITHIN).count();
    let report = Report {
        iterations: training.iterations,
        reached: count(&starts),
        held_out_reached: count(&held_out),
        starts,
        held_out,
        untrained,
        loss,
        wall_s: begin.elapsed().as_secs_f64(),
        settings: config,
    };
    let config = &report.settings;
    let figures =
        [("path", figures::path(config, &courses, &others)), ("loss", figures::loss(&report.loss))];
    files::write(&options.out, &report, &figures)?;
    Ok(summary(&report))
}

fn judged(start: Pose, course: &Course, goal: [f64; 2]) -> Judged {
    let end = course.boxes.last().copied().unwrap_or_default();
    Judged {
        start,
        distance_m: (end[0] - goal[0]).hypot(end[1] - goal[1]),
        speed_m_s: course.speed,
        largest_contact_force_n: course.largest_force,
    }
}

fn summary(report: &Report) -> String {
    let mut out = String::new();
    let mut table = |name: &str, all: &[Judged]| {
        for j in all {
            let _ = writeln!(
                out,
                "{name} x {:+.3} y {:+.3} yaw {:+.0}°: {:.2} cm from the goal, {:.3} m/s",
                j.start.0,
                j.start.1,
                j.start.2,
                100.0 * j.distance_m,
                j.speed_m_s
            );
        }
    };
    table("untrained", &report.untrained);
    table("start    ", &report.starts);
    table("held out ", &report.held_out);
    let _ = writeln!(
        out,
        "{} of {} starts and {} of {} held-out starts within 1 cm, {} iterations, {:.0} s",
        report.reached,
        report.starts.len(),
        report.held_out_reached,
        report.held_out.len(),
        report.iterations,
        report.wall_s
    );
    out
}

/// The numbers of a tensor's row.
fn rows(tensor: &burn::tensor::Tensor<2>) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let columns = tensor.dims()[1];
    Ok(numbers(tensor)?.chunks(columns).map(<[f64]>::to_vec).collect())
}
