//! What shapes, mass properties, colliders, samples, grids and pairs become.

use crate::file::{BuiltScene, SceneFile};
use crate::{Body, Layout, Method};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::DissipationSchedule;
use osculate_geometry::collider::Collider;
use std::path::Path;

fn build(text: &str) -> BuiltScene {
    let scene = SceneFile::parse(text, "scene.toml").unwrap_or_else(|e| panic!("{e}"));
    scene.build(Path::new("")).unwrap_or_else(|e| panic!("{e}"))
}

fn body(actor: &str) -> Body {
    let built = build(&format!("[solver]\ndt = 0.1\nsteps = 1\n[[actor]]\nname = 'a'\n{actor}"));
    built.simulator.scene().bodies[0].clone()
}

const TETRAHEDRON: &str = "shape.triangles = { vertices = [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], \
                           triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] }\n";

#[test]
fn mass_comes_from_density_and_volume() {
    let mass = |text: &str| body(text).mass().unwrap().mass();
    let box_mass = mass("density = 1000\nshape.box = { half_extents = [0.1, 0.2, 0.3] }");
    assert!((box_mass - 48.0).abs() < 1e-12);
    let ball = mass("density = 3\nsamples = 'none'\nshape.sphere = { radius = 1 }");
    assert!((ball - 4.0 * std::f64::consts::PI).abs() < 1e-14);
    let tetrahedron = mass(&format!("density = 2\ncollider = 'none'\n{TETRAHEDRON}"));
    assert!((tetrahedron - 2.0).abs() < 1e-14);
}

#[test]
fn explicit_inertia_holds_tensor_entries() {
    let body = body("mass = 2\ncenter = [0.1, 0, 0]\ninertia = [3, 4, 5, -0.1, 0.2, -0.3]");
    let mass = body.mass().unwrap();
    let expected = Matrix3::new(3.0, -0.1, 0.2, -0.1, 4.0, -0.3, 0.2, -0.3, 5.0);
    assert_eq!((mass.inertia(), mass.center_of_mass().x), (expected, 0.1));
    assert!(body.samples.is_none() && body.collider.is_none());
}

#[test]
fn auto_is_the_exact_field_of_the_shape() {
    let auto = |text: &str| body(text).collider;
    let plane = auto("static = true\nshape.plane = { normal = [0, 0, 1], offset = 0.5 }");
    assert_eq!(plane, Some(Collider::half_space(Vector3::z(), 0.5).unwrap()));
    let sphere = auto("static = true\nshape.sphere = { radius = 2, center = [1, 0, 0] }");
    assert_eq!(sphere, Some(Collider::sphere(Vector3::x(), 2.0).unwrap()));
    let cuboid = auto("mass = 1\nshape.box = { half_extents = [1, 2, 3] }");
    let expected = Collider::cuboid(Vector3::zeros(), Vector3::new(1.0, 2.0, 3.0));
    assert_eq!(cuboid, Some(expected.unwrap()));
}

#[test]
fn named_colliders_of_a_mesh_come_from_its_bounding_box() {
    let made = |kind: &str| body(&format!("mass = 1\ncollider = {kind}\n{TETRAHEDRON}")).collider;
    let (center, half) = (Vector3::new(0.5, 1.0, 1.5), Vector3::new(0.5, 1.0, 1.5));
    assert_eq!(made("'sphere'"), Some(Collider::sphere(center, 0.5).unwrap()));
    assert_eq!(made("'box'"), Some(Collider::cuboid(center, half).unwrap()));
    assert_eq!(made("'none'"), None);
    let explicit = made("{ sphere = { radius = 0.25 } }");
    assert_eq!(explicit, Some(Collider::sphere(Vector3::zeros(), 0.25).unwrap()));
}

#[test]
fn dynamic_triangles_have_three_samples_each_and_static_ones_none() {
    let cube = "shape.box = { half_extents = [1, 1, 1], subdivisions = 2 }";
    assert_eq!(body(&format!("mass = 1\n{cube}")).samples.unwrap().len(), 3 * 48);
    assert_eq!(body(&format!("mass = 1\nquadrature = 'P1Q7'\n{cube}")).samples.unwrap().len(), 336);
    assert!(body(&format!("mass = 1\nsamples = 'none'\n{cube}")).samples.is_none());
    assert!(body(&format!("static = true\n{cube}")).samples.is_none());
    assert!(body(&format!("static = true\nquadrature = 'P1Q1'\n{cube}")).samples.is_some());
    let points = body("static = true\nsamples = { points = [[1, 2, 3]], weights = [0.5] }");
    assert!(points.free_samples && points.samples.unwrap().weights() == [0.5]);
}

