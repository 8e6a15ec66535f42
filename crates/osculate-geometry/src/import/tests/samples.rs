//! Meshes written as PLY and glTF.

use super::*;

/// A PLY file; `format` is `ascii`, `binary_little_endian` or `binary_big_endian`.
pub(super) fn ply_bytes(mesh: &TriangleMesh, format: &str) -> Vec<u8> {
    let (v, t) = (mesh.vertices(), mesh.triangles());
    let header = format!(
        "ply\nformat {format} 1.0\ncomment made by hand\nelement vertex {}\nproperty double x\n\
         property double y\nproperty uchar red\nproperty double z\nelement camera 1\n\
         property list uchar short numbers\nelement face {}\nproperty list uchar int vertex_indices\n\
         property uchar flags\nend_header\n",
        v.len(),
        t.len()
    );
    let mut bytes = header.into_bytes();
    if format == "ascii" {
        let mut text: String = v.iter().map(|v| format!("{} {} 7 {}\n", v.x, v.y, v.z)).collect();
        text += "2 5 -6\n";
        text.extend(t.iter().map(|t| format!("3 {} {} {} 1\n", t[0], t[1], t[2])));
        bytes.extend(text.into_bytes());
        return bytes;
    }
    let mut push = |little: &[u8]| {
        let order = |b: &[u8]| -> Vec<u8> {
            if format.contains("big") { b.iter().rev().copied().collect() } else { b.to_vec() }
        };
        bytes.extend(order(little));
    };
    for v in v {
        push(&v.x.to_le_bytes());
        push(&v.y.to_le_bytes());
        push(&[7]);
        push(&v.z.to_le_bytes());
    }
    push(&[2]);
    push(&5i16.to_le_bytes());
    push(&(-6i16).to_le_bytes());
    for t in t {
        push(&[3]);
        t.iter().for_each(|&i| push(&(i as i32).to_le_bytes()));
        push(&[1]);
    }
    bytes
}

/// Positions and indices of 16 bits, as a glTF buffer.
pub(super) fn gltf_buffer(mesh: &TriangleMesh) -> Vec<u8> {
    let places = mesh.vertices().iter().flat_map(|v| v.iter().copied().collect::<Vec<_>>());
    let mut bytes: Vec<u8> = places.flat_map(|x| (x as f32).to_le_bytes()).collect();
    bytes.extend(mesh.triangles().iter().flatten().flat_map(|&i| (i as u16).to_le_bytes()));
    bytes
}

/// The JSON of a glTF file of that buffer; `nodes` and `uri` are put in as they are.
pub(super) fn gltf_json(mesh: &TriangleMesh, nodes: &str, uri: &str) -> String {
    let (vertices, corners) = (mesh.vertices().len(), 3 * mesh.triangles().len());
    let (places, indices) = (12 * vertices, 2 * corners);
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":{nodes},
"meshes":[{{"name":"box","primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":{vertices},"type":"VEC3","min":[-9,-9,-9],"max":[9,9,9]}},
{{"bufferView":1,"componentType":5123,"count":{corners},"type":"SCALAR"}}],
"bufferViews":[{{"buffer":0,"byteLength":{places}}},{{"buffer":0,"byteOffset":{places},"byteLength":{indices}}}],
"buffers":[{{{uri}"byteLength":{total}}}]}}"#,
        total = places + indices
    )
}

pub(super) fn glb_bytes(json: &str, bin: &[u8]) -> Vec<u8> {
    let chunk = |kind: &[u8; 4], content: &[u8], blank: u8| {
        let mut content = content.to_vec();
        content.resize(content.len().next_multiple_of(4), blank);
        let mut bytes = (content.len() as u32).to_le_bytes().to_vec();
        bytes.extend(kind);
        bytes.extend(content);
        bytes
    };
    let body = [chunk(b"JSON", json.as_bytes(), b' '), chunk(b"BIN\0", bin, 0)].concat();
    let length = (12 + body.len() as u32).to_le_bytes();
    [b"glTF".as_slice(), &2u32.to_le_bytes(), &length, &body].concat()
}

/// A `.glb` file of a mesh at the root of its scene.
pub(super) fn glb_of(mesh: &TriangleMesh) -> Vec<u8> {
    glb_bytes(&gltf_json(mesh, r#"[{"mesh":0}]"#, ""), &gltf_buffer(mesh))
}

/// A small closed mesh in every format and encoding.
pub(super) fn every_format(mesh: &TriangleMesh) -> Vec<(MeshFormat, Vec<u8>)> {
    let ply = ["ascii", "binary_little_endian", "binary_big_endian"];
    let ply = ply.map(|format| (MeshFormat::Ply, ply_bytes(mesh, format)));
    let others = [
        (MeshFormat::Obj, obj_text(mesh).into_bytes()),
        (MeshFormat::Stl, ascii_text(mesh, " box").into_bytes()),
        (MeshFormat::Stl, binary_bytes(mesh, b"box")),
        (MeshFormat::Gltf, glb_of(mesh)),
    ];
    others.into_iter().chain(ply).collect()
}
