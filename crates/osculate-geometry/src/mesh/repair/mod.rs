//! From the triangles of a file to a mesh: repaired, or refused with numbers; nothing is changed silently.
//!
//! | found | done | option |
//! |---|---|---|
//! | corner without vertex, coordinate that is not finite | refused | |
//! | vertices at one place | welded | [`Repair::weld`] |
//! | triangles without an area | dropped | [`Repair::degenerate`] |
//! | triangles that repeat another | dropped | [`Repair::degenerate`] |
//! | vertices that no triangle uses | dropped | |
//! | neighbours that disagree about outside | the fewer of a piece are turned | [`Repair::winding`] |
//! | closed pieces that face inwards and are no cavity | turned | [`Repair::inside_out`] |
//! | edges of one triangle only (holes) | reported | [`Repair::open`] |
//! | edges of more than two triangles (fins, inner walls) | reported | [`Repair::non_manifold`] |
//! | pieces with one side (Möbius strips) | reported | [`Repair::non_manifold`] |
//! | several pieces | reported by name | |
//! | sizes of millimetres taken for metres | reported | [`Repair::largest_extent`] |
//!
//! Holes are not filled and fins are not cut: what stands there is not known. Such a mesh is a surface and no body, and
//! whatever needs its volume refuses it.

mod drop;
mod edges;
mod orient;
mod pieces;
mod report;
#[cfg(test)]
mod tests;
mod weld;

use super::TriangleMesh;
use crate::GeometryError;
use edges::Edges;
use nalgebra::Vector3;
use pieces::Pieces;

pub use report::{Finding, Piece, RepairReport};

/// The most vertices and triangles: their numbers have 32 bits while they are sorted.
const MOST: usize = 1 << 31;

/// What to do with a defect that can be repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fix {
    /// Repair it and report that.
    #[default]
    Repair,
    /// Refuse the mesh.
    Refuse,
}

/// What to do with a defect that cannot be repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// Keep the mesh and report the defect.
    #[default]
    Report,
    /// Refuse the mesh.
    Refuse,
}

/// What is repaired, what is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repair {
    /// Vertices no further apart than this `[m]` are one; 0 for the same place only, none for not at all.
    pub weld: Option<f64>,
    /// Triangles without an area, and such as repeat another.
    pub degenerate: Fix,
    /// Neighbours of opposite orientation.
    pub winding: Fix,
    /// Closed pieces that face inwards.
    pub inside_out: Fix,
    /// Edges of one triangle only.
    pub open: Accept,
    /// Edges of more than two triangles, and surfaces with one side.
    pub non_manifold: Accept,
    /// An extent `[m]` above which the unit is doubted; infinite where it is known.
    pub largest_extent: f64,
}

impl Default for Repair {
    /// Repairs what can be repaired, reports the rest, doubts the unit of what is larger than 10 m.
    fn default() -> Self {
        Self {
            weld: Some(0.0),
            degenerate: Fix::Repair,
            winding: Fix::Repair,
            inside_out: Fix::Repair,
            open: Accept::Report,
            non_manifold: Accept::Report,
            largest_extent: 10.0,
        }
    }
}

/// Triangles as a file gives them; nothing of it is checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Soup {
    /// Vertices `[m]`.
    pub vertices: Vec<Vector3<f64>>,
    /// Vertex indices of the triangles.
    pub triangles: Vec<[usize; 3]>,
    /// Names of runs of triangles, in the order of their first triangles.
    pub parts: Vec<Part>,
}

/// A named run of triangles, up to the first of the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name in the file; empty where it has none.
    pub name: String,
    /// Its first triangle.
    pub first: usize,
}

