//! Every refusal names file, line, field, the value found and what is allowed.

mod actors;
mod impulse;
mod joints;
mod physics;
mod scene;

use crate::file::{Actor, FileError, SceneFile, Solver};
use std::path::Path;

/// Line numbers of the cases count from here.
const BASE: &str = r#"gravity = [0, 0, -9.81]
[solver]
dt = 0.001
steps = 4
[[actor]]
name = "ground"
static = true
shape.plane = { normal = [0, 0, 1] }
[[actor]]
name = "cube"
mass = 0.4
shape.box = { half_extents = [0.05, 0.05, 0.05] }
pose.position = [0, 0, 0.06]
velocity = [0, 0, 0]
[actor.contact]
k = 1e9
"#;

/// What is wrong with a scene.
fn refusal(text: &str) -> FileError {
    let built = SceneFile::parse(text, "scene.toml").and_then(|s| s.build(Path::new("/nowhere")));
    match built {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

/// The base scene with one piece replaced; where it is refused, the field, the value and what is allowed.
type Case<'a> = (&'a str, &'a str, usize, &'a str, &'a [&'a str]);

fn check(cases: &[Case<'_>]) {
    for (from, to, line, field, words) in cases {
        assert!(BASE.contains(from), "{from}");
        let message = refusal(&BASE.replace(from, to)).to_string();
        let place = format!("scene.toml:{line}: {field}");
        assert!(message.starts_with(&place), "{to}\n  {message}\n  does not start with {place}");
        for word in *words {
            assert!(message.contains(word), "{to}\n  {message}\n  does not contain {word}");
        }
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let error = SceneFile::read("/nowhere/scene.toml").unwrap_err();
    assert_eq!(error.to_string(), "cannot read /nowhere/scene.toml: entity not found");
}

#[test]
fn scenes_built_in_memory_have_fields_without_lines() {
    let scene = SceneFile {
        solver: Solver { dt: Some(0.1), steps: Some(1), ..Solver::default() },
        actors: vec![Actor { name: "a".into(), ..Actor::default() }],
        ..SceneFile::default()
    };
    let message = scene.build(Path::new("")).unwrap_err().to_string();
    assert!(
        message.starts_with("scene: actor[0]: found a dynamic actor without mass"),
        "{message}"
    );
}
