//! Scenes and batches of the tests.

use osculate_dynamics::file::{BuiltScene, SceneFile};
use osculate_learn::{Input, LayerSpec, Output, STATE};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A cube of eight corners that hits the ground with a spin.
pub(crate) fn scene(model: &str, method: &str) -> BuiltScene {
    let solver = if model == "impulse" {
        "model = \"impulse\"\n[solver.impulse]\ntolerance = 1e-10\n".to_owned()
    } else {
        format!("method = \"{method}\"\nrotation = \"chart\"\nschedule = \"current\"\n")
    };
    let (solver, impulse) = solver.split_once("[solver.impulse]").unwrap_or((&solver, ""));
    let impulse =
        if impulse.is_empty() { String::new() } else { format!("[solver.impulse]{impulse}") };
    let text = format!(
        r#"
[solver]
{solver}dt = 0.002
steps = 12
{impulse}
[[actor]]
name = "ground"
static = true
shape.plane = {{ normal = [0.0, 0.0, 1.0] }}
contact = {{ epsilon = 0.0, delta = 0.0 }}

[[actor]]
name = "cube"
shape.box = {{ half_extents = [0.05, 0.05, 0.05] }}
quadrature = "P1Q3"
collider = "none"
mass = 0.4
pose = {{ position = [0.0, 0.0, 0.065] }}
contact = {{ epsilon = 0.0, delta = 0.0 }}

[[pair]]
actors = ["cube", "ground"]
mu = 0.3
k = 1.0e6
c_n = 1.0
v_f = 0.05
"#
    );
    let text = if model == "impulse" {
        text.replace("quadrature = \"P1Q3\"\n", "")
            .replace("k = 1.0e6\nc_n = 1.0\nv_f = 0.05\n", "")
    } else {
        text
    };
    SceneFile::parse(&text, "scene.toml").unwrap().build(".".as_ref()).unwrap()
}

/// State, a wrench over some steps, friction and mass in; states on the way and at the end, and forces out.
pub(crate) fn spec() -> LayerSpec {
    LayerSpec {
        inputs: vec![
            Input::state("cube"),
            Input::wrench("cube", 2..9),
            Input::parameter("pair.cube.ground.mu"),
            Input::parameter("cube.mass"),
        ],
        outputs: vec![
            Output::state("cube", 12),
            Output::contact_force("cube", 7),
            Output::state("cube", 6),
        ],
    }
}

/// Rows of [`spec`]: a cube that falls on a corner, sliding and turning.
pub(crate) fn rows(count: usize) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(7);
    let mut small = |size: f64| size * (2.0 * rng.random::<f64>() - 1.0);
    let mut out = Vec::new();
    for _ in 0..count {
        let turn = nalgebra::Vector3::new(0.3 + small(0.1), 0.2 + small(0.1), small(1.0));
        let rotation = osculate_math::so3::exp(&turn);
        let first = out.len();
        out.extend([small(0.1), small(0.1), 0.072 + small(0.002)]);
        out.extend(rotation.transpose().iter());
        out.extend([0.8 + small(0.3), small(0.3), -0.9 + small(0.1)]);
        out.extend([small(2.0), small(2.0), small(2.0)]);
        assert_eq!(out.len() - first, STATE);
        out.extend([small(1.0), small(1.0), small(1.0), small(0.02), small(0.02), small(0.02)]);
        out.extend([0.3 + small(0.1), 0.4 + small(0.05)]);
    }
    out
}
