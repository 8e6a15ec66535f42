use super::*;
use crate::recording::{Dataset, Part, files::Scratch};
use nalgebra::Vector3;
use osculate_math::so3;

/// A toss in source units: free fall, then rest; `seed` varies it, `yaw` and `quarter` turn world and body.
fn toss(seed: u32, yaw: f64, quarter: i32) -> Vec<[f64; legacy::WIDTH]> {
    let world = so3::exp(&(Vector3::z() * yaw));
    let body = so3::exp(&(Vector3::x() * (f64::from(quarter) * std::f64::consts::FRAC_PI_2)));
    let (h, s) = (HALF_SIDE, f64::from(seed));
    (0..40)
        .map(|k| {
            let t = f64::from(k) / RATE;
            let z = (0.2 - 0.5 * t - 0.5 * GRAVITY * t * t).max(0.0524 + 1e-5 * s);
            let p = world * Vector3::new(0.1 * s + t, -0.2 * t, z) / h;
            let v = world * Vector3::new(1.0, -0.2, -0.5 - GRAVITY * t) / h;
            let spin = Vector3::new(1.0 + s, 2.0, -1.0);
            let q = so3::to_quaternion(&(world * so3::exp(&(spin * t)) * body));
            let w = body.transpose() * spin;
            let mut frame = [0.0; legacy::WIDTH];
            let values = p.iter().chain(&q).chain(v.iter()).chain(w.iter());
            frame.iter_mut().zip(values).for_each(|(slot, value)| *slot = *value);
            frame
        })
        .collect()
}

/// Folder with sources 0..6, of which 4 repeats 1.
fn sources(scratch: &Scratch) -> PathBuf {
    let source = scratch.path().join("source");
    fs::create_dir(&source).unwrap();
    for id in 0..6 {
        let table = if id == 4 { toss(1, 2.0, 1) } else { toss(id, 0.3, 0) };
        fs::write(source.join(format!("{id}.pt")), synthetic::stream(&table)).unwrap();
    }
    fs::write(source.join("LICENSE"), "text").unwrap();
    source
}

const KEEP: ImportOptions = ImportOptions { overwrite: false };
const REPLACE: ImportOptions = ImportOptions { overwrite: true };

#[test]
fn imported_folder_opens_and_keeps_the_motion() {
    let scratch = Scratch::new("import");
    let (source, destination) = (sources(&scratch), scratch.path().join("new/data"));
    let summary = import(&source, &destination, KEEP).unwrap();
    let split = Split { train: vec![0, 1, 5], valid: vec![2], test: vec![3] };
    let expected = ImportSummary { tosses: 6, frames: 240, duplicates: vec![(4, 1)], split };
    assert_eq!(summary, expected);

    let dataset = Dataset::open(&destination).unwrap();
    assert_eq!(dataset.part(Part::Train).unwrap(), [0, 1, 5]);
    assert_eq!(dataset.part(Part::Test).unwrap(), [3]);
    assert_eq!(dataset.record(4).unwrap().group(), 1);
    let loaded = dataset.load(3).unwrap();
    let frame = &toss(3, 0.3, 0)[17];
    let pose = &loaded.recording.poses[17];
    let position = Vector3::new(frame[0], frame[1], frame[2]) * HALF_SIDE;
    assert!((pose.position - position).norm() < 1e-10);
    let q = so3::from_quaternion([frame[3], frame[4], frame[5], frame[6]]);
    assert!((pose.rotation - q).norm() < 1e-9);
    let refitted = RolloutStart::fit(&loaded.recording, HALF_SIDE, GRAVITY).unwrap();
    assert_eq!(refitted.frame, loaded.start.frame);
    assert!((refitted.velocity - loaded.start.velocity).norm() < 1e-6);
    assert!((refitted.angular_velocity - loaded.start.angular_velocity).norm() < 1e-6);
}

