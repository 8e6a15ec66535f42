//! `osculate sdf`, and a scene that uses what it wrote.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod common;

use common::{assert_refused, json, osculate, scratch, stderr, write};

/// A cube of 0.1 m.
const CUBE: &str = "\
v -0.05 -0.05 -0.05\nv -0.05 -0.05 0.05\nv -0.05 0.05 -0.05\nv -0.05 0.05 0.05
v 0.05 -0.05 -0.05\nv 0.05 -0.05 0.05\nv 0.05 0.05 -0.05\nv 0.05 0.05 0.05
f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\nf 2 6 8\nf 2 8 4
";

#[test]
fn grid_is_measured_written_and_used_by_a_scene() {
    let folder = scratch("sdf");
    write(&folder, "cube.obj", CUBE);
    let mesh = folder.join("cube.obj");
    let (mesh, out) = (mesh.to_str().unwrap(), folder.to_str().unwrap());
    let options = ["--mode", "explicit", "--delta", "0.0055", "--padding", "0.005"];
    let output = osculate(&[&["sdf", mesh, "--out", out, "--json"][..], &options].concat());
    assert!(output.status.success());
    let report = json(&output);
    assert_eq!(report["cells"], serde_json::json!([20, 20, 20]));
    assert_eq!(report["bytes"], 21 * 21 * 21 * 8);
    // Exact in cells whose corners see one face; a cell at an edge is off by less than its size.
    let error = |place: &str, key: &str| report[place][key].as_f64().unwrap();
    for place in ["error_near_the_surface", "error_in_the_grid"] {
        let (rms, largest) = (error(place, "rms_m"), error(place, "largest_m"));
        assert!(0.0 < rms && rms < largest && largest < 0.0055, "{place}: {rms}, {largest}");
    }
    // What is continuous and what is not.
    let of =
        |name: &str, what: &str| report["interpolants"][name][what]["largest"].as_f64().unwrap();
    assert!(of("trilinear", "jump_of_gradient") > 0.05);
    assert!(of("tricubic", "jump_of_gradient") < 1e-4);
    for name in ["cube.grid", "cube_slices.png", "cube_slices.svg", "cube_sdf.json"] {
        assert!(folder.join(name).metadata().unwrap().len() > 100, "{name}");
    }
    let scene = "[solver]\ndt = 1e-3\nsteps = 20\n\
        [[actor]]\nname = 'base'\nstatic = true\nshape.mesh = 'cube.obj'\n\
        collider = { sdf = { file = 'cube.grid', scale = 2, interpolation = 'tricubic' } }\n\
        [[actor]]\nname = 'box'\nmass = 0.4\ncollider = 'none'\npose.position = [0, 0, 0.119]\n\
        shape.box = { half_extents = [0.02, 0.02, 0.02] }\n";
    write(&folder, "scene.toml", scene);
    let scene = folder.join("scene.toml");
    let motion = folder.join("motion");
    let simulated =
        osculate(&["simulate", scene.to_str().unwrap(), "--out", motion.to_str().unwrap()]);
    assert!(simulated.status.success(), "{}", stderr(&simulated));
}

/// The warning on a mesh in millimetres says to scale it, and no option did. The mesh after `--delta` was taken for one
/// of its numbers.
#[test]
fn a_mesh_in_millimetres_is_scaled_and_may_follow_the_options() {
    let folder = scratch("sdf_scale");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    write(&folder, "m.obj", CUBE);
    write(&folder, "mm.obj", &CUBE.replace("0.05", "50"));
    let grid = |args: &[&str]| {
        let output = osculate(&[&["sdf", "--json"], args].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        json(&output)
    };
    let metres = grid(&["--delta", "0.5", &path("m.obj")]);
    let scaled = grid(&["--scale", "0.001", "--delta", "0.5,0.5,0.5", &path("mm.obj")]);
    assert_eq!(metres["cells"], scaled["cells"]);
    assert_eq!(scaled["warnings"], serde_json::json!([]));
    let upper = |report: &serde_json::Value| report["upper_m"][0].as_f64().unwrap();
    assert!((upper(&metres) - upper(&scaled)).abs() < 1e-15);
    let refused = ["sdf", &path("mm.obj"), "--scale", "-1"];
    assert_refused(&osculate(&refused), 2, &["scale", "-1", "> 0"]);
    assert_refused(&osculate(&["sdf", &path("m.obj"), "--padding", "-1"]), 2, &["padding", "-1"]);
}

#[test]
fn meshes_and_options_that_do_not_do_are_refused() {
    let folder = scratch("sdf_refused");
    let open = CUBE.replace("f 1 2 4\n", "");
    write(&folder, "open.obj", &open);
    write(&folder, "cube.obj", CUBE);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    assert_refused(&osculate(&["sdf", &path("open.obj")]), 2, &["not closed", "0→1 at"]);
    let two = ["sdf", &path("cube.obj"), "--delta", "0.1,0.2"];
    assert_refused(&osculate(&two), 2, &["delta", "one number, or three"]);
    let tiny = ["sdf", &path("cube.obj"), "--mode", "explicit", "--delta", "1e-6"];
    assert_refused(&osculate(&tiny), 2, &["cells of a grid", "at most 1000000000"]);
}
