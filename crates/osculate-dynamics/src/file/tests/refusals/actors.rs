//! Lists, sizes and colliders.

use super::{BASE, check, refusal};
use crate::file::FileError;

#[test]
fn lists_of_the_wrong_length_are_refused() {
    let mass = "mass = 0.4";
    let at = "actor[1].samples";
    let with = |samples: &str| format!("{mass}\nsamples = {{ {samples} }}");
    let (empty, none) = (with("points = [], weight = 1"), with("points = [[0, 0, 0]]"));
    let weights = with("points = [[0, 0, 0]], weights = [1, 2]");
    let normals = with("points = [[0, 0, 0]], weight = 1, normals = []");
    let long = with("points = [[0, 0, 0]], weight = 1, normals = [[0, 0, 2]]");
    let zero = with("points = [[0, 0, 0]], weights = [0]");
    check(&[
        (mass, &empty, 12, &format!("{at}.points:"), &["0 points", "1 to 2000000 points"]),
        (mass, &none, 12, &format!("{at}:"), &["neither", "weights, or weight"]),
        (mass, &weights, 12, &format!("{at}.weights:"), &["found 2", "1, one for each point"]),
        (mass, &normals, 12, &format!("{at}.normals:"), &["found 0", "1, one for each point"]),
        (mass, &long, 12, &format!("{at}.normals[0]:"), &["2", "1 within 1e-6"]),
        (mass, &zero, 12, &format!("{at}.weights[0]:"), &["0 m²", "> 0"]),
        (
            "static = true",
            "static = true\nmotion = [{}]",
            8,
            "actor[0].motion:",
            &["1 poses", "4 poses, one for each step"],
        ),
        (
            "static = true",
            "static = true\nmotion = []",
            8,
            "actor[0].motion:",
            &["0 poses", "4 poses"],
        ),
        (
            mass,
            "mass = 1\nmotion = [{}]",
            12,
            "actor[1].motion:",
            &["dynamic actor", "static = true"],
        ),
        (
            "k = 1e9",
            "[[wrench]]\nactor = 'cube'\nsteps = [2, 5]",
            18,
            "wrench[0].steps:",
            &["[2, 5]", "to <= 4"],
        ),
        (
            "k = 1e9",
            "[[wrench]]\nactor = 'cube'\ntimes = [0.2, 0.1]",
            18,
            "wrench[0].times:",
            &["[0.2, 0.1]", "from < to"],
        ),
    ]);
}

#[test]
fn sizes_beyond_reason_are_refused() {
    let extents = "half_extents = [0.05, 0.05, 0.05]";
    let fine = "half_extents = [1, 1, 1], subdivisions = 201";
    let dense = "half_extents = [1, 1, 1], subdivisions = 200 }\nquadrature = 'P1Q16";
    check(&[
        (extents, fine, 12, "actor[1].shape.box.subdivisions:", &["201", "1 to 200"]),
        (
            "shape.box = { half_extents = [0.05, 0.05, 0.05] }",
            "shape.icosphere = { radius = 1, subdivisions = 8 }",
            12,
            "actor[1].shape.icosphere.subdivisions:",
            &["8", "0 to 7"],
        ),
        (
            "{ half_extents = [0.05, 0.05, 0.05] }",
            &format!("{{ {dense}'"),
            13,
            "actor[1].quadrature:",
            &["7680000 samples", "at most 2000000"],
        ),
    ]);
    let many = "[[actor]]\nname = 'a'\n".repeat(10_001);
    let message = refusal(&format!("[solver]\ndt = 1\nsteps = 1\n{many}")).to_string();
    assert!(message.contains("10001 actors, allowed: 1 to 10 000 actors"), "{message}");
    let message = refusal("[solver]\ndt = 1\nsteps = 1").to_string();
    assert!(message.contains("0 actors, allowed: 1 to 10 000"), "{message}");
}

#[test]
fn colliders_that_are_not_built_yet_say_what_to_write() {
    let shape = "shape.box = { half_extents = [0.05, 0.05, 0.05] }";
    let text = BASE.replace("mass = 0.4", "mass = 0.4\ncollider = 'point-cloud'");
    let error = refusal(&text);
    assert!(matches!(error, FileError::Unsupported { .. }));
    let message = error.to_string();
    assert!(message.starts_with("scene.toml:12: actor[1].collider: "), "{message}");
    assert!(message.contains("point-cloud") && message.contains("deformable"), "{message}");
    assert!(message.contains("allowed: \"none\""), "{message}");
    check(&[
        (
            "mass = 0.4",
            "mass = 0.4\ncollider = 'plane'",
            12,
            "actor[1].collider:",
            &["plane", "allowed: a plane"],
        ),
        (
            "static = true",
            "static = true\ncollider = 'box'",
            8,
            "actor[0].collider:",
            &["box of a shape", "or a table"],
        ),
        (
            "static = true",
            "static = true\nquadrature = 'P1Q1'",
            8,
            "actor[0].quadrature:",
            &["without triangles", "allowed: a shape"],
        ),
        (
            shape,
            "shape.sphere = { radius = 0.1 }",
            9,
            "actor[1].samples:",
            &["dynamic sphere", "shape.icosphere"],
        ),
        (
            "normal = [0, 0, 1]",
            "normal = [0, 0, 0]",
            8,
            "actor[0].shape.plane.normal:",
            &["[0.0, 0.0, 0.0]", "not zero"],
        ),
        (
            "[0.05, 0.05, 0.05]",
            "[0.05, -1, 0.05]",
            12,
            "actor[1].shape.box.half_extents[1]:",
            &["-1 m", "> 0 m"],
        ),
    ]);
}

