//! The importer and the roll-out starts against the public recordings.
//!
//! The recordings are not part of the repository. The tests look for them where `OSCULATE_CONTACTNETS_RAW`
//! (originals `<id>.pt`) and `OSCULATE_CONTACTNETS_TOSSES` (converted folder with `metadata.json`) point, then
//! beside the workspace in `../shared/data`; without them they print why they are skipped.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests, which say why they are skipped"
)]

use osculate_fit::recording::{
    Dataset, Evaluation, Part, RolloutStart, TossErrors,
    contactnets::{self, ImportOptions},
    rollout::start_frame,
};
use serde_json::Value;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Seven printed decimals and nine of the times: the metadata carries no more.
const PRINTED: f64 = 1e-6;

fn find(variable: &str, folder: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(folder);
    let path = env::var_os(variable).map_or(beside, PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: {} is not a folder; set {variable} to the recordings", path.display());
    None
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Entries of `metadata.json` by id.
fn entries(folder: &Path) -> impl Fn(&Value) -> Option<Value> {
    let metadata = json(&folder.join("metadata.json"));
    move |id| {
        let tosses = metadata["tosses"].as_array()?;
        tosses.iter().find(|toss| toss["id"] == *id).cloned()
    }
}

#[test]
fn imported_originals_agree_with_the_converted_ones_to_the_printed_digits() {
    let raw = find("OSCULATE_CONTACTNETS_RAW", "contactnets_raw");
    let tosses = find("OSCULATE_CONTACTNETS_TOSSES", "contactnets_tosses");
    let (Some(raw), Some(tosses)) = (raw, tosses) else { return };
    let destination = env::temp_dir().join(format!("osculate-contactnets-{}", std::process::id()));
    let _ = fs::remove_dir_all(&destination);
    let summary = contactnets::import(&raw, &destination, ImportOptions::default()).unwrap();
    assert!(summary.tosses > 0);

    let reference = entries(&tosses);
    let mut compared = 0;
    for toss in json(&destination.join("metadata.json"))["tosses"].as_array().unwrap() {
        let Some(expected) = reference(&toss["id"]) else { continue };
        let file = toss["file"].as_str().unwrap();
        let read = |folder: &Path| fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(read(&destination), read(&tosses), "{file}");
        for (field, value) in toss.as_object().unwrap() {
            let (found, expected) = (value.to_string(), expected[field].to_string());
            assert_eq!(found, expected, "{file}: {field}");
        }
        compared += 1;
    }
    println!("{compared} of {} imported tosses compared", summary.tosses);
    assert!(compared > 0);
    Dataset::open(&destination).unwrap().load_part(Part::All).unwrap();
    fs::remove_dir_all(&destination).unwrap();
}

#[test]
fn fitted_starts_agree_with_the_published_convention() {
    let Some(folder) = find("OSCULATE_CONTACTNETS_TOSSES", "contactnets_tosses") else { return };
    let dataset = Dataset::open(&folder).unwrap();
    let cube = &dataset.metadata().cube;
    let (mut worst_velocity, mut worst_spin) = (0.0_f64, 0.0_f64);
    let tosses = dataset.load_part(Part::All).unwrap();
    for toss in &tosses {
        let gravity = dataset.metadata().gravity_m_s2;
        let fitted = RolloutStart::fit(&toss.recording, cube.half_side_m, gravity).unwrap();
        assert_eq!(fitted.frame, toss.start.frame, "toss {}", toss.recording.id);
        worst_velocity = worst_velocity.max((fitted.velocity - toss.start.velocity).amax());
        worst_spin = worst_spin.max((fitted.angular_velocity - toss.start.angular_velocity).amax());
        assert_eq!(start_frame(&toss.recording, cube.half_side_m).unwrap(), fitted.frame);
    }
    println!("{} tosses: {worst_velocity:.1e} m/s, {worst_spin:.1e} rad/s", tosses.len());
    assert!(worst_velocity < PRINTED && worst_spin < PRINTED);
}

#[test]
fn parts_of_the_published_split_share_no_toss() {
    let Some(folder) = find("OSCULATE_CONTACTNETS_TOSSES", "contactnets_tosses") else { return };
    let dataset = Dataset::open(&folder).unwrap();
    let train = dataset.part(Part::Train).unwrap();
    let valid = dataset.part(Part::Valid).unwrap();
    assert!(!train.is_empty() && valid.iter().all(|id| !train.contains(id)));
    assert_eq!(train.len() + valid.len(), dataset.part(Part::All).unwrap().len());
}

/// Published for 550 tosses of the same recordings: 215 % of the width, 43.5°, loss 1.97.
#[test]
fn holding_the_start_pose_costs_what_is_published() {
    let Some(folder) = find("OSCULATE_CONTACTNETS_TOSSES", "contactnets_tosses") else { return };
    let dataset = Dataset::open(&folder).unwrap();
    let half_side = dataset.metadata().cube.half_side_m;
    let errors = |toss: &osculate_fit::recording::Toss| {
        let measured = &toss.recording.poses[toss.start.frame..];
        let held = vec![measured[0]; measured.len()];
        TossErrors::compare(toss.recording.id, measured, &held, half_side).unwrap()
    };
    let tosses = dataset.load_part(Part::All).unwrap();
    let evaluation = Evaluation::new(tosses.iter().map(errors).collect()).unwrap();
    let (position, rotation) = (evaluation.position_error_percent, evaluation.rotation_error_deg);
    println!("{position:?} {rotation:?} loss {}", evaluation.loss);
    // Another selection of tosses: a few percent, not a few digits.
    assert!((position.mean / 215.0 - 1.0).abs() < 0.05);
    assert!((rotation.mean / 43.5 - 1.0).abs() < 0.05);
    assert!((evaluation.loss / 1.97 - 1.0).abs() < 0.05);
}
