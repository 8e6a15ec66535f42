//! Physics alone, and physics with a small network beside it, on tosses with drag and magnetism.

mod config;
mod figures;
mod model;
mod twin;

use super::train::{Point, train};
use super::{ExperimentError, Options, files};
use crate::operation::{device, numbers};
use crate::{STATE, WRENCH};
use config::Config;
use model::{Arm, Frame, errors};
use osculate_dynamics::file::SceneFile;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use twin::Tosses;

/// What is written.
#[derive(Serialize)]
struct Report {
    settings: Config,
    iterations: usize,
    /// Before training, physics alone, physics with the network, and the true law held over a frame.
    arms: Vec<Judged>,
    /// Root mean square of the true force on held-out tosses, and of what the network's force misses of it (N).
    force: ForceErrors,
    wall_s: f64,
}

/// An arm, judged by the true poses of tosses.
#[derive(Serialize)]
struct Judged {
    name: &'static str,
    /// Paths and values.
    parameters: Vec<(String, f64)>,
    train: Errors,
    valid: Errors,
    loss: Vec<Point>,
    wall_s: f64,
}

/// Means over tosses and frames, and at the end.
#[derive(Clone, Serialize)]
struct Errors {
    position_m: f64,
    rotation_rad: f64,
    end_position_m: f64,
    end_rotation_rad: f64,
    /// Mean distance of every frame (m).
    along_m: Vec<f64>,
}

/// Root mean squares over frames of held-out tosses (N).
#[derive(Serialize)]
struct ForceErrors {
    truth_n: f64,
    missed_n: f64,
}

pub(super) fn run(file: &Path, options: &Options) -> Result<String, ExperimentError> {
    let begin = Instant::now();
    let config: Config = files::read(file)?;
    config.check(file)?;
    let device = device()?;
    let scene = SceneFile::load(files::beside(file, &config.scene))?;
    let tosses = twin::make(&config, &scene)?;
    let frame = Frame::new(&config, &scene, &device)?;
    let training = if options.quick { config.quick } else { config.training };
    let train_start = &tosses.states[0][..STATE * config.train];
    let mut arms = Vec::new();
    let mut learned = None;
    for (name, with_network) in [("physics alone", false), ("physics and network", true)] {
        let begin = Instant::now();
        let arm = Arm::new(&config, with_network, &device);
        if !with_network {
            arms.push(judge("before", &frame, &arm, &tosses, Vec::new())?);
        }
        let (arm, loss) = train(arm, &training, |arm, _| {
            let unrolled = frame.unroll(arm, train_start)?;
            Ok(frame.loss(&unrolled, &tosses.measured, config.train))
        })?;
        let mut judged = judge(name, &frame, &arm, &tosses, loss)?;
        judged.wall_s = begin.elapsed().as_secs_f64();
        arms.push(judged);
        learned = Some(arm);
    }
    let known = twin::oracle(&config, &scene, &tosses.states[0])?;
    arms.push(Judged {
        name: "true law, held over a frame",
        parameters: Vec::new(),
        train: measure(&known, &tosses, 0..config.train),
        valid: measure(&known, &tosses, config.train..tosses.count),
        loss: Vec::new(),
        wall_s: 0.0,
    });
    let forces = forces(&frame, learned.as_ref(), &tosses, &config)?;
    let figures = [
        ("error", figures::error(&arms, &scene)),
        ("force", figures::force(&forces, &scene)),
        ("loss", figures::loss(&arms)),
    ];
    let report = Report {
        iterations: training.iterations,
        force: forces.errors(),
        arms,
        wall_s: begin.elapsed().as_secs_f64(),
        settings: config,
    };
    files::write(&options.out, &report, &figures)?;
    Ok(summary(&report))
}

