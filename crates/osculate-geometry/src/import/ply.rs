//! PLY: ASCII, binary little-endian and big-endian.
//!
//! The header announces how many vertices and faces there are; that is compared with the bytes that follow before
//! anything is stored. Numbers are what the parser takes: `nan`, `inf`, `.5` and `5.` are refused.

use super::{Source, one_line, polygon};
use crate::GeometryError;
use crate::mesh::repair::Soup;
use nalgebra::Vector3;
use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{
    ElementDef, Encoding, Header, Property, PropertyAccess, PropertyAccessResult, PropertyType,
    ScalarType,
};
use std::io::BufRead;

/// The triangles of a PLY file of which `bytes` are the content.
pub(super) fn parse(source: &Source<'_>, bytes: &[u8]) -> Result<Soup, GeometryError> {
    let mut reader = Reader::new(bytes);
    let header = Parser::<Vertex>::new()
        .read_header(&mut reader)
        .map_err(|e| failed(source, "header".into(), &e))?;
    let mut rest = reader.into_inner();
    check(source, &header, rest.len())?;

    let mut soup = Soup::default();
    for element in header.elements.values() {
        match element.name.as_str() {
            "vertex" => {
                let push = |v: Vertex, _| {
                    soup.vertices.push(Vector3::from(v.place));
                    Ok(())
                };
                each(source, &header, element, &mut rest, push)?;
            }
            "face" => {
                let push = |face: Face, i| push(source, &mut soup, &face, i);
                each(source, &header, element, &mut rest, push)?;
            }
            _ => each(source, &header, element, &mut rest, |_: Ignored, _| Ok(()))?,
        }
    }
    if rest.iter().any(|b| !b.is_ascii_whitespace()) {
        return Err(GeometryError::FileContent {
            path: source.path.into(),
            place: "end".into(),
            found: format!("followed by {} bytes that no element has", rest.len()),
            allowed: "nothing after the elements of the header",
        });
    }
    Ok(soup)
}

fn failed(source: &Source<'_>, element: String, error: &ParseError) -> GeometryError {
    GeometryError::Ply { path: source.path.into(), element, cause: one_line(error) }
}

/// Adds the triangles of a face.
fn push(source: &Source<'_>, soup: &mut Soup, face: &Face, i: usize) -> Result<(), GeometryError> {
    let refused = |found: String, allowed| GeometryError::FileContent {
        path: source.path.into(),
        place: format!("face {i}"),
        found,
        allowed,
    };
    if let Some(index) = face.negative {
        return Err(refused(format!("a face with corner {index}"), "indices of vertices, from 0"));
    }
    source.check_triangles((soup.triangles.len() + face.corners.len().saturating_sub(2)) as u64)?;
    if polygon::push_fan(&mut soup.triangles, &face.corners) {
        return Ok(());
    }
    Err(refused(format!("a face of {} corners", face.corners.len()), "3 corners or more"))
}

/// Passes every item of an element on, with its index.
fn each<E: PropertyAccess>(
    source: &Source<'_>,
    header: &Header,
    element: &ElementDef,
    rest: &mut &[u8],
    mut take: impl FnMut(E, usize) -> Result<(), GeometryError>,
) -> Result<(), GeometryError> {
    let parser = Parser::<E>::new();
    let mut line = String::new();
    for i in 0..element.count {
        let read = match header.encoding {
            Encoding::BinaryLittleEndian => parser.read_little_endian_element(rest, element),
            Encoding::BinaryBigEndian => parser.read_big_endian_element(rest, element),
            Encoding::Ascii => {
                line.clear();
                rest.read_line(&mut line)
                    .map_err(ParseError::from)
                    .and_then(|_| parser.read_ascii_element(&line, element))
            }
        };
        take(read.map_err(|e| failed(source, format!("{} {i}", element.name), &e))?, i)?;
    }
    Ok(())
}

