//! What was found, and what was done about it.

use super::Part;
use crate::GeometryError;
use nalgebra::Vector3;
use std::fmt;

/// A property of the triangles of a file that the caller should know of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// Vertices at the place of another.
    Welded {
        /// How many became another one.
        vertices: usize,
        /// How far apart they may be `[m]`.
        distance: f64,
    },
    /// Triangles without an area.
    Degenerate {
        /// How many.
        triangles: usize,
        /// Index of the first in the file.
        first: usize,
        /// Its first corner `[m]`.
        at: [f64; 3],
    },
    /// Triangles that have the corners of another in the same order.
    Repeated {
        /// How many.
        triangles: usize,
        /// Index of the first in the file.
        first: usize,
    },
    /// Vertices that no triangle with an area uses.
    Unreferenced {
        /// How many.
        vertices: usize,
    },
    /// Triangles whose neighbours disagree with them about outside.
    Winding {
        /// How many, the fewer of each piece.
        triangles: usize,
        /// Of how many pieces.
        pieces: usize,
    },
    /// Closed pieces that face inwards and are no cavities.
    InsideOut {
        /// How many.
        pieces: usize,
        /// Their triangles.
        triangles: usize,
    },
    /// Closed pieces that face inwards, too many to look for what is around each.
    Unjudged {
        /// How many.
        pieces: usize,
    },
    /// Edges of one triangle only.
    Open {
        /// How many.
        edges: usize,
        /// Middle of the first `[m]`.
        at: [f64; 3],
    },
    /// Edges of more than two triangles.
    NonManifold {
        /// How many.
        edges: usize,
        /// The most triangles at one of them.
        most: usize,
        /// Middle of the first `[m]`.
        at: [f64; 3],
    },
    /// Pieces with one side only: their triangles cannot agree about outside.
    OneSided {
        /// How many.
        pieces: usize,
        /// A vertex of the first `[m]`.
        at: [f64; 3],
    },
    /// More than one piece.
    Pieces {
        /// How many.
        pieces: usize,
        /// Names of the first few.
        names: Vec<String>,
    },
    /// A size that is likelier in millimetres.
    Large {
        /// The largest extent `[m]`.
        extent: f64,
        /// The largest that is not doubted `[m]`.
        largest: f64,
    },
}

impl Finding {
    /// What was done about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Welded { .. } => "welded",
            Self::Degenerate { .. } | Self::Repeated { .. } | Self::Unreferenced { .. } => {
                "dropped"
            }
            Self::Winding { .. } => "turned to agree with most of their piece",
            Self::InsideOut { .. } => "turned outwards",
            Self::Unjudged { .. } => "kept as they are",
            Self::Open { .. } | Self::NonManifold { .. } | Self::OneSided { .. } => {
                "kept: a surface without a volume"
            }
            Self::Pieces { .. } => "kept as one mesh",
            Self::Large { .. } => "kept: scale it if that is its unit",
        }
    }

    /// Whether the mesh differs from the file because of it.
    pub fn is_change(&self) -> bool {
        match self {
            Self::Welded { .. }
            | Self::Degenerate { .. }
            | Self::Repeated { .. }
            | Self::Unreferenced { .. }
            | Self::Winding { .. }
            | Self::InsideOut { .. } => true,
            Self::Unjudged { .. }
            | Self::Open { .. }
            | Self::NonManifold { .. }
            | Self::OneSided { .. }
            | Self::Pieces { .. }
            | Self::Large { .. } => false,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Welded { vertices, distance } => {
                write!(f, "{vertices} vertices within {distance} m of another")
            }
            Self::Degenerate { triangles, first, at } => {
                write!(f, "{triangles} triangles without an area, the first {first} at {at:?} m")
            }
            Self::Repeated { triangles, first } => {
                write!(f, "{triangles} triangles that repeat an earlier one, the first {first}")
            }
            Self::Unreferenced { vertices } => {
                write!(f, "{vertices} vertices that no triangle uses")
            }
            Self::Winding { triangles, pieces } => write!(
                f,
                "{triangles} triangles of {pieces} pieces that disagree with their neighbours about outside"
            ),
            Self::InsideOut { pieces, triangles } => {
                write!(f, "{pieces} closed pieces of {triangles} triangles that face inwards")
            }
            Self::Unjudged { pieces } => {
                write!(
                    f,
                    "{pieces} closed pieces that face inwards, perhaps cavities, too many to tell"
                )
            }
            Self::Open { edges, at } => {
                write!(
                    f,
                    "{edges} edges of one triangle only, the first at {at:?} m: the mesh is open"
                )
            }
            Self::NonManifold { edges, most, at } => {
                write!(
                    f,
                    "{edges} edges of up to {most} triangles instead of two, the first at {at:?} m"
                )
            }
            Self::OneSided { pieces, at } => {
                write!(f, "{pieces} pieces with one side only, the first at {at:?} m")
            }
            Self::Pieces { pieces, names } => {
                let more = if names.len() < *pieces { ", …" } else { "" };
                write!(f, "{pieces} pieces: {}{more}", names.join(", "))
            }
            Self::Large { extent, largest } => write!(
                f,
                "an extent of {extent:.6} m, more than {largest} m: the format knows no unit, and many such files are \
                 in millimetres, which would make it {:.6} m",
                extent * 1e-3
            ),
        }
    }
}

