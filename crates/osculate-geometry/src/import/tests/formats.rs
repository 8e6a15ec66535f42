//! PLY and glTF: what is read, what is refused.

use super::samples::*;
use super::*;
use base64::Engine;

fn ply(text: &str) -> Result<TriangleMesh, GeometryError> {
    bytes_of(MeshFormat::Ply, text.as_bytes())
}

fn gltf(json: &str) -> Result<TriangleMesh, GeometryError> {
    bytes_of(MeshFormat::Gltf, &glb_bytes(json, &gltf_buffer(&cuboid())))
}

/// The box below nodes.
fn placed(nodes: &str) -> Result<TriangleMesh, GeometryError> {
    gltf(&gltf_json(&cuboid(), nodes, ""))
}

#[test]
fn every_encoding_of_ply_and_gltf_gives_the_same_closed_box() {
    for (format, bytes) in every_format(&cuboid()) {
        assert_is_the_box(&bytes_of(format, &bytes).unwrap());
    }
    let windows = String::from_utf8(ply_bytes(&cuboid(), "ascii")).unwrap().replace('\n', "\r\n");
    assert_is_the_box(&ply(&windows).unwrap());
    assert_is_the_box(&ply(&windows.replace("vertex_indices", "vertex_index")).unwrap());
}

#[test]
fn ply_polygons_are_cut_into_fans() {
    let text = "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar uint vertex_indices\n\
                element vertex 5\nproperty float x\nproperty int y\nproperty float z\nend_header\n\
                5 0 1 2 3 4\n1 0 0\n2 0 0\n2 1 0\n1 2 0\n0 1 0\n";
    assert_eq!(ply(text).unwrap().triangles(), [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
}

#[test]
fn ply_that_is_no_mesh_is_refused_with_the_place() {
    let whole = String::from_utf8(ply_bytes(&cuboid(), "ascii")).unwrap();
    for (from, to, says) in [
        ("3 0 1 3 1", "2 0 1 1", "face 0 of box.ply is a face of 2 corners"),
        ("3 0 1 3 1", "3 0 -1 3 1", "a face with corner -1, allowed: indices"),
        ("3 0 1 3 1", "3 0 1 8 1", "triangle 0 refers to vertex 8"),
        ("3 0 1 3 1", "3 0 1", "face 0: Expected 3 list elements"),
        ("3 0 1 3 1", "4000000000 0 1 3 1", "face 0: Expected 4000000000 list elements"),
        ("-0.5 -0.25 7 -2", "nan -0.25 7 -2", "vertex 0: Couldn't parse element line"),
        ("-0.5 -0.25 7 -2", "1e999 -0.25 7 -2", "vertex 0 is [inf"),
        ("property double z", "property list uchar double z", "without vertex coordinates"),
        ("list uchar int vertex_indices", "list uchar float vertex_indices", "no list of integers"),
        ("vertex_indices", "corners", "without faces"),
        ("element face 12", "element face 11", "followed by"),
        ("element face 12", "element face 99999999999", "element face of box.ply has 99999999999"),
        (
            "element camera 1",
            "element nothing 18446744073709551615\nelement camera 1",
            "without prop",
        ),
        ("format ascii 1.0", "format ascii", "header: Line 2"),
    ] {
        let text = whole.replacen(from, to, 1);
        assert_ne!(text, whole, "{from}");
        let error = ply(&text).unwrap_err().to_string();
        assert!(error.contains(says), "{to}: {error}");
        assert!(error.len() < 400, "{error}");
    }
}

#[test]
fn gltf_nodes_place_turn_and_scale_their_meshes() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let nodes = format!(
        r#"[{{"children":[1],"translation":[10,0,0]}},
            {{"children":[2],"rotation":[{half},0,0,{half}]}},
            {{"mesh":0,"name":"lid","scale":[1,2,3],"translation":[0,5,0]}}]"#
    );
    let mesh = placed(&nodes).unwrap();
    // A quarter turn about x carries y to z: sizes 0.5, 3·2, 2·0.25 about (10, 0, 5).
    let (mut lower, mut upper) = (mesh.vertices()[0], mesh.vertices()[0]);
    mesh.vertices().iter().for_each(|v| (lower, upper) = (lower.inf(v), upper.sup(v)));
    assert!((lower - Vector3::new(9.5, -6.0, 4.5)).norm() < 1e-6, "{lower}");
    assert!((upper - Vector3::new(10.5, 6.0, 5.5)).norm() < 1e-6, "{upper}");
    assert!((mesh.signed_volume() - 2.0 * 6.0).abs() < 1e-6);
    let column = r#"[{"mesh":0,"matrix":[0,1,0,0, -1,0,0,0, 0,0,1,0, 1,2,3,1]}]"#;
    let turned = placed(column).unwrap();
    let expected = cuboid().vertices()[1];
    let expected = Vector3::new(1.0 - expected.y, 2.0 + expected.x, 3.0 + expected.z);
    assert!((turned.vertices()[1] - expected).norm() < 1e-15);
}

