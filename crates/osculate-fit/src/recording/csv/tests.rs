use super::*;
use crate::recording::files::Scratch;
use proptest::prelude::*;

const POSE_HEADER: &str = "t,px,py,pz,qw,qx,qy,qz";

fn parse(text: &str) -> Result<Recording, RecordingError> {
    Recording::parse_csv(text.as_bytes(), Path::new("toss.csv"), 3)
}

/// A file with poses only and the given rows.
fn poses(rows: &[&str]) -> String {
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    format!("{POSE_HEADER}\n{rows}")
}

fn sample(velocities: bool) -> Recording {
    let vectors = |scale: f64| -> Vec<Vector3<f64>> {
        (0..5).map(|k| Vector3::new(1.0, -1e-7, f64::from(k)) * scale).collect()
    };
    let turn = |k: u32| so3::exp(&(Vector3::new(0.5, 1.5, -0.7) * f64::from(k)));
    Recording {
        id: 3,
        times: (0..5).map(|k| f64::from(k) / 148.0).collect(),
        poses: (0..5)
            .zip(vectors(0.3))
            .map(|(k, position)| Pose { position, rotation: turn(k) })
            .collect(),
        velocities: velocities.then(|| vectors(2.0)),
        angular_velocities: velocities.then(|| vectors(-3.0)),
        extra: Default::default(),
    }
}

#[test]
fn writing_and_reading_keeps_ten_digits() {
    let scratch = Scratch::new("csv-round-trip");
    let path = scratch.path().join("toss.csv");
    for velocities in [false, true] {
        let written = sample(velocities);
        written.write_csv(&path).unwrap();
        let read = Recording::read_csv(&path, 3).unwrap();
        assert_eq!(read.has_velocities(), velocities);
        for k in 0..5 {
            assert!((read.times[k] - written.times[k]).abs() <= 0.5e-9);
            assert!((read.poses[k].position - written.poses[k].position).norm() < 1e-9);
            assert!((read.poses[k].rotation - written.poses[k].rotation).norm() < 1e-9);
            if let (Some(r), Some(w)) = (&read.angular_velocities, &written.angular_velocities) {
                assert!((r[k] - w[k]).norm() < 1e-8);
            }
        }
        // A second pass changes nothing: the printed numbers are the fixed point.
        let first = std::fs::read(&path).unwrap();
        read.write_csv(&path).unwrap();
        let second = Recording::read_csv(&path, 3).unwrap();
        assert_eq!(second.times, read.times);
        assert_eq!(second.velocities, read.velocities);
        assert_eq!(std::fs::read(&path).unwrap().len(), first.len());
    }
}

#[test]
fn written_quaternions_do_not_flip_sign() {
    let scratch = Scratch::new("csv-sign");
    let path = scratch.path().join("toss.csv");
    sample(false).write_csv(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let quaternions: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').skip(4).map(|field| field.parse().unwrap()).collect())
        .collect();
    for pair in quaternions.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).map(|(a, b)| a * b).sum::<f64>() > 0.0);
    }
    assert!(quaternions.iter().any(|q| q[0] < 0.0), "the sample should turn past π");
}

#[test]
fn numbers_are_printed_like_percent_10g() {
    for (value, text) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (0.190134016, "0.190134016"),
        (-0.034_527_200_921_3, "-0.03452720092"),
        (-1.773_434_488e-5, "-1.773434488e-05"),
        (1e-4, "0.0001"),
        (9.999_999_999_9, "10"),
        (1_234_567_890.4, "1234567890"),
        (12_345_678_904.0, "1.23456789e+10"),
        (1e-120, "1e-120"),
    ] {
        assert_eq!(ten_digits(value), text);
    }
}

#[test]
fn columns_may_come_in_any_order_and_lines_may_end_in_crlf() {
    let text = "qz,qy,qx,qw,pz,py,px,t\r\n0,0,0,1,3,2,1,0\r\n\r\n0,0,0,1,3,2,1,0.5\r\n";
    let recording = parse(text).unwrap();
    assert_eq!(recording.poses[1].position, Vector3::new(1.0, 2.0, 3.0));
    assert_eq!(recording.times, [0.0, 0.5]);
    assert!(!recording.has_velocities());
}

#[test]
fn headers_are_complete_known_and_unique() {
    let error = parse("").unwrap_err();
    assert!(matches!(error, RecordingError::NoHeader { .. }), "{error}");
    let error = parse("t,px,py,qw,qx,qy,qz\n").unwrap_err();
    assert!(
        matches!(&error, RecordingError::MissingColumn { column, .. } if column == "pz"),
        "{error}"
    );
    let error = parse(&format!("{POSE_HEADER},vx,vy,vz,wx,wy\n")).unwrap_err();
    assert!(
        matches!(&error, RecordingError::MissingColumn { column, .. } if column == "wz"),
        "{error}"
    );
    let error = parse(&format!("{POSE_HEADER},force\n")).unwrap_err();
    assert!(
        matches!(&error, RecordingError::UnknownColumn { column, .. } if column == "force"),
        "{error}"
    );
    assert!(error.to_string().contains("toss.csv: line 1") && error.to_string().contains("qw"));
    let error = parse(&format!("{POSE_HEADER},px\n")).unwrap_err();
    assert!(
        matches!(&error, RecordingError::DuplicateColumn { column, .. } if column == "px"),
        "{error}"
    );
}

