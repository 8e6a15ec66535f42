//! The error of this crate.

use crate::grid::GridFileError;
use std::path::PathBuf;

/// What can be wrong with a shape.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GeometryError {
    /// A dimension of a collider is outside its range.
    #[error("{dimension} of a {collider} is {found}, allowed: {allowed}")]
    ColliderDimension {
        /// Kind of collider.
        collider: &'static str,
        /// Which dimension.
        dimension: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A number that describes a shape or a body is outside its range.
    #[error("{quantity} is {found}, allowed: {allowed}")]
    Quantity {
        /// What the number is.
        quantity: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// There is too much of something.
    #[error("{found} {what}, at most {allowed} allowed")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: u128,
        /// How many are allowed.
        allowed: u128,
    },
    /// Points that span no volume, or that are not finite.
    #[error("{points} points span no convex hull: they have to be finite and not in one plane")]
    NoHull {
        /// How many points there are.
        points: usize,
    },
    /// A collider has no faces, edges or vertices to touch with.
    #[error("a {collider} collider has no faces and vertices, which contact points need")]
    NoFeatures {
        /// Kind of collider.
        collider: &'static str,
    },
    /// Two kinds of shape between which no contact points are built.
    #[error(
        "no contact points between a {first} and a {second}: keep them apart by the scene's `only` or `exclude`, or give one of \
         them another shape"
    )]
    NoManifold {
        /// Kind of the first shape.
        first: &'static str,
        /// Kind of the second.
        second: &'static str,
    },
    /// A mesh without triangles or without vertices.
    #[error("mesh has {vertices} vertices and {triangles} triangles, at least 3 and 1 needed")]
    EmptyMesh {
        /// Vertices found.
        vertices: usize,
        /// Triangles found.
        triangles: usize,
    },
    /// A coordinate is infinite or not a number.
    #[error("vertex {vertex} is {found:?}, coordinates have to be finite")]
    NonFiniteVertex {
        /// Index of the vertex.
        vertex: usize,
        /// Its coordinates `[m]`.
        found: [f64; 3],
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} refers to vertex {index}, the mesh has {vertices} vertices")]
    IndexOutOfRange {
        /// Index of the triangle.
        triangle: usize,
        /// The index found.
        index: usize,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A triangle without an area has no normal.
    #[error(
        "triangle {triangle} with corners {corners:?} is degenerate: area {area:.3e} m², allowed: > {smallest:.3e} m²"
    )]
    DegenerateTriangle {
        /// Index of the triangle.
        triangle: usize,
        /// Its three vertex indices.
        corners: [usize; 3],
        /// Its area `[m²]`.
        area: f64,
        /// The smallest area `[m²]` that counts for an edge as long as its longest.
        smallest: f64,
    },
    /// The surface has a hole, a fin, or neighbours of opposite orientation.
    #[error(
        "mesh is not closed at {edges} edges: the first, {from}→{to} at {at:?} m, occurs {forward} times and \
         {to}→{from} {backward} times, allowed: once each"
    )]
    NotClosed {
        /// Smaller vertex index of the edge.
        from: usize,
        /// Larger vertex index of the edge.
        to: usize,
        /// Triangles that run along the edge from the smaller index to the larger.
        forward: usize,
        /// Triangles that run along it from the larger to the smaller.
        backward: usize,
        /// How many edges there are for which this does not hold.
        edges: usize,
        /// Middle of the first one `[m]`.
        at: [f64; 3],
    },
    /// A defect that is not to be repaired or accepted.
    #[error("mesh has {finding}: refused")]
    MeshDefect {
        /// What was found.
        finding: Box<crate::mesh::repair::Finding>,
    },
    /// A grid has another number of nodes than values were given.
    #[error("{found} values for {expected} nodes of a grid, as many needed")]
    NodeCount {
        /// How many values were given.
        found: usize,
        /// How many nodes there are.
        expected: usize,
    },
    /// A surface has another number of vertices than were given.
    #[error("{found} vertices for a surface of {expected}, as many needed")]
    VertexCount {
        /// How many were given.
        found: usize,
        /// How many the surface has.
        expected: usize,
    },
    /// A list has another length than the points.
    #[error("{found} {list} for {points} sample points, as many needed")]
    SampleCount {
        /// Which list.
        list: &'static str,
        /// Its length.
        found: usize,
        /// How many points there are.
        points: usize,
    },
    /// A number of a surface sample is outside its range.
    #[error("{quantity} of sample {sample} is {found}, allowed: {allowed}")]
    Sample {
        /// Index of the sample.
        sample: usize,
        /// What the number is.
        quantity: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// An inertia tensor is not symmetric.
    #[error("inertia is not symmetric: entry ({row}, {column}) is {found}, its mirror is {mirror}")]
    AsymmetricInertia {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The entry `[kg·m²]`.
        found: f64,
        /// The entry across the diagonal `[kg·m²]`.
        mirror: f64,
    },
    /// No body has these principal moments of inertia.
    #[error(
        "principal moments of inertia are {found:?} kg·m², allowed: none negative and none larger than the \
         sum of the other two"
    )]
    PrincipalMoments {
        /// The moments `[kg·m²]`, ascending.
        found: [f64; 3],
    },
    /// A file cannot be opened or read.
    #[error("cannot read {}: {kind}", path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// Why, in the operating system's words.
        kind: std::io::ErrorKind,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {kind}", path.display())]
    WriteFile {
        /// The file.
        path: PathBuf,
        /// Why, in the operating system's words.
        kind: std::io::ErrorKind,
    },
    /// A file is no grid file that can be used.
    #[error("{} is not a usable grid file: {cause}", path.display())]
    GridFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: GridFileError,
    },
    /// The file name does not end in a known format.
    #[error("{} has extension {found:?}, allowed: obj, stl, ply, gltf, glb", path.display())]
    FileExtension {
        /// The file.
        path: PathBuf,
        /// Its extension; empty where it has none.
        found: String,
    },
    /// An OBJ file has a line that cannot be understood.
    #[error("{} is not a readable OBJ file: {cause}", path.display())]
    Obj {
        /// The file.
        path: PathBuf,
        /// What the parser met.
        cause: tobj::LoadError,
    },
    /// A line of an OBJ or ASCII STL file is no vertex or face.
    #[error("{}: line {line}: found `{found}`, allowed: {allowed}", path.display())]
    MeshLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What may.
        allowed: String,
    },
    /// A face of an OBJ file is not a polygon.
    #[error("face {face} of {} has {corners} corners, at least 3 needed", path.display())]
    FaceCorners {
        /// The file.
        path: PathBuf,
        /// Index of the face, from 0 in the order of the file.
        face: usize,
        /// How many corners it has.
        corners: usize,
    },
    /// An ASCII STL file has a line that cannot be understood, or ends early.
    #[error("solid {solid} of {} is not readable ASCII STL: {cause}", path.display())]
    AsciiStl {
        /// The file.
        path: PathBuf,
        /// Index of the solid, from 0 in the order of the file.
        solid: usize,
        /// What the parser met.
        cause: String,
    },
    /// A binary STL file is longer or shorter than its triangle count says.
    #[error(
        "{} has {found} bytes, a binary STL file of {triangles} triangles has {expected}",
        path.display()
    )]
    StlLength {
        /// The file.
        path: PathBuf,
        /// Triangles that the header announces; 0 where there is no whole header.
        triangles: u64,
        /// Bytes that they need.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// A file is larger than meshes of the triangles that are allowed.
    #[error("{} has {found} bytes, allowed for {triangles} triangles: at most {most}", path.display())]
    FileSize {
        /// The file.
        path: PathBuf,
        /// Bytes of the file.
        found: u64,
        /// Triangles that are allowed.
        triangles: usize,
        /// The most bytes.
        most: u64,
    },
    /// A file has more triangles than are allowed; nothing was stored of them.
    #[error("{} has {found} triangles or more, allowed: at most {most}", path.display())]
    FileTriangles {
        /// The file.
        path: PathBuf,
        /// Triangles found or announced until counting stopped.
        found: u64,
        /// The most that are allowed.
        most: usize,
    },
    /// A PLY file has a line or value that cannot be understood, or ends early.
    #[error("{} is not a readable PLY file: {element}: {cause}", path.display())]
    Ply {
        /// The file.
        path: PathBuf,
        /// The part of the file: header, or name and index of an element.
        element: String,
        /// What the parser met.
        cause: String,
    },
    /// A glTF file is not one, or breaks the rules of the format.
    #[error("{} is not a readable glTF file: {cause}", path.display())]
    Gltf {
        /// The file.
        path: PathBuf,
        /// What the parser met.
        cause: String,
    },
    /// A list is longer than the bytes that the file has for it.
    #[error("{list} of {} has {count} items, which need {needed} bytes, of which there are {found}", path.display())]
    FileList {
        /// The file.
        path: PathBuf,
        /// Which list.
        list: String,
        /// How many items are announced.
        count: u64,
        /// The fewest bytes that they need.
        needed: u128,
        /// Bytes that there are.
        found: u64,
    },
    /// A file follows its format and has something that is not read here.
    #[error("{place} of {} is {found}, allowed: {allowed}", path.display())]
    FileContent {
        /// The file.
        path: PathBuf,
        /// Where.
        place: String,
        /// What stands there.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A file was read, and what it holds is no valid mesh.
    #[error("{} holds no valid mesh: {cause}", path.display())]
    FileMesh {
        /// The file.
        path: PathBuf,
        /// What is wrong with the mesh.
        cause: Box<GeometryError>,
    },
}
