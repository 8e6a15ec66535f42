//! glTF 2.0, text and binary.
//!
//! All triangles of the default scene (the first where none is named), each placed by the transforms of its node and
//! its ancestors; a transform that mirrors also turns the triangles. Axes and unit stay those of the file: metres, *y* up.
//!
//! Refused: points, lines, strips and fans; skins and morph targets, which deform; sparse accessors; compressed or
//! quantised positions; files elsewhere than in the folder of this one; nodes with two parents.
//! Passed over: materials, textures, normals, cameras, lights, animations.
//!
//! Only the parser of the format is taken from its crate: its readers of accessors trust counts and strides.

mod accessor;
mod buffers;

use super::{Source, one_line};
use crate::GeometryError;
use crate::mesh::repair::{Part, Soup};
use ::gltf::mesh::Mode;
use ::gltf::scene::Transform;
use ::gltf::{Document, Glb, Node, Primitive, Semantic};
use buffers::Buffers;
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

/// Bytes of the header of a binary file.
const HEADER: usize = 12;

/// The triangles of a glTF file of which `bytes` are the content.
pub(super) fn parse(source: &Source<'_>, bytes: &[u8]) -> Result<Soup, GeometryError> {
    let failed = |cause: String| GeometryError::Gltf { path: source.path.into(), cause };
    let glb = if bytes.starts_with(b"glTF") {
        check_length(source, bytes)?;
        Some(Glb::from_slice(bytes).map_err(|e| failed(one_line(e)))?)
    } else {
        None
    };
    let (json, bin) = match &glb {
        Some(glb) => (&*glb.json, glb.bin.as_deref()),
        None => (bytes, None),
    };
    let root = ::gltf::json::Root::from_slice(json).map_err(|e| failed(one_line(e)))?;
    check_attributes(source, &root)?;
    let document = Document::from_json(root).map_err(|e| failed(one_line(e)))?;
    let buffers = Buffers::of(source, &document, bin)?;
    let mut reader = Reader { source, buffers, soup: Soup::default() };
    reader.scene(&document)?;
    Ok(reader.soup)
}

/// Attributes refer to accessors that exist: the validation of the crate looks up the positions before it knows.
fn check_attributes(source: &Source<'_>, root: &::gltf::json::Root) -> Result<(), GeometryError> {
    let accessors = root.accessors.len();
    for (i, mesh) in root.meshes.iter().enumerate() {
        let attributes = mesh.primitives.iter().flat_map(|primitive| primitive.attributes.values());
        if let Some(missing) = attributes.map(|a| a.value()).find(|&a| a >= accessors) {
            return Err(GeometryError::FileContent {
                path: source.path.into(),
                place: format!("an attribute of mesh {i}"),
                found: format!("accessor {missing} of {accessors}"),
                allowed: "indices of accessors, from 0",
            });
        }
    }
    Ok(())
}

/// Compares the length in the header with the length that is.
fn check_length(source: &Source<'_>, bytes: &[u8]) -> Result<(), GeometryError> {
    let announced = match bytes.get(8..HEADER) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => HEADER as u32,
    };
    if announced as usize == bytes.len() && bytes.len() > HEADER {
        return Ok(());
    }
    Err(GeometryError::FileList {
        path: source.path.into(),
        list: "header".into(),
        count: 1,
        needed: u128::from(announced).max(HEADER as u128 + 1),
        found: bytes.len() as u64,
    })
}

/// Where a node places its mesh: `x ↦ linear x + translation`.
#[derive(Clone, Copy)]
struct Placement {
    linear: Matrix3<f64>,
    translation: Vector3<f64>,
}

struct Reader<'a> {
    source: &'a Source<'a>,
    buffers: Buffers<'a>,
    soup: Soup,
}