#[test]
fn import_is_reproducible_to_the_byte() {
    let scratch = Scratch::new("import-twice");
    let source = sources(&scratch);
    let [one, two] = ["one", "two"].map(|name| scratch.path().join(name));
    import(&source, &one, KEEP).unwrap();
    import(&source, &two, KEEP).unwrap();
    for file in ["metadata.json", "split.json", "tosses/toss_000.csv", "tosses/toss_004.csv"] {
        assert_eq!(fs::read(one.join(file)).unwrap(), fs::read(two.join(file)).unwrap());
    }
}

#[test]
fn destination_with_content_is_kept_unless_told_otherwise() {
    let scratch = Scratch::new("import-overwrite");
    let (source, destination) = (sources(&scratch), scratch.path().join("data"));
    fs::create_dir(&destination).unwrap();
    fs::write(destination.join("notes.txt"), "mine").unwrap();
    let error = import(&source, &destination, KEEP).unwrap_err();
    assert!(matches!(error, RecordingError::DestinationNotEmpty { .. }), "{error}");
    assert_eq!(fs::read_dir(&destination).unwrap().count(), 1);
    import(&source, &destination, REPLACE).unwrap();
    import(&source, &destination, REPLACE).unwrap();
    assert_eq!(fs::read_to_string(destination.join("notes.txt")).unwrap(), "mine");
    assert_eq!(Dataset::open(&destination).unwrap().load_part(Part::All).unwrap().len(), 6);
}

#[test]
fn broken_source_leaves_the_destination_untouched() {
    let scratch = Scratch::new("import-broken");
    let (source, destination) = (sources(&scratch), scratch.path().join("data"));
    let stream = synthetic::stream(&toss(5, 0.0, 0));
    fs::write(source.join("5.pt"), &stream[..stream.len() - 9]).unwrap();
    let error = import(&source, &destination, KEEP).unwrap_err();
    assert!(matches!(&error, RecordingError::Truncated { .. }), "{error}");
    assert!(error.to_string().contains("5.pt"), "{error}");
    assert!(!destination.exists());
}

#[test]
fn frames_that_are_not_free_tosses_are_refused() {
    let read = |column: usize, value: f64| {
        let scratch = Scratch::new(&format!("import-frame-{column}"));
        let mut table = toss(0, 0.0, 0);
        table[3][column] = value;
        let file = scratch.path().join("0.pt");
        fs::write(&file, synthetic::stream(&table)).unwrap();
        SourceToss::read(0, &file).err()
    };
    assert!(matches!(read(4, 0.7), Some(RecordingError::FrameQuaternion { frame: 3, .. })));
    assert!(matches!(read(15, 1e-3), Some(RecordingError::Controlled { frame: 3, .. })));
}

#[test]
fn source_names_are_ids() {
    let scratch = Scratch::new("import-names");
    let error = import(scratch.path(), &scratch.path().join("data"), KEEP).unwrap_err();
    assert!(matches!(error, RecordingError::NoRecordings { .. }), "{error}");
    for name in ["07.pt", "toss.pt", "-1.pt", "+1.pt"] {
        let path = scratch.path().join(name);
        fs::write(&path, "").unwrap();
        let error = list(scratch.path()).unwrap_err();
        assert!(matches!(error, RecordingError::RecordingName { .. }), "{error}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn symmetries_form_a_group_and_one_moved_frame_does_not() {
    let toss_of = |id: u32, table: &[[f64; legacy::WIDTH]]| {
        let rows: Vec<_> = table
            .iter()
            .enumerate()
            .map(|(k, frame)| convert(k, frame, Path::new("x.pt")).unwrap())
            .collect();
        SourceToss { recording: Recording::empty(id, true), rows }
    };
    let mut moved = toss(1, 0.0, 0);
    moved[20][2] += 1e-7;
    let tosses = [
        toss_of(3, &toss(1, 0.0, 0)),
        toss_of(4, &toss(2, 0.0, 0)),
        toss_of(6, &toss(1, -2.5, 3)),
        toss_of(7, &moved),
        toss_of(9, &toss(2, 1.0, 2)),
    ];
    assert_eq!(groups(&tosses), [3, 4, 3, 7, 4]);
}
