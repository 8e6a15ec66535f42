//! Bodies that can touch nothing.

use crate::file::SceneFile;
use std::path::Path;

const GROUND: &str =
    "[[actor]]\nname = 'ground'\nstatic = true\nshape.plane = { normal = [0.0, 0.0, 1.0] }\n";
const BODY: &str = "[[actor]]\nname = 'b'\nmass = 1.0\ninertia = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]\n\
                    collider = { box = { half_extents = [0.1, 0.1, 0.1] } }\n";

fn warnings(actors: &str) -> Vec<String> {
    let text = format!("{actors}[solver]\ndt = 0.1\nsteps = 1\n");
    let scene = SceneFile::parse(&text, "scene.toml").unwrap().build(Path::new("")).unwrap();
    scene.warnings.iter().map(ToString::to_string).collect()
}

/// Symptom: such a body fell through the ground in silence, since only samples touch.
#[test]
fn collider_that_nothing_samples_is_a_warning() {
    let found = warnings(&format!("{GROUND}{BODY}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("actor[1].collider: actor 'b' has a collider"), "{found:?}");
}

#[test]
fn body_with_samples_or_beside_one_with_samples_is_none() {
    let samples = "samples = { weight = 1e-3, points = [[0.0, 0.0, -0.1]] }\n";
    assert_eq!(warnings(&format!("{GROUND}{BODY}{samples}")), [""; 0]);
    let other = format!("{}{samples}", BODY.replace("'b'", "'c'"));
    assert_eq!(warnings(&format!("{GROUND}{BODY}{other}")), [""; 0]);
    let filtered = format!("only = []\n{GROUND}{BODY}{samples}");
    assert_eq!(warnings(&filtered), [""; 0]);
}
