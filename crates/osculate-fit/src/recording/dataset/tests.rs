use super::*;
use crate::recording::files::Scratch;
use serde_json::{Value, json};
use std::fs;

/// A folder with three tosses that fall freely at 100 Hz; toss 5 repeats toss 2.
struct Folder {
    scratch: Scratch,
    metadata: Value,
}

impl Folder {
    fn new(test: &str) -> Self {
        let scratch = Scratch::new(test);
        let mut tosses = Vec::new();
        for (id, group) in [(2, 2), (3, 3), (5, 2)] {
            let file = format!("toss_{id}.csv");
            let rows: String = (0..20)
                .map(|k| {
                    let t = 0.01 * f64::from(k);
                    let z = 0.2 - 1.5 * t - 4.905 * t * t;
                    format!("{t:.9},{:.10},0,{z:.10},1,0,0,0\n", 0.7 * t)
                })
                .collect();
            let text = format!("t,px,py,pz,qw,qx,qy,qz\n{rows}");
            fs::write(scratch.path().join(&file), text).unwrap();
            tosses.push(json!({"id": id, "file": file, "frames": 20, "group": group}));
        }
        tosses[0]["rollout_start_frame"] = json!(6);
        tosses[0]["rollout_v0_m_s"] = json!([1.0, 2.0, 3.0]);
        tosses[0]["rollout_w0_rad_s"] = json!([4, 5, 6]);
        tosses[0]["face_up"] = json!("+y");
        let metadata = json!({
            "name": "falling", "dt_s": 0.01, "extra": [1, 2],
            "cube": {"side_m": 0.1, "half_side_m": 0.05, "mass_kg": 0.4,
                     "inertia_kg_m2": [0.001, 0.001, 0.001], "colour": "blue"},
            "tosses": tosses,
        });
        Self { scratch, metadata }
    }

    fn split(&self, split: &Value) {
        fs::write(self.scratch.path().join("split.json"), split.to_string()).unwrap();
    }

    fn open(&self) -> Result<Dataset, RecordingError> {
        fs::write(self.scratch.path().join("metadata.json"), self.metadata.to_string()).unwrap();
        Dataset::open(self.scratch.path())
    }

    fn refusal(&self) -> RecordingError {
        self.open().expect_err("the folder must be refused")
    }
}

#[test]
fn parts_follow_the_split_and_all_follows_the_metadata() {
    let folder = Folder::new("dataset-parts");
    let dataset = folder.open().unwrap();
    assert_eq!(dataset.part(Part::All).unwrap(), [2, 3, 5]);
    let error = dataset.part(Part::Valid).unwrap_err();
    assert!(matches!(error, RecordingError::NoSplit { part: Part::Valid, .. }), "{error}");

    folder.split(&json!({"train": [5, 2], "valid": [3], "rule": "by hand"}));
    let dataset = folder.open().unwrap();
    assert_eq!(dataset.part(Part::Train).unwrap(), [5, 2]);
    assert_eq!(dataset.part(Part::Valid).unwrap(), [3]);
    assert!(dataset.part(Part::Test).unwrap().is_empty());
    assert_eq!(dataset.load_part(Part::Train).unwrap().len(), 2);
}

#[test]
fn given_roll_out_is_taken_and_a_missing_one_is_fitted() {
    let folder = Folder::new("dataset-rollout");
    let dataset = folder.open().unwrap();
    let given = dataset.load(2).unwrap();
    assert_eq!(given.start.frame, 6);
    assert_eq!(given.start.velocity, Vector3::new(1.0, 2.0, 3.0));
    assert_eq!(given.start.angular_velocity, Vector3::new(4.0, 5.0, 6.0));
    let fitted = dataset.load(3).unwrap();
    assert_eq!(fitted.recording.id, 3);
    let expected = RolloutStart::fit(&fitted.recording, 0.05, 9.81).unwrap();
    assert_eq!(fitted.start, expected);
    assert!((fitted.start.velocity.x - 0.7).abs() < 1e-8);
    assert!(fitted.start.angular_velocity.norm() < 1e-12);
}

#[test]
fn required_fields_are_named_when_missing() {
    for field in ["name", "dt_s", "cube", "tosses"] {
        let mut folder = Folder::new(&format!("dataset-missing-{field}"));
        folder.metadata.as_object_mut().unwrap().remove(field);
        let text = folder.refusal().to_string();
        assert!(text.contains("metadata.json: line 1") && text.contains(field), "{text}");
    }
    let mut folder = Folder::new("dataset-missing-frames");
    folder.metadata["tosses"][1].as_object_mut().unwrap().remove("frames");
    assert!(folder.refusal().to_string().contains("frames"));
}