/// A connected piece of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Name of the object, solid or node of the file that its first triangle is from; `piece 3` where there is none.
    pub name: String,
    /// The smallest index of its triangles in the mesh.
    pub first: usize,
    /// How many triangles it has.
    pub triangles: usize,
    /// Its volume `[m³]`, negative for a cavity; none where it is not closed or one-sided.
    pub volume: Option<f64>,
}

/// How many pieces are named in a finding.
const NAMED: usize = 5;

/// What was found in a file, and its pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairReport {
    /// What was found, in the order in which it was looked for.
    pub findings: Vec<Finding>,
    /// The pieces of the mesh, in the order of their first triangles.
    pub pieces: Vec<Piece>,
}

impl RepairReport {
    /// Whether the mesh is what the file says, unchanged.
    pub fn is_unchanged(&self) -> bool {
        !self.findings.iter().any(Finding::is_change)
    }

    /// One line for each finding: what was found, and what was done about it.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.findings.iter().map(|finding| format!("{finding}: {}", finding.remedy()))
    }

    pub(super) fn found(&mut self, finding: Finding, refuse: bool) -> Result<(), GeometryError> {
        if refuse {
            return Err(GeometryError::MeshDefect { finding: Box::new(finding) });
        }
        self.findings.push(finding);
        Ok(())
    }

    pub(super) fn welded(&self) -> usize {
        let count = |finding: &Finding| match finding {
            Finding::Welded { vertices, .. } => *vertices,
            _ => 0,
        };
        self.findings.iter().map(count).sum()
    }

    /// Names pieces after the parts of the file; `kept` are the former numbers of the triangles.
    pub(super) fn name_pieces(&mut self, parts: &[Part], kept: &[usize]) {
        for (i, piece) in self.pieces.iter_mut().enumerate() {
            let former = kept[piece.first];
            let part = parts.partition_point(|part| part.first <= former);
            let name = part.checked_sub(1).map(|p| parts[p].name.as_str()).unwrap_or_default();
            piece.name = if name.is_empty() { format!("piece {i}") } else { name.to_string() };
        }
        if self.pieces.len() > 1 {
            let names = self.pieces.iter().take(NAMED).map(|piece| piece.name.clone()).collect();
            self.findings.push(Finding::Pieces { pieces: self.pieces.len(), names });
        }
    }

    pub(super) fn doubt_unit(&mut self, vertices: &[Vector3<f64>], largest: f64) {
        let Some(&first) = vertices.first() else { return };
        let bounds = (first, first);
        let (lower, upper) = vertices.iter().fold(bounds, |(l, u), x| (l.inf(x), u.sup(x)));
        let extent = (upper - lower).max();
        if extent > largest {
            self.findings.push(Finding::Large { extent, largest });
        }
    }
}