#[test]
fn both_forms_of_a_rotation_agree() {
    let half = 0.25f64;
    let (w, z) = (half.cos(), half.sin());
    let q = body(&format!("static = true\npose.quaternion = [{w}, 0, 0, {z}]")).pose;
    let v = body("static = true\npose.rotation_vector = [0, 0, 0.5]").pose;
    assert!((q.rotation - v.rotation).norm() < 1e-15);
}

#[test]
fn time_grid_has_four_forms() {
    let grid = |text: &str| {
        let text = format!("[solver]\n{text}\n[[actor]]\nname = 'a'\nstatic = true");
        build(&text).simulator.durations().to_vec()
    };
    assert_eq!(grid("dt = 0.25\nsteps = 3"), [0.25; 3]);
    assert_eq!(grid("dt = 0.25\nduration = 0.75"), [0.25; 3]);
    assert_eq!(grid("steps = 3\nduration = 0.75"), [0.25; 3]);
    assert_eq!(grid("steps_s = [0.1, 0.2]"), [0.1, 0.2]);
}

#[test]
fn flags_name_the_same_schedules_as_words() {
    let settings = |text: &str| {
        let solver = format!("[solver]\nmethod = 'symplectic-dirk12'\ndt = 1\nsteps = 1\n{text}");
        *build(&format!("{solver}\n[[actor]]\nname = 'a'\nstatic = true")).simulator.settings()
    };
    for (word, flags, schedule) in [
        ("stage-start", "explicit_normals = true", DissipationSchedule::StageStart),
        ("current", "implicit_normal_force = true", DissipationSchedule::Current),
        ("current-geometry", "explicit_normals = false", DissipationSchedule::CurrentGeometry),
    ] {
        let word = settings(&format!("schedule = '{word}'"));
        assert_eq!((word.law.schedule, word.method), (schedule, Method::SymplecticDirk12));
        assert_eq!(word, settings(flags));
    }
}

const TWO: &str = "
[solver]
dt = 0.1
steps = 4
[[actor]]
name = 'a'
mass = 1
shape.box = { half_extents = [1, 1, 1] }
[[actor]]
name = 'b'
mass = 1
shape.box = { half_extents = [1, 1, 1] }
";

#[test]
fn pairs_are_all_but_the_disabled_or_only_the_named() {
    let pairs = |head: &str| build(&format!("{head}{TWO}")).simulator.scene().pairs();
    assert_eq!(pairs(""), [(0, 1), (1, 0)]);
    assert_eq!(pairs("disable = [['a', 'b']]"), [(1, 0)]);
    assert_eq!(pairs("only = [['a', 'b']]"), [(0, 1)]);
    assert_eq!(pairs("only = []"), []);
}

#[test]
fn filters_gate_layers_and_actors_in_the_order_of_the_file() {
    let pairs = |layers: [&str; 2], filters: &str| {
        let mut scene = TWO.to_string();
        for (name, layer) in ["a", "b"].iter().zip(layers) {
            let named = format!("name = '{name}'\n");
            scene = scene.replace(&named, &format!("{named}layer = '{layer}'\n"));
        }
        build(&format!("{scene}{filters}")).simulator.scene().pairs()
    };
    let layers = "[[filter]]\nlayers = ['x', 'y']\nenable = false\n";
    let one_way = "[[filter]]\nlayers = ['x', 'y']\nenable = false\none_way = true\n";
    let actors = "[[filter]]\nactors = ['a', 'b']\nenable = true\n";
    let off = "[[filter]]\nactors = ['a', 'b']\nenable = false\none_way = true\n";
    assert_eq!(pairs(["x", "y"], layers), []);
    assert_eq!(pairs(["x", "y"], one_way), [(1, 0)]);
    assert_eq!(pairs(["x", "y"], &format!("{layers}{actors}")), []);
    assert_eq!(pairs(["x", "y"], &format!("{off}{actors}")), [(0, 1), (1, 0)]);
    assert_eq!(pairs(["x", "y"], &format!("{actors}{off}")), [(1, 0)]);
}

#[test]
fn nested_filter_reaches_the_children() {
    let child =
        "[[actor]]\nname = 'c'\nparent = 'a'\nmass = 1\nshape.box = { half_extents = [1, 1, 1] }\n";
    let filter = "[[filter]]\nactors = ['a', 'b']\nenable = false\nnested = true\none_way = true\n";
    let scene = build(&format!("{TWO}{child}{filter}"));
    assert_eq!(scene.simulator.scene().pairs(), [(0, 2), (1, 0), (1, 2), (2, 0)]);
}