#[test]
fn constants_are_positive_and_consistent() {
    for (pointer, value) in [
        ("/dt_s", 0.0),
        ("/cube/mass_kg", -1.0),
        ("/cube/inertia_kg_m2/1", 0.0),
        ("/cube/half_side_m", 0.06),
    ] {
        let mut folder = Folder::new("dataset-constants");
        *folder.metadata.pointer_mut(pointer).unwrap() = json!(value);
        let error = folder.refusal();
        assert!(matches!(error, RecordingError::OutOfRange { .. }), "{pointer}: {error}");
    }
}

#[test]
fn tosses_are_unique_inside_the_folder_and_complete() {
    let refuse = |change: &dyn Fn(&mut Value)| {
        let mut folder = Folder::new("dataset-tosses");
        change(&mut folder.metadata["tosses"]);
        folder.refusal()
    };
    let error = refuse(&|tosses| tosses[1]["id"] = json!(2));
    assert!(matches!(error, RecordingError::DuplicateId { id: 2, .. }), "{error}");
    for path in ["../secret.csv", "/etc/hosts", ""] {
        let error = refuse(&|tosses| tosses[1]["file"] = json!(path));
        assert!(matches!(error, RecordingError::OutsideFolder { id: 3, .. }), "{error}");
    }
    let error = refuse(&|tosses| tosses[0]["rollout_v0_m_s"] = Value::Null);
    assert!(matches!(error, RecordingError::PartialRollout { id: 2, found: 2, .. }), "{error}");
    let error = refuse(&|tosses| tosses[0]["rollout_start_frame"] = json!(20));
    assert!(matches!(error, RecordingError::OutOfRange { .. }), "{error}");
    let error = refuse(&|tosses| *tosses = json!([]));
    assert!(matches!(error, RecordingError::NoTosses { .. }), "{error}");
}

#[test]
fn split_names_ids_once_keeps_groups_together_and_may_name_absent_tosses() {
    let folder = Folder::new("dataset-split");
    folder.split(&json!({"train": [2, 4], "valid": []}));
    let dataset = folder.open().unwrap();
    let error = dataset.load_part(Part::Train).unwrap_err();
    assert!(matches!(error, RecordingError::UnknownId { id: 4, .. }), "{error}");
    assert!(dataset.part(Part::All).is_ok());
    folder.split(&json!({"train": [2], "valid": [3, 2]}));
    let error = folder.refusal();
    assert!(matches!(error, RecordingError::DuplicateId { id: 2, .. }), "{error}");
    folder.split(&json!({"train": [2], "valid": [3, 5]}));
    let error = folder.refusal();
    let expected = "split.json: line 1: `valid[1]`: tosses 2 and 5 of duplicate group 2 are in different parts";
    assert!(error.to_string().ends_with(expected), "{error}");
    folder.split(&json!({"train": [2]}));
    assert!(matches!(folder.refusal(), RecordingError::Json { .. }));
}

#[test]
fn trajectories_agree_with_the_metadata() {
    let mut folder = Folder::new("dataset-agree");
    folder.metadata["tosses"][1]["frames"] = json!(21);
    let dataset = folder.open().unwrap();
    let error = dataset.load(3).unwrap_err();
    assert!(
        matches!(error, RecordingError::FrameCount { id: 3, found: 20, expected: 21, .. }),
        "{error}"
    );
    assert!(matches!(dataset.load(9), Err(RecordingError::UnknownId { id: 9, .. })));
    folder.metadata["dt_s"] = json!(0.011);
    let error = folder.open().unwrap().load(5).unwrap_err();
    assert!(matches!(error, RecordingError::TimeStep { frame: 1, .. }), "{error}");
}