fn judge(
    name: &'static str,
    frame: &Frame,
    arm: &Arm,
    tosses: &Tosses,
    loss: Vec<Point>,
) -> Result<Judged, ExperimentError> {
    let unrolled = frame.unroll(arm, &tosses.states[0])?;
    let states = unrolled.states.iter().map(numbers).collect::<Result<Vec<_>, _>>()?;
    let config = frame.config();
    let paths = config.parameters.iter().map(|p| p.path.clone());
    Ok(Judged {
        name,
        parameters: paths.zip(arm.values()?).collect(),
        train: measure(&states, tosses, 0..config.train),
        valid: measure(&states, tosses, config.train..tosses.count),
        loss,
        wall_s: 0.0,
    })
}

/// Errors of some tosses against their true poses.
fn measure(states: &[Vec<f64>], tosses: &Tosses, which: std::ops::Range<usize>) -> Errors {
    let range = STATE * which.start..STATE * which.end;
    let all = states.iter().zip(&tosses.states).skip(1);
    let each: Vec<[f64; 2]> =
        all.map(|(s, t)| errors(&s[range.clone()], &t[range.clone()])).collect();
    let count = each.len() as f64;
    let mean = |k: usize| each.iter().map(|e| e[k]).sum::<f64>() / count;
    let end = each.last().copied().unwrap_or_default();
    Errors {
        position_m: mean(0),
        rotation_rad: mean(1),
        end_position_m: end[0],
        end_rotation_rad: end[1],
        along_m: each.iter().map(|e| e[0]).collect(),
    }
}

/// True and learned forces along the true motion of held-out tosses: `[frame][toss][axis]`.
struct Forces {
    truth: Vec<Vec<[f64; 3]>>,
    learned: Vec<Vec<[f64; 3]>>,
}

fn forces(
    frame: &Frame,
    arm: Option<&Arm>,
    tosses: &Tosses,
    config: &Config,
) -> Result<Forces, ExperimentError> {
    let mut out = Forces { truth: Vec::new(), learned: Vec::new() };
    for states in &tosses.states {
        let held_out = &states[STATE * config.train..];
        let truth = held_out.chunks(STATE).map(|s| config.truth.force(s).into());
        out.truth.push(truth.collect());
        let said = arm.map(|a| frame.wrenches(a, held_out)).transpose()?.unwrap_or_default();
        out.learned.push(said.chunks(WRENCH).map(|w| [w[0], w[1], w[2]]).collect());
    }
    Ok(out)
}

impl Forces {
    fn errors(&self) -> ForceErrors {
        let (truth, learned) = (self.truth.iter().flatten(), self.learned.iter().flatten());
        let missed: Vec<[f64; 3]> =
            truth.clone().zip(learned).map(|(t, l)| std::array::from_fn(|k| t[k] - l[k])).collect();
        ForceErrors { truth_n: root_mean_square(truth), missed_n: root_mean_square(missed.iter()) }
    }
}

/// Of the lengths of vectors.
fn root_mean_square<'a>(vectors: impl Iterator<Item = &'a [f64; 3]>) -> f64 {
    let squares: Vec<f64> = vectors.map(|v| v.iter().map(|x| x * x).sum()).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}

fn summary(report: &Report) -> String {
    let mut out = String::new();
    for arm in &report.arms {
        let of = |e: &Errors| {
            format!(
                "{:.2} mm, {:.2}° (at the end {:.2} mm, {:.2}°)",
                1e3 * e.position_m,
                e.rotation_rad.to_degrees(),
                1e3 * e.end_position_m,
                e.end_rotation_rad.to_degrees()
            )
        };
        let _ =
            writeln!(out, "{}: held out {}; train {}", arm.name, of(&arm.valid), of(&arm.train));
        for (path, value) in &arm.parameters {
            let _ = writeln!(out, "  {path} = {value:.4}");
        }
    }
    let _ = writeln!(
        out,
        "force on held-out tosses: {:.3} N, of which the network misses {:.3} N; {} iterations, {:.0} s",
        report.force.truth_n, report.force.missed_n, report.iterations, report.wall_s
    );
    out
}