#[test]
fn grids_and_meshes_are_refused_with_the_field() {
    let given = |text: &str| format!("mass = 0.4\ncollider = {text}");
    let refused = |text: &str, at: &str, words: &[&str]| {
        check(&[("mass = 0.4", &given(text), 12, at, words)]);
    };
    let sdf = "actor[1].collider.sdf";
    refused("{ sdf = { delta = [0.1, 0, 0.1] } }", sdf, &["resolution delta", "> 0"]);
    refused("{ sdf = { padding = -1 } }", sdf, &["padding of a grid is -1", "≥ 0"]);
    refused("{ sdf = { min_cells = [1, 0, 1] } }", sdf, &["number of cells", "≥ 1"]);
    let tiny = "{ sdf = { resolution_mode = 'explicit', delta = [1e-6, 1e-6, 1e-6] } }";
    refused(tiny, sdf, &["cells of a grid", "at most 1000000000"]);
    refused("{ sdf = { scale = 0 } }", "actor[1].collider.sdf.scale", &["found 0"]);
    refused("{ sdf = { rounding = -1 } }", "actor[1].collider.sdf.rounding", &["-1", "≥ 0"]);
    let nowhere = "{ sdf = { file = 'nowhere.grid' } }";
    refused(nowhere, "actor[1].collider.sdf.file", &["cannot read", "nowhere.grid"]);
    let both = "{ sdf = { file = 'a.grid', padding = 1 } }";
    refused(both, sdf, &["grid parameters beside file", "or no file"]);
    refused("{ sdf = { mode = 'explicit' } }", "actor[1].collider.sdf.mode", &["unknown field"]);
    let mode = "{ sdf = { resolution_mode = 'finest' } }";
    refused(mode, "actor[1].collider.sdf.resolution_mode", &["finest", "mean-edge"]);
    refused("{ mesh = { scale = -2 } }", "actor[1].collider.mesh.scale", &["found -2"]);
    let edge = "{ box = { half_extents = [1, 1, 1], edge_radius = 2 } }";
    refused(edge, "actor[1].collider.box.edge_radius", &["edge radius", "is 2"]);
    for kind in ["mesh", "sdf"] {
        let text = format!("static = true\ncollider = '{kind}'");
        let words = ["without triangles", "a shape of triangles"];
        check(&[("static = true", &text, 8, "actor[0].collider:", &words)]);
    }
}

#[test]
fn open_mesh_supplies_no_distances_and_names_the_edge() {
    let open = "shape.triangles = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles = [[0, 1, 2]] }";
    for kind in ["mesh", "sdf", "auto"] {
        let text = format!("{open}\nstatic = true\ncollider = '{kind}'");
        let text = BASE.replace("static = true\nshape.plane = { normal = [0, 0, 1] }", &text);
        assert!(text.contains(open), "the base scene has another plane");
        let message = refusal(&text).to_string();
        assert!(message.contains("not closed") && message.contains("0→1 at"), "{message}");
    }
}

#[test]
fn geometry_that_an_actor_does_not_have_cannot_be_free() {
    let (mass, shape) = ("mass = 0.4", "shape.box = { half_extents = [0.05, 0.05, 0.05] }");
    let at = "actor[1].free[0]:";
    let free = |what: &str| format!("{mass}\nfree = [{what}]");
    let (radius, vertices, nodes) = (free("'edge_radius'"), free("'vertices'"), free("'nodes'"));
    let twice = free("'scale', 'scale'");
    let plane = "static = true\nfree = ['half_extents']";
    let bare = "static = true\ncollider = 'none'\nfree = ['scale']";
    let grid = format!("{}\ncollider = 'sdf'", free("'half_extents'"));
    let samples = "samples = { points = [[0, 0, 0]], weight = 1 }";
    let points = format!("{}\n{samples}", free("'half_extents'"));
    let unsampled = format!("{vertices}\n{samples}");
    check(&[
        (mass, &radius, 12, at, &["sharp edges", "edge_radius"]),
        (mass, &nodes, 12, at, &["not a grid", "sdf"]),
        (mass, &twice, 12, "actor[1].free[1]:", &["\"scale\" twice", "each once"]),
        ("static = true", plane, 8, "actor[0].free[0]:", &["not a box", "shape.box"]),
        ("static = true", bare, 9, "actor[0].free[0]:", &["without samples and collider"]),
        (mass, &grid, 12, at, &["would not change with it", "allowed: \"auto\""]),
        (mass, &points, 12, at, &["explicit samples", "a quadrature"]),
        (mass, &unsampled, 12, at, &["do not follow from triangles", "with a quadrature"]),
    ]);
    let rounded =
        |table: &str| format!("shape.box = {{ half_extents = [0.05, 0.05, 0.05], {table} }}");
    let (large, zero) = (rounded("edge_radius = 0.05"), rounded("edge_radius = 0"));
    let (flat, many) =
        (rounded("edge_subdivisions = 2"), rounded("edge_radius = 0.01, edge_subdivisions = 101"));
    let field = "actor[1].shape.box.edge_";
    check(&[
        (shape, &large, 12, &format!("{field}radius:"), &["0.05 m", "smallest half extent, 0.05"]),
        (shape, &zero, 12, &format!("{field}radius:"), &["0 m", "> 0"]),
        (shape, &flat, 12, &format!("{field}subdivisions:"), &["no edge_radius"]),
        (shape, &many, 12, &format!("{field}subdivisions:"), &["101", "1 to 100"]),
    ]);
    let message = refusal(&BASE.replace(mass, &free("'size'"))).to_string();
    assert!(message.contains("half_extents") && message.contains("size"), "{message}");
}