/// Symptom: "19 rows, the metadata says 20" did not say which frame was missing, and a file in milliseconds not what was wrong.
#[test]
fn missing_frame_and_times_in_milliseconds_are_told_with_their_line() {
    let folder = Folder::new("dataset-gap");
    let file = folder.scratch.path().join("toss_3.csv");
    let text = fs::read_to_string(&file).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    let refused = |rows: &[String]| {
        fs::write(&file, rows.join("\n") + "\n").unwrap();
        folder.open().unwrap().load(3).unwrap_err().to_string()
    };
    // Without frames 9 and 10; a blank line is no frame.
    let mut gap: Vec<String> = rows.iter().map(|r| (*r).to_owned()).collect();
    gap.drain(10..12);
    gap.insert(1, String::new());
    let error = refused(&gap);
    for words in ["line 12 (frame 9", "column `t`", "allowed: ", ": frames missing before it: 2?"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    let slow = |row: &&str| match row.split_once(',') {
        Some((t, rest)) if *row != rows[0] => {
            format!("{},{rest}", t.parse::<f64>().unwrap() * 1e3)
        }
        _ => (*row).to_owned(),
    };
    let error = refused(&rows.iter().map(slow).collect::<Vec<_>>());
    assert!(error.contains("line 3 (frame 1") && error.contains("milliseconds?"), "{error}");
}

#[test]
fn damaged_json_never_panics() {
    let folder = Folder::new("dataset-damaged");
    let text = folder.metadata.to_string();
    let path = folder.scratch.path().join("metadata.json");
    for length in (0..text.len()).step_by(7) {
        fs::write(&path, &text[..length]).unwrap();
        assert!(matches!(Dataset::open(folder.scratch.path()), Err(RecordingError::Json { .. })));
    }
}

/// Symptom: what was parsed had forgotten where it stood, so refusals of values named file and field but no line.
#[test]
fn refused_values_name_file_line_field_value_and_what_is_allowed() {
    let refused = |change: &dyn Fn(&mut Value), expected: &[&str]| {
        let mut folder = Folder::new("dataset-lines");
        change(&mut folder.metadata);
        // One number or name a line, keys by the alphabet: cube from line 2, tosses from line 18.
        let text = format!("{:#}", folder.metadata);
        fs::write(folder.scratch.path().join("metadata.json"), &text).unwrap();
        let message = Dataset::open(folder.scratch.path()).unwrap_err().to_string();
        let field = expected[0].trim_matches('`').rsplit(['.', '[']).next().unwrap();
        let line: usize =
            message.split("line ").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
        let there = text.lines().nth(line - 1).unwrap();
        assert!(field.ends_with(']') || there.contains(field), "{message}: {there}");
        for part in ["metadata.json", "allowed: "].iter().chain(expected) {
            assert!(message.contains(part), "{part}: {message}");
        }
    };
    refused(&|m| m["dt_s"] = json!(-0.01), &["`dt_s`", "-0.01", "> 0"]);
    refused(&|m| m["cube"]["mass_kg"] = json!(0.0), &["`cube.mass_kg`", "0", "> 0"]);
    refused(&|m| m["cube"]["half_side_m"] = json!(0.06), &["`cube.half_side_m`", "0.06", "0.05"]);
    refused(&|m| m["cube"]["inertia_kg_m2"][1] = json!(-3.0), &["inertia_kg_m2[1]`", "-3"]);
    refused(&|m| m["extra_columns"] = json!(["ok", "px"]), &["`extra_columns[1]`", "`px`"]);
    refused(&|m| m["tosses"][1]["id"] = json!(2), &["`tosses[1].id`", "toss 2"]);
    refused(&|m| m["tosses"][2]["file"] = json!("/etc"), &["`tosses[2].file`", "`/etc`"]);
    refused(&|m| m["tosses"] = json!([]), &["`tosses`"]);
    let start = "`tosses[0].rollout_start_frame`";
    refused(&|m| m["tosses"][0]["rollout_start_frame"] = json!(20), &[start, "20"]);
    refused(&|m| m["tosses"][0]["rollout_v0_m_s"] = Value::Null, &[start, "2 of the 3"]);
}

/// Symptom: a file that lost its last rows was refused without the line where it ends.
#[test]
fn a_file_of_another_length_is_refused_with_the_line_where_it_ends() {
    for (frames, line) in [(21, 21), (18, 20)] {
        let mut folder = Folder::new("dataset-length");
        folder.metadata["tosses"][1]["frames"] = json!(frames);
        let message = folder.open().unwrap().load(3).unwrap_err().to_string();
        for part in [&format!("toss_3.csv: line {line}: 20 rows"), "`tosses[1].frames`", "toss 3"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(message.contains(&format!("allowed: {frames}")), "{message}");
    }
}

/// Symptom: what is wrong with the flight itself was said of `recording 3`, without its file.
#[test]
fn a_recording_that_never_falls_is_refused_with_its_file() {
    let mut folder = Folder::new("dataset-flight");
    let rows: String =
        (0..20).map(|k| format!("{:.9},0,0,1,1,0,0,0\n", 0.01 * f64::from(k))).collect();
    let text = format!("t,px,py,pz,qw,qx,qy,qz\n{rows}");
    fs::write(folder.scratch.path().join("toss_3.csv"), text).unwrap();
    folder.metadata["name"] = json!("held");
    let message = folder.open().unwrap().load(3).unwrap_err().to_string();
    assert!(message.contains("toss_3.csv") && message.contains("never falls"), "{message}");
}