#[test]
fn wrenches_on_one_actor_add_up() {
    let built = build(&format!(
        "{TWO}[[wrench]]\nactor = 'b'\nsteps = [1, 3]\nforce = [1, 0, 0]\n\
         [[wrench]]\nactor = 'b'\ntimes = [0.2, 0.4]\nforce = [2, 0, 0]\ntorque = [0, 0, 5]\n"
    ));
    let force: Vec<f64> = built.parameters.wrenches.iter().map(|w| w.force.x).collect();
    assert_eq!(force, [0.0, 0.0, 0.0, 1.0, 0.0, 3.0, 0.0, 2.0]);
    assert_eq!(built.parameters.wrenches[7].torque, Vector3::new(0.0, 0.0, 5.0));
    assert!(build(TWO).parameters.wrenches.is_empty());
}

#[test]
fn default_outcome_watches_the_first_dynamic_actor() {
    let built = build(TWO);
    assert_eq!((built.outcome.terms[0].body, built.outcome.terms[0].step), (0, 4));
}

/// Paths of the parameters that `free` adds, without their last numbers.
fn free_paths(actor: &str) -> Vec<String> {
    let paths = |free: &str| {
        let text = format!("[solver]\ndt = 0.1\nsteps = 1\n[[actor]]\nname = 'a'\n{free}{actor}");
        let built = build(&text);
        let layout = Layout::new(built.simulator.scene(), &built.parameters);
        layout.entries().iter().map(|e| e.path.clone()).collect::<Vec<_>>()
    };
    let fixed = paths("");
    let free = actor.lines().find(|x| x.starts_with("#free")).unwrap();
    let all = paths(&format!("{}\n", &free[1..]));
    all.into_iter().filter(|p| !fixed.contains(p)).collect()
}

#[test]
fn free_geometry_becomes_parameters() {
    let rounded = "mass = 1\nshape.box = { half_extents = [1, 2, 3], edge_radius = 0.5 }";
    let names = ["a.scale", "a.half_extent_x", "a.half_extent_y", "a.half_extent_z"];
    let found = free_paths(&format!("{rounded}\n#free = ['scale', 'half_extents', 'edge_radius']"));
    assert_eq!(found, [&names[..], &["a.edge_radius"]].concat());
    let found =
        free_paths(&format!("mass = 1\ncollider = 'none'\n{TETRAHEDRON}#free = ['vertices']"));
    assert_eq!((found.len(), found[11].as_str()), (12, "a.vertex_3_z"));
    let grid = "static = true\ncollider.sdf = { resolution_mode = 'explicit', delta = [1, 1, 1] }";
    let found = free_paths(&format!("{grid}\n{TETRAHEDRON}#free = ['nodes']"));
    assert!(found.len() >= 8 && found[0] == "a.collider.node_0", "{found:?}");
    let plane = "static = true\nshape.plane = { normal = [0, 0, 1], offset = 0.5 }";
    assert_eq!(free_paths(&format!("{plane}\n#free = ['scale']")), ["a.scale"]);
}

#[test]
fn free_geometry_has_the_values_of_the_file_and_its_collider_follows() {
    let free = "free = ['edge_radius', 'scale']";
    let shape =
        "shape.box = { half_extents = [1, 2, 3], edge_radius = 0.5, edge_subdivisions = 3 }";
    let of = |collider: &str| body(&format!("mass = 1\n{free}\n{collider}\n{shape}"));
    let made = of("");
    let expected = Collider::rounded_cuboid(Vector3::zeros(), Vector3::new(1.0, 2.0, 3.0), 0.5);
    assert_eq!(made.collider, Some(expected.unwrap()));
    let modes = |body: &Body| body.shape.as_ref().unwrap().modes.clone();
    assert_eq!((modes(&made)[0].value, modes(&made)[0].dimensions[6]), (0.5, 1.0));
    assert_eq!(made.samples.unwrap().len(), 3 * 12 * 49);
    let own = of("collider.box = { half_extents = [1, 1, 1] }");
    assert!(modes(&own)[0].dimensions.iter().all(|x| x.abs() == 0.0));
}

#[test]
fn rounded_box_has_the_mass_of_its_polyhedron() {
    let mass = |shape: &str| {
        body(&format!("density = 1000\nshape.box = {{ {shape} }}")).mass().unwrap().mass()
    };
    let sharp = mass("half_extents = [0.1, 0.2, 0.3]");
    let rounded =
        mass("half_extents = [0.1, 0.2, 0.3], edge_radius = 0.05, edge_subdivisions = 40");
    let [a, b, c, r] = [0.05, 0.15, 0.25, 0.05f64];
    let pi = std::f64::consts::PI;
    let volume = 8.0 * (a * b * c + r * (a * b + b * c + c * a))
        + 2.0 * pi * r * r * (a + b + c)
        + 4.0 / 3.0 * pi * r.powi(3);
    assert!((rounded / (1000.0 * volume) - 1.0).abs() < 1e-4 && rounded < sharp);
}
