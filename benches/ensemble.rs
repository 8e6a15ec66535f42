//! One and two threads: 1000 fits of the bundled cube tosses, each to other tosses drawn with replacement, as `[bootstrap]` of a
//! fit does; and residuals with exact Jacobians of 269 tosses, of which a fit is made.
//!
//! Bar: 2 threads ≥ 1.8 × one, median of interleaved runs, on cores that do nothing else. `cargo bench --bench ensemble`.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its experiment is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

mod common;

use common::{cpu, interleaved};
use divan::black_box;
use osculate_fit::experiment::Experiment;
use osculate_fit::identify::{BootstrapPlan, bootstrap, curvature};
use osculate_fit::problem::{Horizon, Problem};
use osculate_fit::recording::Dataset;
use osculate_fit::twin::{TwinFile, make};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const FITS: usize = 1000;
const ROUNDS: usize = 3;
/// To the first impact and a little on.
const FRAMES: usize = 10;

fn problem() -> Problem {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/cube_toss");
    let experiment = Experiment::read(&folder.join("experiment.toml")).unwrap();
    let data = Dataset::open(experiment.data_folder(None)).unwrap();
    let tosses = experiment.tosses_to_fit(&data).unwrap();
    let plan = experiment.plan(tosses, data.metadata().cube.half_side_m);
    plan.problem(Horizon::Short { frames: FRAMES }).unwrap()
}

/// As many tosses as the public recordings have for fitting, drawn like the bundled ones.
fn many() -> Problem {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/cube_toss");
    let experiment = Experiment::read(&folder.join("experiment.toml")).unwrap();
    let twin = experiment.file.twin.clone().unwrap();
    let (tosses, _) = make(&experiment.model, &TwinFile { tosses: 269, ..twin }).unwrap();
    let half_side = Dataset::open(experiment.data_folder(None)).unwrap();
    experiment.plan(tosses, half_side.metadata().cube.half_side_m).problem(Horizon::Full).unwrap()
}

fn jacobians() {
    let problem = many();
    let of_scene = |p: &osculate_fit::parameter::FreeParameter| {
        p.to_coordinate(problem.scene_value(&p.path).unwrap())
    };
    let (truth, own): (Vec<f64>, _) =
        (problem.parameters().iter().map(of_scene).collect(), problem.own_start());
    let pools = [1, 2].map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    let run = |pool: &ThreadPool| {
        drop(black_box(pool.install(|| curvature(&problem, &truth, &own).unwrap())));
    };
    let times = interleaved(11, &mut [&mut || run(&pools[0]), &mut || run(&pools[1])]);
    println!("residuals with Jacobians of {} tosses, 11 rounds", own.len());
    println!("1 thread   {:.3} s", times[0]);
    println!("2 threads  {:.3} s", times[1]);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("ratio      {:.2} (bar 1.8); load {}", times[0] / times[1], load.trim());
}

fn main() {
    jacobians();
    let problem = problem();
    let free = problem.parameters();
    let of_scene = |p: &osculate_fit::parameter::FreeParameter| {
        p.to_coordinate(problem.scene_value(&p.path).unwrap())
    };
    let truth: Vec<f64> = free.iter().map(of_scene).collect();
    let bounds: Vec<[f64; 2]> = free.iter().map(|p| p.coordinate_bounds()).collect();
    let (own, plan) =
        (problem.own_start(), BootstrapPlan { resamples: FITS, iterations: 6, seed: 1 });
    let pools = [1, 2].map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    let run = |pool: &ThreadPool| {
        let before = cpu().unwrap_or(f64::NAN);
        let found = pool.install(|| {
            let at = (truth.as_slice(), own.as_slice());
            bootstrap(&problem, at, (&bounds, None), &plan, &AtomicBool::new(false)).unwrap()
        });
        (cpu().unwrap_or(f64::NAN) - before, found)
    };
    let mut results = [Vec::new(), Vec::new()];
    let (first, second) = results.split_at_mut(1);
    let times = interleaved(
        ROUNDS,
        &mut [&mut || first[0].push(run(&pools[0])), &mut || second[0].push(run(&pools[1]))],
    );
    assert!(results[0].iter().chain(&results[1]).all(|r| r.1 == results[0][0].1), "same bits");
    let median = |k: usize| {
        let mut all: Vec<f64> = results[k].iter().map(|r| r.0).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{FITS} fits of {} tosses, {FRAMES} frames, {ROUNDS} rounds", own.len());
    println!("1 thread   {:.2} s, {:.2} s of processor time", times[0], median(0));
    println!("2 threads  {:.2} s, {:.2} s of processor time", times[1], median(1));
    println!("ratio      {:.2}; load {}", times[0] / times[1], load.trim());
}
