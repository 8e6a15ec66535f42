//! Imports of recordings that end in an impact: where roll-outs start, how fast, and what is left out.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use nalgebra::Vector3;
use osculate_fit::recording::contactnets::ImportOptions;
use osculate_fit::recording::{Dataset, RecordingError, drops, elbow};
use osculate_math::so3;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const FRESH: ImportOptions = ImportOptions { overwrite: false };

/// A toss of two hinged boxes in free flight: origin on a parabola, constant spin about the vertical and constant hinge rate.
fn elbow_table(height: f64, frames: u32) -> String {
    let mut text = "t,px,py,pz,qw,qx,qy,qz,theta,vx,vy,vz,wx,wy,wz,dtheta\n".to_owned();
    for k in 0..frames {
        let t = f64::from(k) / 148.0;
        let z = height - 0.2 * t - 4.905 * t * t;
        let [w, x, y, q] = so3::to_quaternion(&so3::exp(&(Vector3::z() * 2.0 * t)));
        // The angle passes ±π and jumps by a turn there.
        let theta = (3.0 + 4.0 * t + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU)
            - std::f64::consts::PI;
        let _ = writeln!(
            text,
            "{t:.9},{:.12},0,{z:.12},{w:.12},{x:.12},{y:.12},{q:.12},{theta:.12},0,0,0,0,0,0,0",
            0.5 * t
        );
    }
    text
}

#[test]
fn elbow_tosses_start_with_the_slopes_of_their_flight() {
    let folder = scratch("import_elbow");
    let (source, data) = (folder.join("source"), folder.join("data"));
    std::fs::create_dir_all(&source).unwrap();
    for (id, height) in [(4, 0.16), (6, 0.16), (8, 0.05), (9, 3.0)] {
        std::fs::write(source.join(format!("elbow_{id:03}.csv")), elbow_table(height, 22)).unwrap();
    }
    let found = elbow::import(&source, &data, FRESH).unwrap();
    assert_eq!((found.split.train.as_slice(), found.split.valid.as_slice()), (&[4][..], &[6][..]));
    let why: Vec<&str> = found.left_out.iter().map(|l| l.1).collect();
    assert!(why.contains(&"flight too short") && why.contains(&"never comes down"), "{why:?}");
    let data = Dataset::open(&data).unwrap();
    let toss = data.load(4).unwrap();
    let t = toss.recording.times[toss.start.frame];
    // At frame 21 the lowest corner is first below 10 mm.
    assert_eq!(toss.start.frame, 18);
    let v = Vector3::new(0.5, 0.0, -0.2 - 9.81 * t);
    assert!((toss.start.velocity - v).norm() < 1e-6, "{}", toss.start.velocity);
    assert!((toss.start.angular_velocity - Vector3::z() * 2.0).norm() < 1e-6);
    let [theta, rate] = toss.joints[elbow::SECOND_NAME];
    assert!((theta - (3.0 + 4.0 * t)).abs() < 1e-6 && (rate - 4.0).abs() < 1e-6, "{theta} {rate}");
    let again = elbow::import(&source, &folder.join("data"), FRESH).unwrap_err();
    assert!(matches!(again, RecordingError::DestinationNotEmpty { .. }), "{again}");
    let empty =
        elbow::import(&folder.join("data/tosses"), &folder.join("other"), FRESH).unwrap_err();
    assert!(matches!(empty, RecordingError::NoTables { .. }), "{empty}");
}

#[test]
fn drops_become_recordings_of_joints_alone() {
    let folder = scratch("import_drops");
    let source = folder.join("drops.csv");
    let mut text = "traj,t,x,z,theta,vx\n".to_owned();
    for (drop, x0) in [(1, 0.1), (2, 0.1), (3, 0.6)] {
        for k in 0..40 {
            let t = f64::from(k) * drops::DT;
            let z = (0.1 - 0.3 * t - 4.6 * t * t).max(0.03);
            let _ = writeln!(text, "{drop},{t:.4},{:.12},{z:.12},{:.12},0", x0 + t, 0.1 - 2.0 * t);
        }
    }
    std::fs::write(&source, &text).unwrap();
    let found = drops::import(&source, &folder.join("data"), FRESH).unwrap();
    assert_eq!(found.left_out, [(3, "reaches the side wall")]);
    assert_eq!((found.tosses, found.frames, found.split.valid.as_slice()), (3, 120, &[2][..]));
    let toss = Dataset::open(folder.join("data")).unwrap().load(1).unwrap();
    assert!(toss.recording.poses.is_empty());
    let t = toss.recording.times[toss.start.frame];
    for (name, [q, rate]) in drops::JOINTS.iter().zip([
        [0.1 + t, 1.0],
        [0.1 - 0.3 * t - 4.6 * t * t, -0.3 - 9.2 * t],
        [0.1 - 2.0 * t, -2.0],
    ]) {
        let [found_q, found_rate] = toss.joints[*name];
        assert!((found_q - q).abs() < 1e-9 && (found_rate - rate).abs() < 1e-6, "{name}");
    }
    std::fs::write(&source, text.replacen("0.1000", "zero", 1)).unwrap();
    let refused = drops::import(&source, &folder.join("bad"), FRESH);
    let refused = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(refused.contains("is not a number"), "{refused}");
    std::fs::write(&source, "t,x,z,theta\n").unwrap();
    let refused = drops::import(&source, &folder.join("bad"), FRESH).unwrap_err();
    assert!(refused.to_string().contains("`traj` is missing"), "{refused}");
}