impl Reader<'_> {
    fn refused(
        &self,
        place: String,
        found: impl Into<String>,
        allowed: &'static str,
    ) -> GeometryError {
        GeometryError::FileContent {
            path: self.source.path.into(),
            place,
            found: found.into(),
            allowed,
        }
    }

    /// All nodes of the default scene, ancestors first.
    fn scene(&mut self, document: &Document) -> Result<(), GeometryError> {
        let Some(scene) = document.default_scene().or_else(|| document.scenes().next()) else {
            return Err(self.refused("list of scenes".into(), "empty", "at least one scene"));
        };
        let here = Placement { linear: Matrix3::identity(), translation: Vector3::zeros() };
        let mut seen = vec![false; document.nodes().len()];
        // A list of what is to come and no recursion: a chain of nodes may be as long as the file.
        let mut next: Vec<(Node<'_>, Placement)> = scene.nodes().map(|n| (n, here)).collect();
        next.reverse();
        while let Some((node, parent)) = next.pop() {
            if std::mem::replace(&mut seen[node.index()], true) {
                let place = format!("node {}", node.index());
                return Err(self.refused(
                    place,
                    "a child of two nodes, or of itself",
                    "one parent",
                ));
            }
            let placement = self.placed(&node, parent)?;
            self.node(&node, &placement)?;
            let first = next.len();
            next.extend(node.children().map(|child| (child, placement)));
            next[first..].reverse();
        }
        Ok(())
    }

    fn placed(&self, node: &Node<'_>, parent: Placement) -> Result<Placement, GeometryError> {
        let own = match node.transform() {
            Transform::Decomposed { translation, rotation, scale } => {
                let [x, y, z, w] = rotation.map(f64::from);
                let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
                let scale = Matrix3::from_diagonal(&Vector3::from(scale.map(f64::from)));
                Placement {
                    linear: rotation.to_rotation_matrix().into_inner() * scale,
                    translation: translation.map(f64::from).into(),
                }
            }
            Transform::Matrix { matrix } => {
                let columns =
                    matrix.map(|column| Vector3::from([0, 1, 2].map(|i| f64::from(column[i]))));
                let last = matrix.map(|column| column[3]);
                // Exact: a file has 0 and 1 there or is no affine transform.
                if last.map(f32::to_bits) != [0f32, 0.0, 0.0, 1.0].map(f32::to_bits) {
                    let place = format!("last row of the matrix of node {}", node.index());
                    return Err(self.refused(place, format!("{last:?}"), "[0, 0, 0, 1]"));
                }
                Placement { linear: Matrix3::from_columns(&columns[..3]), translation: columns[3] }
            }
        };
        Ok(Placement {
            linear: parent.linear * own.linear,
            translation: parent.linear * own.translation + parent.translation,
        })
    }

    fn node(&mut self, node: &Node<'_>, placement: &Placement) -> Result<(), GeometryError> {
        let Some(mesh) = node.mesh() else { return Ok(()) };
        if node.skin().is_some() {
            let place = format!("node {}", node.index());
            return Err(self.refused(place, "deformed by a skin", "no skin"));
        }
        let name = node.name().or(mesh.name()).unwrap_or_default().to_string();
        self.soup.parts.push(Part { name, first: self.soup.triangles.len() });
        for primitive in mesh.primitives() {
            let place = format!("primitive {} of mesh {}", primitive.index(), mesh.index());
            self.primitive(&primitive, placement, place)?;
        }
        Ok(())
    }

    fn primitive(
        &mut self,
        primitive: &Primitive<'_>,
        placement: &Placement,
        place: String,
    ) -> Result<(), GeometryError> {
        if primitive.mode() != Mode::Triangles {
            let found = format!("of mode {:?}", primitive.mode());
            return Err(self.refused(place, found, "triangles"));
        }
        if primitive.morph_targets().len() > 0 {
            return Err(self.refused(place, "deformed by morph targets", "no morph targets"));
        }
        let Some(positions) = primitive.get(&Semantic::Positions) else {
            return Err(self.refused(place, "without positions", "an attribute POSITION"));
        };
        let corners = primitive.indices().map_or(positions.count(), |indices| indices.count());
        if !corners.is_multiple_of(3) {
            let found = format!("of {corners} corners");
            return Err(self.refused(place, found, "three corners a triangle"));
        }
        // Nodes may share a mesh: a small file may stand for any number of triangles.
        let triangles = self.soup.triangles.len();
        self.source.check_triangles(triangles as u64 + corners as u64 / 3)?;
        let first = self.soup.vertices.len();
        let vertices = first as u64 + positions.count() as u64;
        if vertices > 3 * self.source.most as u64 {
            let found = format!("the end of {vertices} vertices");
            return Err(self.refused(
                place,
                found,
                "three vertices for each triangle that is allowed",
            ));
        }
        let points = accessor::points(self.source, &self.buffers, &positions)?;
        let placed = points.map(|x| placement.linear * x + placement.translation);
        self.soup.vertices.extend(placed);
        match primitive.indices() {
            Some(indices) => {
                let corners = accessor::indices(self.source, &self.buffers, &indices)?;
                self.push(first, &corners, place)?;
            }
            None => self.push(first, &(0..corners).collect::<Vec<_>>(), place)?,
        }
        // Seen in a mirror, counter-clockwise is clockwise.
        if placement.linear.determinant() < 0.0 {
            self.soup.triangles[triangles..].iter_mut().for_each(|t| t.swap(1, 2));
        }
        Ok(())
    }

    /// Adds triangles of which the corners count the vertices from `first`.
    fn push(
        &mut self,
        first: usize,
        corners: &[usize],
        place: String,
    ) -> Result<(), GeometryError> {
        let vertices = self.soup.vertices.len() - first;
        if let Some(index) = corners.iter().find(|&&i| i >= vertices) {
            let found = format!("a triangle with vertex {index} of {vertices}");
            return Err(self.refused(place, found, "indices of vertices, from 0"));
        }
        let triangles = corners.chunks_exact(3).map(|c| [0, 1, 2].map(|i| first + c[i]));
        self.soup.triangles.extend(triangles);
        Ok(())
    }
}
