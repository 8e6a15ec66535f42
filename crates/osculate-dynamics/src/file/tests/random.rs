//! No text makes the reader or the builder panic.

use crate::file::{SceneFile, Source};
use proptest::prelude::*;
use std::path::Path;

/// A scene that uses nearly every field.
const SCENES: [&str; 5] = [
    include_str!("../../../../../docs/examples/lifted_ball.toml"),
    include_str!("../../../../../docs/examples/cube_toss.toml"),
    include_str!("../../../../../docs/examples/sliding_block.toml"),
    include_str!("../../../../../docs/examples/tetrahedron.toml"),
    include_str!("../../../../../docs/examples/rounded_box.toml"),
];

/// Values and pieces that break careless readers.
const PIECES: [&str; 41] = [
    "nan",
    "inf",
    "-inf",
    "0",
    "-0.0",
    "-1",
    "1e308",
    "-1e308",
    "1e-320",
    "1e90",
    "1e89",
    "1e-90",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "true",
    "''",
    "'cube'",
    "'ball'",
    "'ground'",
    "'auto'",
    "'none'",
    "'sphere'",
    "'box'",
    "'sdf'",
    "['scale', 'half_extents', 'edge_radius', 'vertices', 'nodes']",
    "[]",
    "{}",
    "[[]]",
    "[0, 0, 0]",
    "[nan, 0, 0]",
    "[1, 2]",
    "[1e80, 1e-80, 1]",
    "{ box = { half_extents = [1, 2, 3] } }",
    "{ points = [[0, 0, 0]], weight = 1 }",
    "[1, 0, 0, 0]",
    "[1, 1, 1, 0, 0, 0]",
    "1979-05-27",
    "\"\\u0000\"",
    "𝛼",
    "[[[[[[[[[[1]]]]]]]]]]",
];

/// Reads, builds, writes; says how far it came.
fn survives(text: &str) {
    let Ok(mut scene) = SceneFile::parse(text, "scene.toml") else { return };
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    match scene.build(&base) {
        Ok(built) => assert!(built.simulator.steps() > 0),
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("scene.toml:"), "{message}");
        }
    }
    if let Ok(written) = scene.to_toml() {
        let mut again = SceneFile::parse(&written, "again.toml").unwrap();
        (scene.source, again.source) = (Source::default(), Source::default());
        // Not ==, which numbers that are not numbers fail.
        assert_eq!(format!("{scene:?}"), format!("{again:?}"));
    }
}

/// One change of a text: where, what, how.
fn mutate(text: &str, at: usize, piece: &str, how: u8) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let n = at % lines.len();
    let changed = match how {
        // The value of a line.
        0..=4 => match lines[n].split_once('=') {
            Some((key, _)) => format!("{key}= {piece}"),
            None => lines[n].into(),
        },
        // A line less, twice, or of the scene's other end.
        5 => String::new(),
        6 => format!("{0}\n{0}", lines[n]),
        7 => lines[lines.len() - 1 - n].into(),
        // The first number of a line.
        8 => {
            let number = |c: char| c.is_ascii_digit();
            lines[n].replacen(number, piece, 1)
        }
        // A piece in the middle.
        _ => {
            let middle = lines[n].char_indices().nth(at % 17).map_or(0, |(i, _)| i);
            format!("{}{piece}{}", &lines[n][..middle], &lines[n][middle..])
        }
    };
    let mut out: Vec<&str> = lines.clone();
    out[n] = &changed;
    out.join("\n")
}

/// The text with its `n`th number replaced.
fn renumber(text: &str, n: usize, x: f64) -> String {
    let inside = |c: char| c.is_ascii_digit() || "+-.e".contains(c);
    let starts = |(i, c): (usize, char)| {
        let before = text[..i].chars().next_back().unwrap_or(' ');
        (c.is_ascii_digit() || c == '-') && matches!(before, ' ' | '[')
    };
    let numbers: Vec<usize> = text.char_indices().filter(|x| starts(*x)).map(|x| x.0).collect();
    let start = numbers[n % numbers.len()];
    let length = text[start..].find(|c| !inside(c)).unwrap_or(text.len() - start);
    let number = if x.fract().abs() > 0.0 || !x.is_finite() || x.abs() > 1e6 {
        format!("{x:e}").to_lowercase()
    } else {
        format!("{x}")
    };
    format!("{}{number}{}", &text[..start], &text[start + length..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_text_never_panics(text in "[ -~\n\t\u{e9}\u{1d6fc}]{0,300}") {
        survives(&text);
    }

    #[test]
    fn random_toml_never_panics(
        lines in prop::collection::vec(
            (
                prop::sample::select(vec![
                    "gravity", "only", "disable", "solver", "actor", "pair", "wrench", "outcome",
                    "actor.pose", "actor.shape", "solver.dt", "solver.steps", "shape.box", "name",
                    "mass", "collider", "samples", "motion", "contact", "[solver]", "[[actor]]",
                    "[[pair]]", "[[wrench]]", "[[outcome]]", "[actor.contact]", "static", "steps_s",
                ]),
                prop::sample::select(PIECES.to_vec()),
            ),
            0..12,
        )
    ) {
        let line = |(key, value): &(&str, &str)| match key.starts_with('[') {
            true => format!("{key}\n"),
            false => format!("{key} = {value}\n"),
        };
        survives(&lines.iter().map(line).collect::<String>());
    }

    #[test]
    fn mutated_scenes_never_panic(
        scene in prop::sample::select(SCENES.to_vec()),
        changes in prop::collection::vec(
            (any::<usize>(), prop::sample::select(PIECES.to_vec()), 0u8..11),
            1..5,
        )
    ) {
        let text = changes
            .iter()
            .fold(scene.to_string(), |text, (at, piece, how)| mutate(&text, *at, piece, *how));
        survives(&text);
    }

    #[test]
    fn scenes_with_other_numbers_never_panic(
        scene in prop::sample::select(SCENES.to_vec()),
        changes in prop::collection::vec(
            (any::<usize>(), prop_oneof![prop::num::f64::ANY, (-9i64..10).prop_map(|x| x as f64)]),
            1..5,
        )
    ) {
        let text = changes
            .iter()
            .fold(scene.to_string(), |text, (n, x)| renumber(&text, *n, *x));
        survives(&text);
    }
}

/// The seeds of the fuzz target reach the builder: a seed that is no scene finds nothing.
#[test]
fn seeds_are_scenes_that_build_but_for_their_meshes() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/scene");
    let build = |name: &str| SceneFile::read(seeds.join(name)).unwrap().build(&seeds);
    assert!(build("every_table.toml").is_ok(), "{:?}", build("every_table.toml").err());
    let missing = build("shapes.toml").unwrap_err().to_string();
    assert!(missing.contains("'c.obj': cannot read"), "{missing}");
}
