//! Meshes from files: what is changed is said, what has no volume is refused with numbers.

use crate::file::{BuiltScene, FileError, MeshFile, SceneFile, Shape};
use std::path::PathBuf;

/// A tetrahedron of volume 1/6 times the cube of the unit.
const WHOLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A folder of its own, with a mesh in it; removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, mesh: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("osculate-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("mesh.obj"), mesh).unwrap();
        Self(folder)
    }

    fn build(&self, mesh: &str) -> Result<BuiltScene, FileError> {
        let actor =
            format!("[[actor]]\nname = 'a'\ncollider = 'none'\ndensity = 6\nshape.mesh = {mesh}\n");
        let text = format!("[solver]\ndt = 0.1\nsteps = 1\n{actor}");
        SceneFile::parse(&text, "scene.toml").unwrap().build(&self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn whole_mesh_gives_no_warning() {
    let built = Folder::with("whole", WHOLE).build("'mesh.obj'").unwrap();
    assert_eq!(built.warnings, []);
}

#[test]
fn repairs_of_a_mesh_are_warnings_with_the_place() {
    let inside_out = WHOLE.replace("f 1 3 2", "f 1 2 3").replace("f 1 2 4", "f 1 4 2");
    let inside_out =
        inside_out.replace("f 1 4 3", "f 1 3 4").replace("f 2 3 4", "f 2 4 3\nf 1 1 2");
    let built = Folder::with("inside-out", &inside_out).build("'mesh.obj'").unwrap();
    let mass = built.simulator.scene().bodies[0].mass().unwrap().mass();
    assert!((mass - 1.0).abs() < 1e-15);
    let lines: Vec<String> = built.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with(
        "scene.toml:8: actor[0].shape.mesh: 'mesh.obj' has 1 triangles without an area"
    ));
    assert!(
        lines[1].ends_with("1 closed pieces of 4 triangles that face inwards: turned outwards")
    );
}

#[test]
fn open_mesh_without_volume_is_refused_with_numbers() {
    let open = WHOLE.replace("f 2 3 4\n", "");
    let error = Folder::with("open", &open).build("'mesh.obj'").unwrap_err().to_string();
    assert!(error.contains("actor[0].density: found 6: mesh is not closed at 3 edges"), "{error}");
}

#[test]
fn scale_and_limit_of_a_mesh_are_given_in_a_table() {
    let metre = ["v 1 0 0", "v 0 1 0", "v 0 0 1"];
    let large =
        metre.iter().fold(WHOLE.to_string(), |text, v| text.replace(v, &v.replace('1', "1000")));
    // A kilometre, or a metre in millimetres.
    let folder = Folder::with("millimetres", &large);
    let doubted = folder.build("'mesh.obj'").unwrap().warnings;
    assert_eq!(doubted.len(), 1);
    assert!(doubted[0].message.contains("millimetres"), "{}", doubted[0]);
    let built = folder.build("{ file = 'mesh.obj', scale = 0.001 }").unwrap();
    assert_eq!(built.warnings, []);
    let mass = built.simulator.scene().bodies[0].mass().unwrap().mass();
    assert!((mass - 1.0).abs() < 1e-14);
    for (table, says) in [
        ("{ file = 'mesh.obj', scale = 0.0 }", "actor[0].shape.mesh.scale: found 0 m"),
        (
            "{ file = 'mesh.obj', most_triangles = 3 }",
            "has 4 triangles or more, allowed: at most 3",
        ),
        ("{ file = 'mesh.obj', most_triangles = 0 }", "most triangles of a mesh file is 0"),
    ] {
        let error = folder.build(table).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn mesh_file_is_written_as_it_is_read() {
    let name: MeshFile = PathBuf::from("a.ply").into();
    let scaled = MeshFile { scale: 0.001, most_triangles: Some(7), ..name.clone() };
    for mesh in [name, scaled] {
        let mut scene = SceneFile::default();
        scene
            .actors
            .push(crate::file::Actor { shape: Some(Shape::Mesh(mesh)), ..Default::default() });
        let text = scene.to_toml().unwrap();
        assert_eq!(SceneFile::parse(&text, "again").unwrap(), scene, "{text}");
    }
    for table in ["{ scale = 1 }", "{ file = 'a', size = 1 }", "1"] {
        let text = format!("[[actor]]\nname = 'a'\nshape.mesh = {table}\n");
        assert!(matches!(SceneFile::parse(&text, "bad"), Err(FileError::Schema { .. })), "{table}");
    }
}
