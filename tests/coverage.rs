//! Statistics of the fit on twins: intervals cover as often as they say, errors are normal.

mod common;

use osculate_fit::fit::{Algorithm, Designs, Plan, StagePlan, fit};
use osculate_fit::identify::{TWO_SIDED_95, curvature};
use osculate_fit::parameter::{FreeParameter, Scale};
use osculate_fit::problem::{Horizon, InitialState, Model, Weights};
use osculate_fit::twin::{TwinFile, make};
use rayon::prelude::*;
use std::sync::Arc;

const TRUTH: [(&str, f64); 3] =
    [("pair.cube.ground.mu", 0.2), ("pair.cube.ground.k", 4e5), ("pair.cube.ground.c_n", 0.8)];
const POSITION_NOISE: f64 = 1e-3;
const ROTATION_NOISE_DEG: f64 = 0.5;
const TWINS: u64 = 200;

fn model() -> Model {
    common::twin::model(TRUTH[0].1, TRUTH[1].1, TRUTH[2].1)
}

/// Errors of the three coordinates over their standard errors, `None` where not identifiable.
fn normalised_errors(seed: u64) -> Vec<Option<f64>> {
    let twin = TwinFile {
        tosses: 4,
        frames: 40,
        rate_hz: 148.0,
        seed,
        position_noise: POSITION_NOISE,
        rotation_noise_deg: ROTATION_NOISE_DEG,
        exact_start: false,
        height: [0.09, 0.12],
        speed: [0.3, 1.0],
        fall: [0.3, 0.8],
        spin: [1.0, 5.0],
        joints: Default::default(),
        noise: Default::default(),
    };
    let model = model();
    let (tosses, _) = make(&model, &twin).unwrap();
    let parameters = TRUTH
        .map(|(path, x)| FreeParameter {
            start: Some([x / 1.3, x * 1.3]),
            ..FreeParameter::new(path, Scale::Log, [x / 30.0, x * 30.0])
        })
        .to_vec();
    let stage = |horizon| StagePlan {
        horizon,
        algorithm: Algorithm::LevenbergMarquardt,
        iterations: 30,
        simplex: 0.1,
        free: Vec::new(),
        designs: Designs::default(),
    };
    let plan = Plan {
        model,
        tosses,
        parameters,
        weights: Weights {
            position: POSITION_NOISE.powi(-2),
            rotation: ROTATION_NOISE_DEG.to_radians().powi(-2),
            per_frame_mean: false,
            robust: None,
        },
        initial: InitialState {
            position: Some(POSITION_NOISE),
            rotation: Some(ROTATION_NOISE_DEG.to_radians()),
            ..Default::default()
        },
        nuisances: Vec::new(),
        stages: vec![stage(Horizon::Short { frames: 12 }), stage(Horizon::Full)],
        starts: 1,
        seed,
    };
    let fitted = fit(&plan, &Arc::default(), &|_| {}).unwrap();
    let best = fitted.best();
    let c = curvature(&fitted.problem, &best.coordinates, &best.own).unwrap();
    (0..3)
        .map(|i| {
            let error = best.coordinates[i] - TRUTH[i].1.ln();
            let se = c.standard_errors[i];
            // Known to within a fifth: identifiable.
            (se < 0.2).then(|| error / se)
        })
        .collect()
}

/// Largest distance of the empirical distribution from the standard normal one.
fn kolmogorov_smirnov(z: &mut [f64]) -> f64 {
    z.sort_by(f64::total_cmp);
    let n = z.len() as f64;
    z.iter()
        .enumerate()
        .map(|(i, x)| {
            let p = normal_cdf(*x);
            (p - i as f64 / n).abs().max(((i + 1) as f64 / n - p).abs())
        })
        .fold(0.0, f64::max)
}

/// Φ(x) by Simpson's rule.
fn normal_cdf(x: f64) -> f64 {
    let density = |t: f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
    let (n, h) = (400, x / 400.0);
    let sum: f64 = (0..=n)
        .map(|i| {
            let w = if i == 0 || i == n {
                1.0
            } else if i % 2 == 1 {
                4.0
            } else {
                2.0
            };
            w * density(h * f64::from(i))
        })
        .sum();
    0.5 + sum * h / 3.0
}

#[test]
fn intervals_cover_and_errors_are_normal_on_two_hundred_twins() {
    let all: Vec<Vec<Option<f64>>> = (0..TWINS).into_par_iter().map(normalised_errors).collect();
    let mut pooled: Vec<f64> = all.iter().flatten().flatten().copied().collect();
    let covered = pooled.iter().filter(|z| z.abs() <= TWO_SIDED_95).count() as f64;
    let coverage = covered / pooled.len() as f64;
    for (i, (path, _)) in TRUTH.iter().enumerate() {
        let z: Vec<f64> = all.iter().filter_map(|t| t[i]).collect();
        let mean = z.iter().sum::<f64>() / z.len() as f64;
        let variance = z.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / z.len() as f64;
        let inside = z.iter().filter(|x| x.abs() <= TWO_SIDED_95).count();
        println!(
            "{path}: {inside} of {} covered, mean {mean:.2}, deviation {:.2}",
            z.len(),
            variance.sqrt()
        );
    }
    let distance = kolmogorov_smirnov(&mut pooled);
    // 1 % level of the Kolmogorov–Smirnov statistic.
    let allowed = 1.63 / (pooled.len() as f64).sqrt();
    println!(
        "coverage {:.1} % of {} identifiable estimates; distance from normal {distance:.3} (allowed {allowed:.3})",
        100.0 * coverage,
        pooled.len()
    );
    assert!(pooled.len() > 400, "{} identifiable estimates", pooled.len());
    assert!((0.90..=0.99).contains(&coverage), "coverage {coverage}");
    assert!(distance < allowed, "normality: {distance} > {allowed}");
}
