//! A network from a toss to its contact parameters, trained on simulated tosses, beside a fit of each toss.

mod data;
mod features;
mod figures;
mod posterior;

use super::train::{Point, Training, train};
use super::{ExperimentError, Options, files};
use crate::operation::device;
use data::{Drawn, Source};
use osculate_fit::experiment::Experiment;
use osculate_fit::fit::{Plan, fit};
use posterior::{Estimate, Posterior, Trained};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Half side of the cube, in case the fit's loss is relative to it \[m\].
const HALF_SIDE: f64 = 0.0524;
/// Starts of a refining fit lie within this factor of the network's estimate.
const NEAR: f64 = 1.05;

/// What the file says.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    /// The fit, beside this file; `[twin]` in it says how tosses are drawn.
    fit: String,
    /// Tosses that are only judged.
    held_out: usize,
    /// Sizes of the hidden layers: of the network that sees frames, of the one that reads their sum.
    hidden: [usize; 2],
    /// Tosses of one training step.
    batch: usize,
    /// Seed of the network and of batches.
    seed: u64,
    /// How long it is trained.
    training: Training,
    /// Small numbers, for tests.
    quick: Quick,
}

/// As `training`, with fewer tosses.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Quick {
    iterations: usize,
    learning_rate: f64,
    tosses: usize,
    held_out: usize,
}

/// What is written.
#[derive(Serialize)]
struct Report {
    settings: Config,
    paths: Vec<String>,
    tosses: usize,
    /// Drawn tosses whose roll-out failed; others were drawn in their place.
    failed: usize,
    simulate_wall_s: f64,
    train_wall_s: f64,
    methods: Vec<Method>,
    /// Share of true values within one and two standard deviations that the network states, each parameter.
    coverage: Vec<[f64; 2]>,
    rows: Vec<Row>,
    loss: Vec<Point>,
}

/// A way to estimate: errors `|ln θ̂ − ln θ|` of each parameter.
#[derive(Serialize)]
struct Method {
    name: &'static str,
    median: Vec<f64>,
    mean: Vec<f64>,
    /// Wall time of one toss (s).
    wall_s: f64,
}

/// A held-out toss: true values and estimates in the order of the methods.
#[derive(Serialize)]
struct Row {
    truth: Vec<f64>,
    estimates: Vec<Vec<f64>>,
}

impl Config {
    fn check(&self, file: &Path) -> Result<(), ExperimentError> {
        use files::require;
        for (field, n) in [
            ("held_out", self.held_out),
            ("batch", self.batch),
            ("training.iterations", self.training.iterations),
            ("quick.iterations", self.quick.iterations),
            ("quick.tosses", self.quick.tosses),
            ("quick.held_out", self.quick.held_out),
        ] {
            require(file, (field, n), (1..=1_000_000).contains(&n), "1 to 1000000")?;
        }
        for (field, x) in [
            ("training.learning_rate", self.training.learning_rate),
            ("quick.learning_rate", self.quick.learning_rate),
        ] {
            require(file, (field, x), x.is_finite() && x > 0.0, "> 0")?;
        }
        let sizes = self.hidden.iter().all(|&n| (1..=4096).contains(&n));
        require(file, ("hidden", format!("{:?}", self.hidden)), sizes, "sizes from 1 to 4096")
    }

    /// Tosses to train on and to judge, and the training.
    fn sizes(&self, quick: bool, tosses: usize) -> (usize, usize, Training) {
        let q = self.quick;
        if quick {
            let training = Training { iterations: q.iterations, learning_rate: q.learning_rate };
            (q.tosses, q.held_out, training)
        } else {
            (tosses, self.held_out, self.training)
        }
    }
}

