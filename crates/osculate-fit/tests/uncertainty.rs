//! What a report says of its own uncertainty: counted from what was measured, and from the loss that was fitted.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use osculate_fit::experiment::Experiment;
use osculate_fit::fit::Progress;
use osculate_fit::identify::Verdict;
use osculate_fit::report::{self, Report};
use osculate_fit::twin;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const FRAMES: usize = 8;

/// The cube of the bundled experiment, its noise known, fitted over [`FRAMES`] frames after the start.
fn fitted(name: &str, parameters: &str, tosses_of_profiles: usize) -> Report {
    let never = Arc::default();
    reported(name, parameters, tosses_of_profiles, (&never, &|_| {}))
}

/// The same, watched: once the flag is up the fit ends.
fn reported(
    name: &str,
    parameters: &str,
    tosses_of_profiles: usize,
    (interrupted, observe): (&Arc<AtomicBool>, &(dyn Fn(Progress) + Sync)),
) -> Report {
    let scene =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cube_toss/scene.toml");
    let text = format!(
        r#"
scene = "{}"
body = "cube"
data = "."
substeps = 10
{parameters}
[[parameter]]
path = "pair.cube.ground.mu"
scale = "log"
range = [0.05, 0.8]
start = [0.15, 0.22]

[[stage]]
frames = {FRAMES}
iterations = 30

[loss]
kind = "noise"
position_sigma = 0.0005
rotation_sigma_deg = 0.2

[multistart]
starts = 1

[profile]
points = 5
tosses = {tosses_of_profiles}

[trust]
tosses = 0

[twin]
tosses = 8
frames = 60
rate_hz = 148.0
seed = 3
position_noise = 0.0005
rotation_noise_deg = 0.2
exact_start = true
height = [0.085, 0.1]
speed = [0.5, 1.0]
fall = [0.4, 0.8]
spin = [1.0, 8.0]
"#,
        scene.display()
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("experiment.toml");
    std::fs::write(&file, text).unwrap();
    let experiment = Experiment::read(&file).unwrap();
    let twin = experiment.file.twin.clone().unwrap();
    let (tosses, _) = twin::make(&experiment.model, &twin).unwrap();
    report::run(&experiment, tosses, 0.0524, interrupted, observe, &|_| {}).unwrap().0
}

/// Symptom: a fit that Ctrl-C ended said nothing of how far its best point is from the recordings. Cause: the roll-outs that would tell
/// end by the flag that ended the fit.
#[test]
fn the_best_point_of_an_interrupted_fit_is_judged() {
    let flag = Arc::new(AtomicBool::new(false));
    let at_once = |_: Progress| flag.store(true, Ordering::Relaxed);
    let report = reported("interrupted", "", 8, (&flag, &at_once));
    assert!(report.interrupted && report.curvature.is_none() && report.profiles.is_empty());
    let found = report.evaluation.as_ref().unwrap();
    assert_eq!(found.tosses.len(), report.tosses);
    assert!(found.position_error_percent.mean > 0.0, "{found:?}");
    assert!(!report.summary().contains("not judged"), "{}", report.summary());
}

/// Symptom: s² too small by one frame in nine. Cause: the six residuals of the frame that a roll-out starts from, zero whatever
/// the parameters, were counted as measurements.
#[test]
fn the_pose_a_roll_out_starts_from_is_no_measurement() {
    let curvature = fitted("start", "", 8).curvature.unwrap();
    assert_eq!(curvature.degrees_of_freedom, 8 * FRAMES * 6 - 1);
}

/// Symptom: the standard error of an identified parameter was 1e134. Cause: a direction without information had the weight 1e300,
/// and rounding of its eigenvector brought it to the others.
#[test]
fn a_parameter_that_cannot_act_leaves_the_errors_of_others_alone() {
    // The pair has a stiffness of its own.
    let without_effect = r#"
[[parameter]]
path = "ground.k"
scale = "log"
range = [1e5, 1e8]
start = [1e6, 1e7]
"#;
    let alone = fitted("alone", "", 8).curvature.unwrap();
    let beside = fitted("beside", without_effect, 8).curvature.unwrap();
    let (error, expected) = (beside.standard_errors[1], alone.standard_errors[0]);
    assert!((error / expected - 1.0).abs() < 0.01, "{error:e}, alone {expected:e}");
    let robust = beside.robust_standard_errors[1];
    assert!((robust / alone.robust_standard_errors[0] - 1.0).abs() < 0.01, "{robust:e}");
    assert!(beside.standard_errors[0].is_infinite() && beside.moves_with[1].is_empty());
    assert!(beside.correlation[0][1].abs() < 1e-12);
}

/// Symptom: profiles with values far *below* the best, intervals to one side of it. Cause: after a last stage of some frames the
/// profile was that of whole motions; and with fewer tosses than were fitted it counted from a point that is no minimum of theirs.
#[test]
fn a_profile_is_that_of_the_loss_that_was_fitted() {
    for tosses in [8, 3] {
        let report = fitted(&format!("profile{tosses}"), "", tosses);
        let profile = &report.profiles[0];
        let least = profile.excess.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least.abs() < 1e-12, "{tosses}: {least}");
        if tosses == 8 {
            let lowest = profile.losses.iter().copied().fold(f64::INFINITY, f64::min);
            assert!((lowest / report.loss - 1.0).abs() < 1e-6, "{lowest}, {}", report.loss);
        }
        let Some(Verdict::Point { lower, upper }) = profile.verdict else {
            panic!("{:?}", profile.verdict)
        };
        // Fewer tosses, a wider interval; about Fisher's from all of them.
        let sigma = report.curvature.unwrap().standard_errors[0] * (8.0 / tosses as f64).sqrt();
        let ratio = (upper / lower).ln() / (2.0 * 1.96 * sigma);
        assert!((0.6..1.7).contains(&ratio), "{tosses} tosses: {ratio} of Fisher's width");
    }
}
