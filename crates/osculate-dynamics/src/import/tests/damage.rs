//! Files that are cut or changed: never a panic, and a model or an error with a place.

use super::super::{RobotOptions, parse_mjcf, parse_urdf};
use super::{robots, said, try_mjcf, try_urdf};
use proptest::prelude::*;
use std::fs;

fn files() -> Vec<(String, bool)> {
    ["arm.urdf", "humanoid.xml", "loop.xml"]
        .iter()
        .map(|name| (fs::read_to_string(robots().join(name)).unwrap(), name.ends_with("urdf")))
        .collect()
}

fn read(text: &str, urdf: bool) -> Result<super::Description, super::ImportError> {
    if urdf { try_urdf(text) } else { try_mjcf(text) }
}

#[test]
fn file_that_is_cut_anywhere_is_refused_or_whole() {
    for (text, urdf) in files() {
        let whole = read(&text, urdf).unwrap();
        let end = text.rfind('>').unwrap();
        let lines = text.lines().count();
        for cut in (0..text.len()).step_by(37).chain(end.saturating_sub(3)..text.len()) {
            let Some(part) = text.get(..cut) else { continue };
            if cut > end {
                assert_eq!(read(part, urdf).unwrap(), whole);
                continue;
            }
            let (line, _, message) = said(read(part, urdf));
            assert!((1..=lines).contains(&line) && !message.is_empty(), "{cut}: {message}");
        }
    }
}

#[test]
fn file_without_one_of_its_attributes_or_elements_is_read_or_refused() {
    for (text, urdf) in files() {
        let quotes: Vec<usize> = text.match_indices('"').map(|(i, _)| i).collect();
        for pair in quotes.chunks_exact(2) {
            for value in ["", "nan", "-1", "0", "1e308 1e308 1e308", "x"] {
                let changed = format!("{}{value}{}", &text[..=pair[0]], &text[pair[1]..]);
                if let Err(error) = read(&changed, urdf) {
                    assert!(error.spot.line >= 1 && !error.problem.to_string().is_empty());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_bytes_never_panic(
        which in 0_usize..3,
        at in prop::collection::vec((0.0_f64..1.0, any::<u8>()), 1..8),
    ) {
        let (text, urdf) = files().swap_remove(which);
        let mut bytes = text.into_bytes();
        for (place, byte) in at {
            let i = (place * bytes.len() as f64) as usize;
            bytes[i] = byte;
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = read(&text, urdf) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn any_text_is_an_error_or_a_robot(text in "[<>/a-z=\"' &;!\\[\\]-]{0,80}") {
        let options = RobotOptions::default();
        prop_assert!(parse_urdf(&text, "t".as_ref(), &options).is_err());
        prop_assert!(parse_mjcf(&text, "t".as_ref(), &options).is_err());
    }
}

/// The seeds of the fuzz targets.
#[test]
fn seeds_of_the_fuzz_targets_are_robots() {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (folder, urdf) in [("urdf", true), ("mjcf", false)] {
        let mut count = 0;
        for entry in fs::read_dir(seeds.join(folder)).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            let read = if urdf { parse_urdf } else { parse_mjcf };
            let robot = read(&text, "seed".as_ref(), &RobotOptions::default()).unwrap();
            assert!(robot.dofs() > 0);
            count += 1;
        }
        assert!(count >= 2);
    }
}