pub(super) fn run(file: &Path, options: &Options) -> Result<String, ExperimentError> {
    let config: Config = files::read(file)?;
    config.check(file)?;
    let device = device()?;
    let experiment = Experiment::read(&files::beside(file, &config.fit))?;
    let source = Source::new(&experiment)?;
    let (tosses, held_out, training) = config.sizes(options.quick, source.twin.tosses);
    let begin = Instant::now();
    let (drawn, failed) = source.draw(source.twin.seed, tosses)?;
    // Another stream than that of training.
    let (judged, _) = source.draw(source.twin.seed.wrapping_add(0x5EED), held_out)?;
    let simulate_wall_s = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let posterior = Posterior::new(&config, &source, &device);
    let (known, spread) = Trained::new(&drawn, &source, None);
    let (posterior, loss) = train(posterior, &training, |p, iteration| {
        Ok(p.loss(&known.batch(config.batch, config.seed, iteration), &device))
    })?;
    let train_wall_s = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let (seen, _) = Trained::new(&judged, &source, Some(spread));
    let network = posterior.estimate(&seen, &source, &device)?;
    let network_s = begin.elapsed().as_secs_f64() / held_out as f64;
    let middle = vec![source.middle(); held_out];
    let (fitted, fit_s) = fit_each(&experiment, &judged, None)?;
    let (refined, refine_s) = fit_each(&experiment, &judged, Some(&network))?;
    let values: Vec<Vec<f64>> = network.iter().map(|e| e.values.clone()).collect();
    let methods: [(&'static str, &[Vec<f64>], f64); 4] = [
        ("middle of the range", &middle, 0.0),
        ("network", &values, network_s),
        ("fit", &fitted, fit_s),
        ("fit from the network's value", &refined, refine_s),
    ];
    let report = Report {
        paths: source.paths(),
        tosses,
        failed,
        simulate_wall_s,
        train_wall_s,
        coverage: coverage(&network, &judged),
        rows: rows(&judged, &methods),
        methods: methods.map(|(name, e, wall_s)| method(name, e, &judged, wall_s)).into(),
        loss,
        settings: config,
    };
    let named: Vec<(&str, &[Vec<f64>])> = methods[1..3].iter().map(|m| (m.0, m.1)).collect();
    let mut figures = vec![("loss".to_owned(), figures::loss(&report.loss))];
    for (k, path) in report.paths.iter().enumerate() {
        let name = path.rsplit('.').next().unwrap_or(path).to_owned();
        figures.push((name, figures::against(path, k, &judged, &named)));
    }
    let figures: Vec<_> = figures.iter().map(|(n, f)| (n.as_str(), f.clone())).collect();
    files::write(&options.out, &report, &figures)?;
    Ok(summary(&report))
}

/// Fits every toss alone: from the starts of the experiment, or from one near an estimate. Values and wall time of one.
fn fit_each(
    experiment: &Experiment,
    judged: &[Drawn],
    near: Option<&[Estimate]>,
) -> Result<(Vec<Vec<f64>>, f64), ExperimentError> {
    let begin = Instant::now();
    let mut out = Vec::new();
    for (i, drawn) in judged.iter().enumerate() {
        let mut plan: Plan = experiment.plan(vec![drawn.toss.clone()], HALF_SIDE);
        if let Some(near) = near {
            plan.starts = 1;
            for (p, x) in plan.parameters.iter_mut().zip(&near[i].values) {
                let x = x.clamp(p.range[0], p.range[1]);
                p.start = Some([(x / NEAR).max(p.range[0]), (x * NEAR).min(p.range[1])]);
            }
        }
        let found = fit(&plan, &Arc::default(), &|_| {})?;
        out.push(found.best().values.clone());
    }
    Ok((out, begin.elapsed().as_secs_f64() / judged.len() as f64))
}

fn method(name: &'static str, estimates: &[Vec<f64>], judged: &[Drawn], wall_s: f64) -> Method {
    let errors = |k: usize| -> Vec<f64> {
        let each = estimates.iter().zip(judged).map(|(e, d)| (e[k] / d.truth[k]).ln().abs());
        let mut all: Vec<f64> = each.collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let count = judged.first().map_or(0, |d| d.truth.len());
    let middle = |v: &[f64]| 0.5 * (v[(v.len() - 1) / 2] + v[v.len() / 2]);
    Method {
        name,
        median: (0..count).map(|k| middle(&errors(k))).collect(),
        mean: (0..count).map(|k| errors(k).iter().sum::<f64>() / judged.len() as f64).collect(),
        wall_s,
    }
}

fn rows(judged: &[Drawn], methods: &[(&'static str, &[Vec<f64>], f64)]) -> Vec<Row> {
    let row = |i: usize| Row {
        truth: judged[i].truth.clone(),
        estimates: methods.iter().map(|m| m.1[i].clone()).collect(),
    };
    (0..judged.len()).map(row).collect()
}

fn coverage(network: &[Estimate], judged: &[Drawn]) -> Vec<[f64; 2]> {
    let count = judged.first().map_or(0, |d| d.truth.len());
    let within = |k: usize, sigmas: f64| {
        let inside = network
            .iter()
            .zip(judged)
            .filter(|(e, d)| (e.values[k] / d.truth[k]).ln().abs() <= sigmas * e.log_sigmas[k]);
        inside.count() as f64 / judged.len() as f64
    };
    (0..count).map(|k| [within(k, 1.0), within(k, 2.0)]).collect()
}

fn summary(report: &Report) -> String {
    let mut out = String::new();
    for m in &report.methods {
        let _ = write!(out, "{}:", m.name);
        for (path, (median, mean)) in report.paths.iter().zip(m.median.iter().zip(&m.mean)) {
            let _ = write!(out, " {path} {:.2} % (mean {:.2} %),", 100.0 * median, 100.0 * mean);
        }
        let _ = writeln!(out, " {:.2} ms a toss", 1e3 * m.wall_s);
    }
    for (path, [one, two]) in report.paths.iter().zip(&report.coverage) {
        let (one, two) = (100.0 * one, 100.0 * two);
        let _ =
            writeln!(out, "{path}: {one:.0} % within one stated deviation, {two:.0} % within two");
    }
    let _ = writeln!(
        out,
        "{} tosses simulated in {:.0} s ({} failed), trained in {:.0} s; errors are |ln estimate − ln truth|, medians",
        report.tosses, report.simulate_wall_s, report.failed, report.train_wall_s
    );
    out
}
