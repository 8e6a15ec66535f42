//! `shape.mesh`: the name of a file, or a table.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;

/// A mesh from an OBJ, STL, PLY or glTF file.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// The file; a relative path starts at the scene file.
    pub file: PathBuf,
    /// What one unit of the file is \[m\], > 0.
    pub scale: f64,
    /// The most triangles, 1 to 2³⁰; five million where it is not given.
    pub most_triangles: Option<usize>,
}

impl From<PathBuf> for MeshFile {
    /// A file in metres.
    fn from(file: PathBuf) -> Self {
        Self { file, scale: 1.0, most_triangles: None }
    }
}

/// The table.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table { file, scale, most_triangles }")]
struct Table {
    file: PathBuf,
    #[serde(default = "metre")]
    scale: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    most_triangles: Option<usize>,
}

fn metre() -> f64 {
    1.0
}

impl Serialize for MeshFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == Self::from(self.file.clone()) {
            return self.file.serialize(serializer);
        }
        let Self { file, scale, most_triangles } = self.clone();
        Table { file, scale, most_triangles }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MeshFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FileVisitor)
    }
}

struct FileVisitor;

impl<'de> Visitor<'de> for FileVisitor {
    type Value = MeshFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a mesh file, or a table { file, scale, most_triangles }")
    }

    fn visit_str<E: Error>(self, file: &str) -> Result<MeshFile, E> {
        Ok(PathBuf::from(file).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MeshFile, A::Error> {
        let table = Table::deserialize(MapAccessDeserializer::new(map))?;
        let Table { file, scale, most_triangles } = table;
        Ok(MeshFile { file, scale, most_triangles })
    }
}
