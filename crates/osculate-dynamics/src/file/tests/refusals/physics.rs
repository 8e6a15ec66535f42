//! Numbers, contact parameters, mass properties, meshes, rotations.

use super::check;

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let finite = "allowed: a finite number";
    check(&[
        ("[0, 0, -9.81]", "[0, nan, -9.81]", 1, "gravity[1]:", &["NaN", finite]),
        ("[0, 0, 0.06]", "[0, 0, -inf]", 13, "actor[1].pose.position[2]:", &["-inf", finite]),
        ("velocity = [0, 0, 0]", "velocity = [1e99, 0, 0]", 14, "actor[1].velocity[0]:", &[finite]),
        ("k = 1e9", "k = nan", 16, "actor[1].contact.k:", &["NaN", "allowed: > 0"]),
        (
            "mass = 0.4",
            "mass = inf",
            11,
            "actor[1].mass:",
            &["inf kg", "allowed: > 0 kg and finite"],
        ),
    ]);
}

#[test]
fn contact_parameters_outside_their_range_are_refused() {
    check(&[
        ("k = 1e9", "k = 0", 16, "actor[1].contact.k:", &["k is 0", "allowed: > 0"]),
        ("k = 1e9", "k = -1.5", 16, "actor[1].contact.k:", &["k is -1.5", "allowed: > 0"]),
        ("k = 1e9", "k = 1e9\nv_f = 0", 17, "actor[1].contact.v_f:", &["v_f is 0", "allowed: > 0"]),
        ("k = 1e9", "m = 1.01", 16, "actor[1].contact.m:", &["m is 1.01", "allowed: in [-1, 1]"]),
        ("k = 1e9", "mu = -0.1", 16, "actor[1].contact.mu:", &["mu is -0.1", "allowed: >= 0"]),
        ("k = 1e9", "epsilon = -1", 16, "actor[1].contact.epsilon:", &["-1", "allowed: >= 0"]),
        ("k = 1e9", "length_scale = 0", 16, "actor[1].contact.length_scale:", &["0 m", "> 0"]),
    ]);
}

#[test]
fn impossible_mass_properties_are_refused() {
    let at = "actor[1].inertia:";
    let mass = "mass = 0.4";
    check(&[
        (mass, "mass = 0", 11, "actor[1].mass:", &["found 0 kg", "allowed: > 0 kg"]),
        (mass, "mass = -2", 11, "actor[1].mass:", &["found -2 kg", "allowed: > 0 kg"]),
        (mass, "density = -1", 11, "actor[1].density:", &["-1 kg/m³", "allowed: > 0"]),
        (mass, "", 9, "actor[1]:", &["a dynamic actor without mass", "allowed: density, mass"]),
        (mass, "mass = 1\ndensity = 1", 12, "actor[1].density:", &["mass and density", "allowed"]),
        (
            mass,
            "mass = 1\ninertia = [-1, 2, 2, 0, 0, 0]",
            12,
            at,
            &["-1.0", "allowed: none negative"],
        ),
        (mass, "mass = 1\ninertia = [1, 1, 3, 0, 0, 0]", 12, at, &["3.0", "sum of the other two"]),
        (mass, "mass = 1\ninertia = [1, 1, 1, 5, 0, 0]", 12, at, &["5.0", "allowed"]),
        (mass, "mass = 1\ninertia = [0, 1, 1, 0, 0, 0]", 12, at, &["0.0", "three positive"]),
        (mass, "inertia = [1, 1, 1, 0, 0, 0]", 11, at, &["inertia without mass", "allowed"]),
        (
            mass,
            "mass = 1\ncenter = [0, 0, 0]",
            12,
            "actor[1].center:",
            &["without inertia", "allowed"],
        ),
        (mass, "mass = 1\ninertia = [1, 1, 1]", 12, "actor[1].inertia:", &["[1, 1, 1]", "6"]),
        (
            "static = true",
            "mass = 1",
            7,
            "actor[0].mass:",
            &["without volume", "allowed: a closed"],
        ),
        (
            "static = true",
            "static = true\nmass = 1",
            8,
            "actor[0].mass:",
            &["static actor", "static = false"],
        ),
    ]);
}

#[test]
fn open_mesh_is_refused_where_a_closed_one_is_needed() {
    let shape = "shape.box = { half_extents = [0.05, 0.05, 0.05] }";
    let open = "collider = 'none'\nshape.triangles = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], \
                triangles = [[0, 1, 2]] }";
    let index = "shape.triangles = { vertices = [[0, 0, 0]], triangles = [[0, 0, 7]] }";
    let flat = "shape.triangles = { vertices = [[0, 0, 0]], triangles = [[0, 0, 0]] }";
    let empty = "shape.triangles = { vertices = [], triangles = [] }";
    let triangles = "actor[1].shape.triangles.triangles[0]:";
    check(&[
        (shape, open, 11, "actor[1].mass:", &["found 0.4", "not closed", "allowed: once each"]),
        (shape, index, 12, triangles, &["[0, 0, 7]", "the mesh has 1 vertices"]),
        (shape, flat, 12, triangles, &["[0, 0, 0]", "degenerate", "allowed"]),
        (
            shape,
            empty,
            12,
            "actor[1].shape.triangles:",
            &["0 triangles", "at least 3 and 1 needed"],
        ),
        (
            shape,
            "shape.mesh = 'none.obj'",
            12,
            "actor[1].shape.mesh:",
            &["none.obj", "not found", "allowed: an .obj"],
        ),
        (
            shape,
            "shape.mesh = 'none.off'",
            12,
            "actor[1].shape.mesh:",
            &["none.off", "allowed: obj, stl"],
        ),
    ]);
}

#[test]
fn rotations_that_are_none_are_refused() {
    let position = "pose.position = [0, 0, 0.06]";
    let at = "actor[1].pose.quaternion:";
    let both = "pose = { quaternion = [1, 0, 0, 0], rotation_vector = [0, 0, 0] }";
    check(&[
        (
            position,
            "pose.quaternion = [1, 0.002, 0, 0]",
            13,
            at,
            &["norm 1.00000199", "allowed: [w, x, y, z] of norm 1"],
        ),
        (position, "pose.quaternion = [0, 0, 0, 0]", 13, at, &["norm 0", "allowed"]),
        (
            position,
            "pose.quaternion = [nan, 0, 0, 0]",
            13,
            "actor[1].pose.quaternion[0]:",
            &["NaN", "allowed"],
        ),
        (
            position,
            both,
            13,
            "actor[1].pose.rotation_vector:",
            &["quaternion beside", "one of them"],
        ),
        (
            position,
            "pose.rotation_vector = [1e7, 0, 0]",
            13,
            "actor[1].pose.rotation_vector:",
            &["10000000", "at most 1e6"],
        ),
    ]);
}