#[test]
fn bad_numbers_name_line_column_and_value() {
    let error = parse(&poses(&["0,0,0,0,1,0,0,0", "1,0,0,1.2.3,1,0,0,0"])).unwrap_err();
    let expected = "toss.csv: line 3, column `pz`: `1.2.3` is not a number, allowed: a finite one";
    assert_eq!(error.to_string(), expected);
    for (field, shown) in [("NaN", "NaN"), ("-inf", "-inf"), ("1e999", "inf")] {
        let error = parse(&poses(&[&format!("0,{field},0,0,1,0,0,0")])).unwrap_err();
        let expected = format!(
            "toss.csv: line 2, column `px`: {shown} is not finite, allowed: a finite number"
        );
        assert_eq!(error.to_string(), expected);
    }
    let error = parse(&poses(&["0,0,0,0,1,0,0,0", "1,0,0,,1,0,0,0"])).unwrap_err();
    assert!(
        matches!(&error, RecordingError::NotANumber { line: 3, column, .. } if column == "pz"),
        "{error}"
    );
}

#[test]
fn quaternions_are_unit_up_to_rounding() {
    let near = ["0,0,0,0,1.0000009,0,0,0", "1,0,0,0,0.9999991,0,0,0"];
    let recording = parse(&poses(&near)).unwrap();
    assert!((recording.poses[0].rotation.determinant() - 1.0).abs() < 1e-15);
    let error = parse(&poses(&["0,0,0,0,1.0000011,0,0,0"])).unwrap_err();
    assert!(matches!(error, RecordingError::QuaternionNorm { line: 2, .. }), "{error}");
    for q in ["0,0,0,0", "1e300,0,0,0"] {
        let error = parse(&poses(&[&format!("0,0,0,0,{q}")])).unwrap_err();
        assert!(matches!(error, RecordingError::QuaternionNorm { line: 2, .. }), "{error}");
    }
}

#[test]
fn times_increase_strictly() {
    for second in ["1.0", "0.5"] {
        let rows = ["1.0,0,0,0,1,0,0,0", &format!("{second},0,0,0,1,0,0,0")];
        let error = parse(&poses(&rows)).unwrap_err();
        assert!(matches!(error, RecordingError::TimeNotIncreasing { line: 3, .. }), "{error}");
    }
}

#[test]
fn too_few_rows_are_refused() {
    let error = parse(&poses(&[])).unwrap_err();
    assert!(matches!(error, RecordingError::EmptyTrajectory { .. }), "{error}");
    let error = parse(&poses(&["0,0,0,0,1,0,0,0"])).unwrap_err();
    assert!(
        matches!(error, RecordingError::TooFewRows { line: 2, found: 1, needed: 2, .. }),
        "{error}"
    );
}

#[test]
fn every_cut_of_a_file_is_refused_or_ends_at_a_line() {
    let text = poses(&["0,0,0,0,1,0,0,0", "1,0,0,0,1,0,0,0", "2,0,0,0.125,1,0,0,0"]);
    for length in 0..text.len() {
        if let Ok(recording) = parse(&text[..length]) {
            assert!(text[..length].ends_with('\n') && recording.times.len() >= 2);
        }
    }
    let error = parse(&text[..text.len() - 3]).unwrap_err();
    assert!(
        matches!(error, RecordingError::CutShort { line: 4, found: 7, expected: 8, .. }),
        "{error}"
    );
    let error = parse(&poses(&["0,0,0,0,1,0,0", "1,0,0,0,1,0,0,0"])).unwrap_err();
    assert!(matches!(error, RecordingError::FieldCount { line: 2, found: 7, .. }), "{error}");
}

#[test]
fn unequal_series_and_numbers_that_cannot_be_read_back_are_not_written() {
    let scratch = Scratch::new("csv-refuse");
    let path = scratch.path().join("toss.csv");
    let mut short = sample(true);
    short.angular_velocities = None;
    let error = short.write_csv(&path).unwrap_err();
    assert!(matches!(error, RecordingError::SeriesLength { found: 0, .. }), "{error}");
    let mut infinite = sample(false);
    infinite.poses[1].position.y = f64::INFINITY;
    let error = infinite.write_csv(&path).unwrap_err();
    assert!(
        matches!(&error, RecordingError::NotFinite { line: 3, column, .. } if column == "py"),
        "{error}"
    );
    assert!(!path.exists());
}

#[test]
fn missing_file_is_named() {
    let error = Recording::read_csv(Path::new("absent/toss.csv"), 0).unwrap_err();
    assert!(error.to_string().starts_with("cannot read absent/toss.csv"), "{error}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Recording::parse_csv(&bytes, Path::new("x"), 0);
        let mut below_header = format!("{POSE_HEADER}\n").into_bytes();
        below_header.extend(bytes);
        let _ = Recording::parse_csv(&below_header, Path::new("x"), 0);
    }

    #[test]
    fn damaged_files_never_panic(at in 0_usize..90, byte in any::<u8>()) {
        let mut bytes =
            poses(&["0,0,0,0,1,0,0,0", "1,0,0,0,1,0,0,0", "2,0,0,0.5,1,0,0,0"]).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = Recording::parse_csv(&bytes, Path::new("x"), 0);
    }
}