#[test]
fn mirroring_gltf_node_keeps_the_outside_outside() {
    let strict = ImportOptions {
        repair: Repair { inside_out: crate::mesh::repair::Fix::Refuse, ..Repair::default() },
        ..ImportOptions::default()
    };
    let json = gltf_json(&cuboid(), r#"[{"mesh":0,"scale":[1,-1,1]}]"#, "");
    let bytes = glb_bytes(&json, &gltf_buffer(&cuboid()));
    let (mesh, _) = parse_mesh("box.glb", MeshFormat::Gltf, &bytes, &strict).unwrap();
    assert!((mesh.signed_volume() - 2.0).abs() < 1e-15);
}

#[test]
fn pieces_are_named_after_nodes_objects_and_solids() {
    let nodes = r#"[{"children":[1,2]},{"mesh":0,"name":"left"},{"mesh":0,"translation":[5,0,0]}]"#;
    let glb = glb_bytes(&gltf_json(&cuboid(), nodes, ""), &gltf_buffer(&cuboid()));
    let far = cuboid().vertices().iter().map(|v| v + Vector3::x() * 5.0).collect();
    let far = TriangleMesh::new(far, cuboid().triangles().to_vec()).unwrap();
    let later =
        far.triangles().iter().map(|t| format!("f {} {} {}\n", t[0] + 9, t[1] + 9, t[2] + 9));
    let vertices = far.vertices().iter().map(|v| format!("v {} {} {}\n", v.x, v.y, v.z));
    let later: String = vertices.chain(later).collect();
    let obj = format!("o left\n{}g box\n{later}", obj_text(&cuboid()));
    let stl = ascii_text(&cuboid(), " left") + &ascii_text(&far, " box");
    for (format, bytes) in [
        (MeshFormat::Gltf, glb),
        (MeshFormat::Stl, stl.into_bytes()),
        (MeshFormat::Obj, obj.into_bytes()),
    ] {
        let (mesh, report) = parse_mesh("two", format, &bytes, &ImportOptions::default()).unwrap();
        mesh.check_closed().unwrap();
        let names: Vec<_> = report.pieces.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["left", "box"], "{format:?}");
    }
}

