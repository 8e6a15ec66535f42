//! Files that are whole, cut short, and no mesh at all.

mod damage;
mod formats;
mod samples;

use super::*;
use crate::mass::MassProperties;
use nalgebra::Vector3;

/// Numbers that `f32` stores exactly, so that every format gives the same box.
const H: Vector3<f64> = Vector3::new(0.5, 0.25, 2.0);

fn cuboid() -> TriangleMesh {
    TriangleMesh::cuboid(&H).unwrap()
}

fn obj_text(mesh: &TriangleMesh) -> String {
    let vertices = mesh.vertices().iter().map(|v| format!("v {} {} {}\n", v.x, v.y, v.z));
    let faces =
        mesh.triangles().iter().map(|t| format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    vertices.chain(faces).collect()
}

fn ascii_text(mesh: &TriangleMesh, name: &str) -> String {
    let mut text = format!("solid{name}\n");
    for i in 0..mesh.triangles().len() {
        text += "facet normal 0 0 0\n outer loop\n";
        for v in mesh.corners(i) {
            text += &format!("  vertex {} {} {}\n", v.x, v.y, v.z);
        }
        text += " endloop\nendfacet\n";
    }
    text + "endsolid\n"
}

fn binary_bytes(mesh: &TriangleMesh, header: &[u8]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(80, b' ');
    bytes.extend((mesh.triangles().len() as u32).to_le_bytes());
    for i in 0..mesh.triangles().len() {
        let corners = mesh.corners(i);
        for x in [Vector3::zeros()].iter().chain(&corners).flat_map(|v| v.iter()) {
            bytes.extend((*x as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

/// The mesh of a file `box.obj`, `box.stl`, …
fn bytes_of(format: MeshFormat, bytes: &[u8]) -> Result<TriangleMesh, GeometryError> {
    let name = format!("box.{format:?}").to_lowercase();
    parse_mesh(name, format, bytes, &ImportOptions::default()).map(|(mesh, _)| mesh)
}

fn obj(text: &str) -> Result<TriangleMesh, GeometryError> {
    bytes_of(MeshFormat::Obj, text.as_bytes())
}

fn stl(bytes: &[u8]) -> Result<TriangleMesh, GeometryError> {
    bytes_of(MeshFormat::Stl, bytes)
}

fn assert_is_the_box(mesh: &TriangleMesh) {
    assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (8, 12));
    mesh.check_closed().unwrap();
    let (found, exact) = (
        MassProperties::of_mesh_with_mass(mesh, 1.0).unwrap(),
        MassProperties::cuboid(1.0, &H).unwrap(),
    );
    assert!((found.inertia() - exact.inertia()).norm() < 1e-14);
    assert!(found.center_of_mass().norm() < 1e-15);
}

/// Bytes of a linear congruential generator.
fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    })
}

#[test]
fn every_format_gives_the_same_closed_box() {
    let mesh = cuboid();
    assert_is_the_box(&obj(&obj_text(&mesh)).unwrap());
    for name in [" box", " a box of two words", " ", ""] {
        assert_is_the_box(&stl(ascii_text(&mesh, name).as_bytes()).unwrap());
    }
    assert_is_the_box(&stl(ascii_text(&mesh, "").replace('\n', "\r\n").as_bytes()).unwrap());
    for header in [&b"made by hand"[..], b"solid box", b"solid\n", &[0xff; 80]] {
        assert_is_the_box(&stl(&binary_bytes(&mesh, header)).unwrap());
    }
}

#[test]
fn obj_coordinates_keep_sixteen_digits() {
    let mesh = TriangleMesh::icosphere(0.1, 1).unwrap();
    let read = obj(&obj_text(&mesh)).unwrap();
    for i in 0..mesh.triangles().len() {
        assert_eq!(read.corners(i), mesh.corners(i));
    }
}

#[test]
fn obj_polygons_are_cut_into_triangles() {
    let text = "o box\nv -0.5 -0.25 -2\nv -0.5 -0.25 2\nv -0.5 0.25 -2\nv -0.5 0.25 2\n\
        v 0.5 -0.25 -2\nv 0.5 -0.25 2\nv 0.5 0.25 -2\nv 0.5 0.25 2\n\
        f 1 2 4 3\nf 5 7 8 6\ng sides\nf 1 5 6 2\nf 3 4 8 7\nf -8 -6 -2 -4\nf 2 6 8 4\n";
    assert_is_the_box(&obj(text).unwrap());
    let pentagon = "v 1 0 0\nv 2 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nv 9 9 9\nf 1 2 3 4 5\nf 2 1 6\n";
    assert_eq!(obj(pentagon).unwrap().triangles(), [[0, 1, 2], [0, 2, 3], [0, 3, 4], [1, 0, 5]]);
}

#[test]
fn obj_lines_that_are_no_surface_do_not_matter() {
    let text = format!(
        "\u{feff}# box\nmtllib missing.mtl\nusemtl steel\nvt 0.5\nvn 0 0 1\nl 1 2 3\np 1\ns off\n{}",
        obj_text(&cuboid()).replace("f 1 2 4", "f 1/1/1 2//1 4/7")
    );
    assert_is_the_box(&obj(&text).unwrap());
    let coloured = obj_text(&cuboid()).replace("v 0.5 0.25 2\n", "v 0.5 0.25 2 1 0 0\n");
    assert_is_the_box(&obj(&coloured).unwrap());
}

#[test]
fn solids_of_an_ascii_file_make_one_mesh() {
    let text = ascii_text(&cuboid(), " box");
    let (first, second) = text.split_at(text.match_indices("facet normal").nth(5).unwrap().0);
    assert_is_the_box(&stl(format!("{first}endsolid\n\nsolid\n{second}\n\n").as_bytes()).unwrap());
}

#[test]
fn cut_short_stl_is_an_error() {
    for header in [&b"made by hand"[..], b"solid box"] {
        let whole = binary_bytes(&cuboid(), header);
        for length in 0..whole.len() {
            assert!(stl(&whole[..length]).is_err(), "{length} of {} bytes", whole.len());
        }
    }
    let text = ascii_text(&cuboid(), " box");
    for length in 0..text.rfind("endsolid").unwrap() + "endsolid".len() {
        assert!(stl(&text.as_bytes()[..length]).is_err(), "{length} of {} bytes", text.len());
    }
}

/// OBJ has no end mark: a file cut between two lines is a valid file of an open mesh.
#[test]
fn cut_short_obj_is_an_error_or_an_open_mesh() {
    let text = obj_text(&cuboid());
    for length in 0..text.trim_end().len() {
        if let Ok(mesh) = obj(&text[..length]) {
            assert!(!mesh.is_closed(), "{length} of {} bytes", text.len());
        }
    }
}

#[test]
fn announced_triangles_that_are_not_there_are_an_error_at_once() {
    let mut bytes = binary_bytes(&cuboid(), b"");
    for count in [0, 11, 13, u32::MAX] {
        bytes[80..84].copy_from_slice(&count.to_le_bytes());
        assert_eq!(
            stl(&bytes).unwrap_err(),
            GeometryError::StlLength {
                path: "box.stl".into(),
                triangles: count.into(),
                expected: 84 + 50 * u64::from(count),
                found: 84 + 50 * 12
            }
        );
    }
    bytes.push(0);
    assert!(stl(&bytes).is_err());
}

#[test]
fn garbage_is_an_error_and_never_a_panic() {
    for seed in 0..500 {
        let length = (seed as usize * 7) % 1500;
        let random: Vec<u8> = noise(seed).take(length).collect();
        let letters = b"vf 0123456789.-/elpo\nsdn";
        let line = |b: u8| letters[b as usize % letters.len()];
        let text: Vec<u8> = noise(seed + 1000).take(length).map(line).collect();
        let solid = [b"solid x\n".as_slice(), &random].concat();
        for bytes in [&random, &text, &solid] {
            assert!(stl(bytes).is_err());
            assert!(bytes_of(MeshFormat::Obj, bytes).is_err());
        }
    }
}

#[test]
fn damaged_files_never_panic() {
    let mesh = cuboid();
    let whole =
        [obj_text(&mesh).into_bytes(), ascii_text(&mesh, " box").into(), binary_bytes(&mesh, b"")];
    for seed in 0..2000 {
        let mut dice = noise(seed);
        let mut place =
            || usize::from(dice.next().unwrap()) << 8 | usize::from(dice.next().unwrap());
        for file in &whole {
            let mut bytes = file.clone();
            for _ in 0..1 + seed % 4 {
                let i = place() % bytes.len();
                bytes[i] = place() as u8;
            }
            // Whether it is still a mesh depends on the place; that this returns is the law.
            let _ = (stl(&bytes), bytes_of(MeshFormat::Obj, &bytes));
        }
    }
}

#[test]
fn invalid_content_is_refused_with_file_and_cause() {
    let cause = |result: Result<TriangleMesh, GeometryError>| match result.unwrap_err() {
        GeometryError::FileMesh { cause, path } => {
            assert!(path == Path::new("box.obj") || path == Path::new("box.stl"));
            *cause
        }
        other => panic!("{other}"),
    };
    assert!(matches!(cause(obj("")), GeometryError::EmptyMesh { .. }));
    assert!(matches!(cause(stl(b"solid x\nendsolid x\n")), GeometryError::EmptyMesh { .. }));
    assert!(matches!(cause(stl(&[0; 84])), GeometryError::EmptyMesh { .. }));
    let v = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv inf 0 0\n";
    let face = |f: &str| obj(&format!("{v}{f}"));
    assert!(matches!(
        cause(face("f 1 2 2")),
        GeometryError::DegenerateTriangle { triangle: 0, .. }
    ));
    for (lines, corners) in [("f 1 2 3\nf 1 2", 2), ("f 1 2 3\nf 1", 1), ("f 1 2 3\nf", 0)] {
        assert_eq!(
            face(lines),
            Err(GeometryError::FaceCorners { path: "box.obj".into(), face: 1, corners })
        );
    }
    for lines in [
        "f 1 2 5",
        "f 1 2 0",
        "f 1 2 -5",
        "f 1 2 x",
        "f 1 2 3 /1",
        "f 1 2 \\",
        "f 1 2 9999999999999999999",
    ] {
        let text = face(lines).unwrap_err().to_string();
        let bad = lines.lines().last().unwrap();
        let start =
            format!("box.obj: line 5: found `{bad}`, allowed: vertices 1 to 4, or -4 to -1");
        assert!(text.starts_with(&start), "{text}");
    }
    for line in ["v 1 2", "v 1 2 x", "v 1 2 3 0", "v 1 2 3 4 5"] {
        let text = obj(&format!("\u{feff}# a box\n{line}")).unwrap_err().to_string();
        let start = format!("box.obj: line 2: found `{line}`, allowed: three finite numbers");
        assert!(text.starts_with(&start), "{text}");
    }
    // Of a vertex that no face uses nothing is asked.
    let text = face("f 1 2 4").unwrap_err().to_string();
    assert!(text.starts_with("box.obj: line 4: found `v inf 0 0`, allowed: "), "{text}");
    let solid = ascii_text(&cuboid(), " box");
    let (line, vertex) = solid.lines().enumerate().find(|(_, l)| l.contains("vertex")).unwrap();
    for other in ["vertex 1 2 abc", "vertex 1 2", "vertex 1 2 nan", "vertex 1 2 3 4"] {
        let text = stl(solid.replacen(vertex, other, 1).as_bytes()).unwrap_err().to_string();
        let start = format!("box.stl: line {}: found `{other}`, allowed: three", line + 1);
        assert!(text.starts_with(&start), "{text}");
    }
    let after = ascii_text(&cuboid(), "") + "rest";
    assert_eq!(
        stl(after.as_bytes()).unwrap_err().to_string(),
        "solid 1 of box.stl is not readable ASCII STL: expected \"solid\", got \"rest\\n\""
    );
}

#[test]
fn files_are_read_by_their_extension() {
    let folder = std::env::temp_dir().join(format!("osculate-import-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mesh = cuboid();
    for (name, bytes) in [
        ("box.obj", obj_text(&mesh).into_bytes()),
        ("box.STL", binary_bytes(&mesh, b"")),
        ("ascii.stl", ascii_text(&mesh, " box").into()),
        ("box.off", Vec::new()),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    for name in ["box.obj", "box.STL", "ascii.stl"] {
        let options = ImportOptions::default();
        assert_is_the_box(&read_mesh(folder.join(name), &options).unwrap().0);
    }
    for (name, found) in [("box.off", "off"), ("box", "")] {
        let path = folder.join(name);
        assert_eq!(
            read_mesh(&path, &ImportOptions::default()),
            Err(GeometryError::FileExtension { path, found: found.to_string() })
        );
    }
    let path = folder.join("missing.obj");
    assert_eq!(
        read_mesh(&path, &ImportOptions::default()),
        Err(GeometryError::ReadFile { path, kind: std::io::ErrorKind::NotFound })
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
