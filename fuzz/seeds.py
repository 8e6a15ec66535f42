"""Writes the seeds of the mesh readers: a tetrahedron in every format and encoding. Scenes are written by hand.

    python3 fuzz/seeds.py
"""

import base64
import json
import struct
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"
VERTICES = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
TRIANGLES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def write(name, content):
    path = SEEDS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def obj():
    lines = ["o tetrahedron"]
    lines += ["v %g %g %g" % v for v in VERTICES]
    lines += ["f %d %d %d" % tuple(i + 1 for i in t) for t in TRIANGLES]
    write("obj/tetrahedron.obj", "\n".join(lines) + "\n")
    write("obj/polygon.obj", "v 0 0 0\nv 1 0 0 1\nv 1 1 0 1 0 0\nv 0 1 0\ng a\nvt 0 0\nf -4/1 -3//1 3/1/1 4\n")


def stl():
    ascii = "solid tetrahedron\n"
    binary = b"tetrahedron".ljust(80) + struct.pack("<I", len(TRIANGLES))
    for t in TRIANGLES:
        corners = [VERTICES[i] for i in t]
        ascii += "facet normal 0 0 0\nouter loop\n"
        ascii += "".join("vertex %g %g %g\n" % c for c in corners)
        ascii += "endloop\nendfacet\n"
        binary += struct.pack("<12fH", 0, 0, 0, *[x for c in corners for x in c], 0)
    write("stl/ascii.stl", ascii + "endsolid tetrahedron\n")
    write("stl/binary.stl", binary)


def ply():
    for kind, order in [("ascii", None), ("binary_little_endian", "<"), ("binary_big_endian", ">")]:
        header = (
            f"ply\nformat {kind} 1.0\nelement vertex {len(VERTICES)}\nproperty float x\nproperty float y\n"
            f"property float z\nelement face {len(TRIANGLES)}\nproperty list uchar int vertex_indices\nend_header\n"
        )
        if order is None:
            body = "".join("%g %g %g\n" % v for v in VERTICES)
            body += "".join("3 %d %d %d\n" % t for t in TRIANGLES)
            body = body.encode()
        else:
            body = b"".join(struct.pack(order + "3f", *v) for v in VERTICES)
            body += b"".join(struct.pack(order + "B3i", 3, *t) for t in TRIANGLES)
        write(f"ply/{kind}.ply", header.encode() + body)


def gltf():
    places = b"".join(struct.pack("<3f", *v) for v in VERTICES)
    corners = b"".join(struct.pack("<3H", *t) for t in TRIANGLES)
    root = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"children": [1]}, {"mesh": 0, "name": "tetrahedron", "scale": [1, 2, 1]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0] * 3, "max": [1] * 3},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(places)},
            {"buffer": 0, "byteOffset": len(places), "byteLength": len(corners)},
        ],
        "buffers": [{"byteLength": len(places + corners)}],
    }
    text = json.dumps(root, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    bin = places + corners
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(bin), b"BIN\0") + bin
    write("gltf/binary.glb", b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body)
    root["buffers"][0]["uri"] = "data:;base64," + base64.b64encode(bin).decode()
    root["nodes"][1] = {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]}
    write("gltf/text.gltf", json.dumps(root, separators=(",", ":")))


obj()
stl()
ply()
gltf()