/// Compares what the header announces with what can be read, and with the bytes that there are.
fn check(source: &Source<'_>, header: &Header, found: usize) -> Result<(), GeometryError> {
    let refused = |place: &str, found: &str, allowed| {
        let (place, found) = (place.into(), found.into());
        Err(GeometryError::FileContent { path: source.path.into(), place, found, allowed })
    };
    let mut needed = 0;
    for element in header.elements.values() {
        let list = format!("element {}", element.name);
        if element.properties.is_empty() && element.count > 0 {
            return refused(&list, "without properties", "at least one property");
        }
        let bytes =
            element.properties.values().map(|p| fewest_bytes(header.encoding, &p.data_type));
        needed += bytes.sum::<u128>() * element.count as u128;
        if needed > found as u128 + 1 {
            let (count, found) = (element.count as u64, found as u64);
            return Err(GeometryError::FileList {
                path: source.path.into(),
                list,
                count,
                needed,
                found,
            });
        }
    }
    let scalar = |name: &str| match header.elements.get("vertex").map(|e| e.properties.get(name)) {
        Some(Some(property)) => matches!(property.data_type, PropertyType::Scalar(_)),
        _ => false,
    };
    if !["x", "y", "z"].into_iter().all(scalar) {
        return refused(
            "header",
            "without vertex coordinates",
            "an element vertex with numbers x, y and z",
        );
    }
    let list = |name| {
        let property = header.elements.get("face").and_then(|e| e.properties.get(name));
        property.map(|p| &p.data_type)
    };
    match INDICES.into_iter().find_map(list) {
        Some(
            PropertyType::List(_, ScalarType::Float | ScalarType::Double) | PropertyType::Scalar(_),
        ) => refused("vertex_indices", "no list of integers", "a list of integers"),
        Some(_) => source.check_triangles(header.elements["face"].count as u64),
        None => refused("header", "without faces", "an element face with a list vertex_indices"),
    }
}

/// The names of the list of a face's corners.
const INDICES: [&str; 2] = ["vertex_indices", "vertex_index"];

/// The fewest bytes of a value; of a list, those of its length.
fn fewest_bytes(encoding: Encoding, kind: &PropertyType) -> u128 {
    let (PropertyType::Scalar(kind) | PropertyType::List(kind, _)) = kind;
    match (encoding, kind) {
        // A digit, and a space or the end of the line; the last line may have none.
        (Encoding::Ascii, _) => 2,
        (_, ScalarType::Char | ScalarType::UChar) => 1,
        (_, ScalarType::Short | ScalarType::UShort) => 2,
        (_, ScalarType::Int | ScalarType::UInt | ScalarType::Float) => 4,
        (_, ScalarType::Double) => 8,
    }
}

/// Coordinates of a vertex.
struct Vertex {
    place: [f64; 3],
}

impl PropertyAccess for Vertex {
    fn new() -> Self {
        Self { place: [f64::NAN; 3] }
    }

    fn set_property(&mut self, name: &str, value: Property) -> PropertyAccessResult {
        let Some(axis) = ["x", "y", "z"].iter().position(|axis| *axis == name) else {
            return PropertyAccessResult::Ignored;
        };
        self.place[axis] = match value {
            Property::Char(x) => x.into(),
            Property::UChar(x) => x.into(),
            Property::Short(x) => x.into(),
            Property::UShort(x) => x.into(),
            Property::Int(x) => x.into(),
            Property::UInt(x) => x.into(),
            Property::Float(x) => x.into(),
            Property::Double(x) => x,
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// Corners of a face.
struct Face {
    corners: Vec<usize>,
    /// A corner below 0.
    negative: Option<i32>,
}

impl Face {
    fn set<I: Copy + Into<i64>>(&mut self, indices: &[I]) {
        for &index in indices {
            match usize::try_from(index.into()) {
                Ok(index) => self.corners.push(index),
                // Only of signed types, which have at most 32 bits.
                Err(_) => self.negative = i32::try_from(index.into()).ok(),
            }
        }
    }
}

impl PropertyAccess for Face {
    fn new() -> Self {
        Self { corners: Vec::new(), negative: None }
    }

    fn set_property(&mut self, name: &str, value: Property) -> PropertyAccessResult {
        if !INDICES.contains(&name) || !self.corners.is_empty() {
            return PropertyAccessResult::Ignored;
        }
        match value {
            Property::ListChar(list) => self.set(&list),
            Property::ListUChar(list) => self.set(&list),
            Property::ListShort(list) => self.set(&list),
            Property::ListUShort(list) => self.set(&list),
            Property::ListInt(list) => self.set(&list),
            Property::ListUInt(list) => self.set(&list),
            _ => return PropertyAccessResult::UnsupportedType,
        }
        PropertyAccessResult::Set
    }
}

/// An element that is passed over.
struct Ignored;

impl PropertyAccess for Ignored {
    fn new() -> Self {
        Self
    }
}
