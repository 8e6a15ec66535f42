//! Who supplies samples and who distances where a scene file says neither: the contact page's table by type of actor.

use osculate_dynamics::Body;
use osculate_dynamics::file::SceneFile;
use osculate_geometry::collider::Collider;
use std::path::Path;

const TETRAHEDRON: &str = "shape.triangles = { vertices = [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], \
                           triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] }\n";

fn body(actor: &str) -> Body {
    let text = format!("[solver]\ndt = 0.1\nsteps = 1\n[[actor]]\nname = 'a'\n{actor}");
    let scene = SceneFile::parse(&text, "scene.toml").unwrap_or_else(|e| panic!("{e}"));
    let built = scene.build(Path::new("")).unwrap_or_else(|e| panic!("{e}"));
    built.simulator.scene().bodies[0].clone()
}

#[test]
fn roles_are_those_of_the_page_by_kind_of_actor() {
    let closed = [
        "shape.box = { half_extents = [1, 1, 1] }",
        "shape.icosphere = { radius = 1, subdivisions = 1 }",
    ];
    for shape in closed.into_iter().chain([TETRAHEDRON]) {
        let dynamic = body(&format!("mass = 1\n{shape}"));
        assert!(dynamic.samples.is_some() && dynamic.collider.is_some(), "{shape}");
        let fixed = body(&format!("static = true\n{shape}"));
        assert!(fixed.samples.is_none() && fixed.collider.is_some(), "{shape}");
    }
    // Auto is a grid where the shape is triangles without a field of its own.
    for actor in ["mass = 1", "static = true"] {
        let auto = body(&format!("{actor}\n{TETRAHEDRON}")).collider;
        assert!(matches!(auto, Some(Collider::Grid(_))), "{actor}");
        let named = body(&format!("{actor}\ncollider = 'auto'\n{TETRAHEDRON}")).collider;
        assert_eq!(auto, named);
    }
    // None takes the collider's role only.
    let none = body("mass = 1\ncollider = 'none'\nshape.box = { half_extents = [1, 1, 1] }");
    assert!(none.samples.is_some() && none.collider.is_none());
}