#[test]
fn gltf_buffers_are_in_the_file_or_beside_it() {
    let buffer = gltf_buffer(&cuboid());
    let node = r#"[{"mesh":0}]"#;
    let data = base64::engine::general_purpose::STANDARD.encode(&buffer);
    let uri = format!(r#""uri":"data:application/octet-stream;base64,{data}","#);
    let text = gltf_json(&cuboid(), node, &uri);
    assert_is_the_box(&bytes_of(MeshFormat::Gltf, text.as_bytes()).unwrap());

    let folder = std::env::temp_dir().join(format!("osculate-gltf-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("data")).unwrap();
    std::fs::write(folder.join("data/box.bin"), &buffer).unwrap();
    let write = |uri: &str| {
        let path = folder.join("box.gltf");
        let uri = format!(r#""uri":"{uri}","#);
        std::fs::write(&path, gltf_json(&cuboid(), node, &uri)).unwrap();
        read_mesh(path, &ImportOptions::default()).map(|(mesh, _)| mesh)
    };
    assert_is_the_box(&write("data/box.bin").unwrap());
    for uri in ["../data/box.bin", "/etc/hostname", "data/./../box.bin", "http://x/y", "a%20b", ""]
    {
        let error = write(uri).unwrap_err();
        assert!(matches!(error, GeometryError::FileContent { .. }), "{uri}: {error}");
    }
    assert!(matches!(write("none.bin"), Err(GeometryError::ReadFile { .. })));
    std::fs::remove_dir_all(&folder).unwrap();
    let outside = gltf_json(&cuboid(), node, r#""uri":"data/box.bin","#);
    assert!(bytes_of(MeshFormat::Gltf, outside.as_bytes()).is_err());
}

/// Replaces a piece of a whole file and compares the refusal.
fn assert_gltf_refused(cases: &[(&str, &str, &str)]) {
    let whole = gltf_json(&cuboid(), r#"[{"mesh":0}]"#, "");
    for (from, to, says) in cases {
        let json = whole.replacen(from, to, 1);
        assert_ne!(json, whole, "{from}");
        let error = gltf(&json).unwrap_err().to_string();
        assert!(error.contains(says), "{to}: {error}");
    }
}

#[test]
fn gltf_that_is_not_a_rigid_surface_is_refused_with_the_place() {
    assert_gltf_refused(&[
        (
            r#""indices":1"#,
            r#""indices":1,"mode":5"#,
            "primitive 0 of mesh 0 of box.gltf is of mode Tri",
        ),
        (r#""indices":1"#, r#""indices":1,"mode":1"#, "is of mode Lines, allowed: triangles"),
        (r#""indices":1"#, r#""indices":1,"targets":[{"POSITION":0}]"#, "morph targets"),
        (
            r#"[{"mesh":0}]"#,
            r#"[{"mesh":0,"children":[0]}]"#,
            "node 0 of box.gltf is a child of two nodes",
        ),
        (r#"[{"mesh":0}]"#, r#"[{"mesh":7}]"#, "not a readable glTF file"),
        (
            r#"[{"mesh":0}]"#,
            r#"[{"mesh":0,"matrix":[1,0,0,0,0,1,0,0,0,0,1,1,0,0,0,1]}]"#,
            "last row",
        ),
        (r#""scene":0,"scenes":[{"nodes":[0]}]"#, r#""scenes":[]"#, "list of scenes"),
        (
            r#""version":"2.0"}"#,
            r#""version":"2.0"},"extensionsRequired":["KHR_draco_mesh_compression"]"#,
            "draco",
        ),
    ]);
}

#[test]
fn gltf_numbers_that_are_not_in_the_file_are_refused_with_the_place() {
    assert_gltf_refused(&[
        (
            r#""componentType":5123"#,
            r#""componentType":5122"#,
            "accessor 1 of box.gltf is of I16 Scalar, allowed: indices",
        ),
        (r#""count":36"#, r#""count":35"#, "of 35 corners"),
        (
            r#""count":36"#,
            r#""count":39"#,
            "accessor 1 of box.gltf has 39 items, which need 78 bytes",
        ),
        (r#""count":8"#, r#""count":7"#, "a triangle with vertex 7 of 7"),
        (r#""count":8"#, r#""count":9007199254740991"#, "9007199254740991 vertices"),
        (
            r#""count":36"#,
            r#""count":9007199254740990"#,
            "triangles or more, allowed: at most 5000000",
        ),
        (
            r#""bufferView":1,"#,
            r#""bufferView":1,"byteOffset":4,"#,
            "which need 76 bytes, of which there are 72",
        ),
        (
            r#"{"buffer":0,"byteLength":96}"#,
            r#"{"buffer":0,"byteLength":96,"byteStride":8}"#,
            "accessor 0",
        ),
        (r#""byteLength":168}]"#, r#""byteLength":169}]"#, "buffer 0 of box.gltf has 169 items"),
        (r#""bufferView":0,"#, "", "Missing data"),
        (
            r#""bufferView":0,"#,
            r#""bufferView":0,"sparse":{"count":1,"indices":{"bufferView":1,"componentType":5123},"values":{"bufferView":0}},"#,
            "accessor 0 of box.gltf is sparse",
        ),
    ]);
}

/// Every node stands for the whole mesh: 2000 nodes of a 12-triangle mesh are 24 000 triangles in a small file.
#[test]
fn triangles_of_shared_gltf_meshes_are_counted_before_they_are_stored() {
    let leaves = vec![r#"{"mesh":0}"#; 2000].join(",");
    let children: Vec<String> = (1..=2000).map(|i| i.to_string()).collect();
    let nodes = format!(r#"[{{"children":[{}]}},{leaves}]"#, children.join(","));
    let bytes = glb_bytes(&gltf_json(&cuboid(), &nodes, ""), &gltf_buffer(&cuboid()));
    let few = ImportOptions { most_triangles: 23_999, ..ImportOptions::default() };
    assert_eq!(
        parse_mesh("box.glb", MeshFormat::Gltf, &bytes, &few),
        Err(GeometryError::FileTriangles { path: "box.glb".into(), found: 24_000, most: 23_999 })
    );
}

/// Symptom: the parser of binary glTF subtracts the length of the header from a length below it: a panic with overflow
/// checks. Cause: it trusts the length; it is checked before.
#[test]
fn glb_with_a_length_below_its_header_is_refused() {
    let mut bytes = glb_of(&cuboid());
    for length in [0u32, 11, 12, u32::MAX] {
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
        let error = bytes_of(MeshFormat::Gltf, &bytes).unwrap_err();
        assert!(matches!(error, GeometryError::FileList { .. }), "{length}: {error}");
    }
    assert!(bytes_of(MeshFormat::Gltf, b"glTF").is_err());
}

/// Symptom: index out of bounds in the validation of the glTF crate, found by fuzzing. Cause: it looks up the accessor of
/// the positions, for its bounds, before it has checked the index; attributes are checked before.
#[test]
fn gltf_positions_that_no_accessor_has_are_refused() {
    let missing = "an attribute of mesh 0 of box.gltf is accessor 2 of 2, allowed: indices of";
    assert_gltf_refused(&[(r#"{"POSITION":0}"#, r#"{"POSITION":2}"#, missing)]);
    let whole = gltf_json(&cuboid(), r#"[{"mesh":0}]"#, "");
    assert!(gltf(&whole.replace("\"accessors\"", "\"others\"")).is_err());
}