impl Soup {
    /// The mesh, and what was found and changed on the way.
    ///
    /// # Errors
    /// Where there is no triangle, a corner has no vertex, a coordinate is not finite, every triangle is degenerate, or
    /// a defect is to be refused.
    pub fn repaired(self, repair: &Repair) -> Result<(TriangleMesh, RepairReport), GeometryError> {
        self.check()?;
        let mut report = RepairReport::default();
        let Self { vertices, mut triangles, parts } = self;
        if let Some(distance) = repair.weld {
            let welded = weld::weld(&vertices, &mut triangles, distance)?;
            if welded > 0 {
                report.findings.push(Finding::Welded { vertices: welded, distance });
            }
        }
        let kept = drop::degenerate(&vertices, &mut triangles, repair.degenerate, &mut report)?;
        let kept = drop::repeated(&mut triangles, kept, repair.degenerate, &mut report)?;
        let vertices = drop::unreferenced(vertices, &mut triangles, &mut report);
        orient_and_report(&vertices, &mut triangles, repair, &mut report)?;
        report.name_pieces(&parts, &kept);
        report.doubt_unit(&vertices, repair.largest_extent);
        Ok((TriangleMesh::new(vertices, triangles)?, report))
    }

    /// Indices of all triangles, coordinates of all vertices that they use.
    fn check(&self) -> Result<(), GeometryError> {
        let (vertices, triangles) = (self.vertices.len(), self.triangles.len());
        if vertices == 0 || triangles == 0 {
            return Err(GeometryError::EmptyMesh { vertices, triangles });
        }
        for (quantity, count) in [
            ("number of vertices of a mesh", vertices),
            ("number of triangles of a mesh", triangles),
        ] {
            if count > MOST {
                let (found, allowed) = (count as f64, "at most 2147483648");
                return Err(GeometryError::Quantity { quantity, found, allowed });
            }
        }
        for (triangle, corners) in self.triangles.iter().enumerate() {
            for &index in corners {
                let Some(vertex) = self.vertices.get(index) else {
                    return Err(GeometryError::IndexOutOfRange { triangle, index, vertices });
                };
                if vertex.iter().any(|x| !x.is_finite()) {
                    let found = (*vertex).into();
                    return Err(GeometryError::NonFiniteVertex { vertex: index, found });
                }
            }
        }
        Ok(())
    }
}

/// Holes, fins and pieces; turns what faces the wrong way.
fn orient_and_report(
    vertices: &[Vector3<f64>],
    triangles: &mut [[usize; 3]],
    repair: &Repair,
    report: &mut RepairReport,
) -> Result<(), GeometryError> {
    let edges = Edges::of(triangles);
    let middle = |(a, b): (usize, usize)| ((vertices[a] + vertices[b]) * 0.5).into();
    let boundary = edges.defects(|n| n == 1);
    if let Some((count, first, _)) = boundary {
        let found = Finding::Open { edges: count, at: middle(first) };
        report.found(found, repair.open == Accept::Refuse)?;
    }
    let refuse = repair.non_manifold == Accept::Refuse;
    if let Some((count, first, most)) = edges.defects(|n| n > 2) {
        let found = Finding::NonManifold { edges: count, most, at: middle(first) };
        report.found(found, refuse)?;
    }
    let pieces = Pieces::of(triangles, &edges);
    if let Some((count, triangle)) = pieces.one_sided() {
        let at = vertices[triangles[triangle][0]].into();
        report.found(Finding::OneSided { pieces: count, at }, refuse)?;
    }
    let (turned, affected) = pieces.turned();
    if turned > 0 {
        let found = Finding::Winding { triangles: turned, pieces: affected };
        report.found(found, repair.winding == Fix::Refuse)?;
        pieces.turn(triangles);
    }
    let outcome = orient::outwards(vertices, triangles, &pieces);
    if outcome.pieces > 0 {
        let found = Finding::InsideOut { pieces: outcome.pieces, triangles: outcome.triangles };
        report.found(found, repair.inside_out == Fix::Refuse)?;
    }
    if outcome.unjudged > 0 {
        report.findings.push(Finding::Unjudged { pieces: outcome.unjudged });
    }
    report.pieces = pieces.list(vertices, triangles);
    Ok(())
}
