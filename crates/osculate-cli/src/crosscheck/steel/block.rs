//! Family i: solves of a single contact, by every friction mode.
//!
//! * `pairs`: the disk at a given normal impulse, relaxed, from an old impulse and the slip at it.
//! * `blocks`: normal and friction together, by `coulomb_newton` and the two bisections.
//!
//! Inputs are exact, results in single precision.

use super::super::compare::{Worst, exceeds};
use super::super::report::{CaseReport, Verdict};
use crate::CliError;
use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};
use osculate_contact::impulse::{Bisection, Cone, disk};
use serde::Deserialize;
use serde_json::json;
use std::path::Path;

/// What `worst` is.
pub(in super::super) const MEASURE: &str = "impulse deviation over what is allowed";
/// Largest `worst` that passes.
pub(in super::super) const TOLERANCE: f64 = 1.0;

/// Allowed deviation of a pair, relative to the disk: the reference stops at 2e-7 of the radius, and single precision loses the
/// anisotropy of the block, up to 100.
const PAIR: f64 = 5e-5;
/// Of a bisection, relative to the impulse: some rounding of single precision.
const BISECTED: f64 = 2e-6;
/// Of the exact law, relative to the impulse: the reference stops at an absolute 1e-6 of its root.
const NEWTON: f64 = 2e-4;

/// What is recorded.
#[derive(Debug, Deserialize)]
struct Record {
    pairs: Vec<([f64; 9], [f64; 2])>,
    blocks: Vec<Block>,
}

#[derive(Debug, Deserialize)]
struct Block {
    #[serde(rename = "in")]
    input: [f64; 14],
    bisection: [f64; 3],
    bisection_desaxce: [f64; 3],
    coulomb_newton: [f64; 3],
}

/// Compares every solve; one report a mode.
///
/// # Errors
/// Where the file cannot be read or a law refuses a recorded problem.
pub(in super::super) fn check(path: &Path) -> Result<Vec<CaseReport>, CliError> {
    let record: Record = super::super::case::read(path)?;
    let mut reports = vec![pairs(&record.pairs)];
    for (name, allowed, recorded) in MODES {
        let solved = |b: &Block| {
            let (cone, old) = cone(&b.input);
            match name {
                "coulomb_newton" => cone.solve().map(|s| s.impulse),
                "bisection" => Bisection::Plain.solve(&cone, &old).map(|s| s.impulse),
                _ => Bisection::DeSaxce.solve(&cone, &old).map(|s| s.impulse),
            }
        };
        let deviations = record.blocks.iter().map(|b| {
            let expected = Vector3::from(recorded(b));
            // A solve that fails is as wrong as can be.
            let found = solved(b).unwrap_or_else(|_| Vector3::repeat(f64::NAN));
            (found - expected).amax() / expected.amax().max(LEAST)
        });
        reports.push(report(name, allowed, deviations));
    }
    Ok(reports)
}

/// Impulses below this are compared in absolute terms \[N s\].
const LEAST: f64 = 1e-3;

/// A mode of the blocks: name, allowed deviation, what is recorded.
type Mode = (&'static str, f64, fn(&Block) -> [f64; 3]);

const MODES: [Mode; 3] = [
    ("coulomb_newton", NEWTON, |b| b.coulomb_newton),
    ("bisection", BISECTED, |b| b.bisection),
    ("bisection_desaxce", BISECTED, |b| b.bisection_desaxce),
];

/// The contact of a record, and its old impulse. The target velocity of the normal row is part of its bias.
fn cone(x: &[f64; 14]) -> (Cone, Vector3<f64>) {
    let [u, u1, u2, nn, n1, n2, t11, t12, t22, target, friction, r, r1, r2] = *x;
    let block = Matrix3::new(nn, n1, n2, n1, t11, t12, n2, t12, t22);
    let old = Vector3::new(r, r1, r2);
    let velocity = Vector3::new(u - target, u1, u2) - block * old;
    (Cone { block, velocity, friction }, old)
}

fn pairs(records: &[([f64; 9], [f64; 2])]) -> CaseReport {
    let deviations = records.iter().map(|(x, recorded)| {
        let [xx, xy, yy, u, v, old_x, old_y, radius, relaxation] = *x;
        let old = Vector2::new(old_x, old_y);
        let block = Matrix2::new(xx, xy, xy, yy);
        let found = disk::update(&block, radius, &old, &Vector2::new(u, v))
            .map_or_else(|_| Vector2::repeat(f64::NAN), |s| s.impulse);
        let relaxed = old + (found - old) * relaxation;
        (relaxed - Vector2::from(*recorded)).amax() / radius.max(relaxed.amax())
    });
    report("fixed_normal", PAIR, deviations)
}

/// The report of a mode from the relative deviations of its solves.
fn report(name: &str, allowed: f64, deviations: impl Iterator<Item = f64>) -> CaseReport {
    let (mut worst, mut solves, mut failed) = (Worst::default(), 0, 0);
    for (i, deviation) in deviations.enumerate() {
        solves += 1;
        failed += usize::from(exceeds(deviation, allowed));
        worst.see(deviation / allowed, || format!("solve {i}, relative deviation {deviation:.1e}"));
    }
    let verdict = if failed == 0 {
        Verdict::Passed
    } else {
        Verdict::Disagrees(format!("{failed} of {solves} solves, {}", worst.place))
    };
    CaseReport {
        name: name.into(),
        verdict,
        worst: Some(worst.value),
        place: worst.place,
        details: json!({ "solves": solves, "allowed": allowed, "beyond": failed }),
        notes: vec![format!("{solves} solves, allowed relative deviation {allowed:.0e}")],
    }
}
