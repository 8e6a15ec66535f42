//! Pieces of a surface, and whether the triangles of each agree about outside.

use super::edges::Edges;
use super::report::Piece;
use nalgebra::Vector3;

/// Triangles connected by edges that exactly two of them share.
pub(super) struct Pieces {
    /// Triangles, those of a piece together.
    order: Vec<usize>,
    /// Where each piece starts in `order`, and the end.
    starts: Vec<usize>,
    /// Of each triangle, whether it has to be turned to agree with most of its piece.
    turned: Vec<bool>,
    /// Of each piece, whether all edges are shared by two triangles.
    closed: Vec<bool>,
    /// Of each piece, whether its triangles can agree.
    two_sided: Vec<bool>,
}

/// The triangle across an edge, and whether both run along it the same way: then one of them has to be turned.
#[derive(Clone, Copy)]
struct Neighbour {
    triangle: u32,
    opposed: bool,
}

impl Pieces {
    pub(super) fn of(triangles: &[[usize; 3]], edges: &Edges) -> Self {
        let mut neighbours: Vec<[Option<Neighbour>; 3]> = vec![[None; 3]; triangles.len()];
        for sides in edges.iter() {
            if let &[a, b] = sides {
                let opposed = a.forward == b.forward;
                for (one, other) in [(a, b), (b, a)] {
                    let neighbour = Neighbour { triangle: other.triangle() as u32, opposed };
                    join(&mut neighbours[one.triangle()], neighbour);
                }
            }
        }
        let mut pieces = Self {
            order: Vec::with_capacity(triangles.len()),
            starts: vec![0],
            turned: vec![false; triangles.len()],
            closed: Vec::new(),
            two_sided: Vec::new(),
        };
        let mut seen = vec![false; triangles.len()];
        for first in 0..triangles.len() {
            if !seen[first] {
                pieces.walk(first, &neighbours, &mut seen);
            }
        }
        pieces
    }

    /// The piece of a triangle, breadth first.
    fn walk(&mut self, first: usize, neighbours: &[[Option<Neighbour>; 3]], seen: &mut [bool]) {
        let start = self.order.len();
        let (mut next, mut closed, mut two_sided) = (start, true, true);
        seen[first] = true;
        self.order.push(first);
        while let Some(&triangle) = self.order.get(next) {
            next += 1;
            for neighbour in &neighbours[triangle] {
                let Some(Neighbour { triangle: other, opposed }) = *neighbour else {
                    closed = false;
                    continue;
                };
                let other = other as usize;
                let turned = self.turned[triangle] ^ opposed;
                if seen[other] {
                    two_sided &= self.turned[other] == turned;
                } else {
                    seen[other] = true;
                    self.turned[other] = turned;
                    self.order.push(other);
                }
            }
        }
        let piece = &self.order[start..];
        let minority = piece.iter().filter(|&&t| self.turned[t]).count();
        for &t in piece {
            // The majority stays; where there are as many of both, the first triangle stays.
            self.turned[t] = two_sided && (self.turned[t] ^ (2 * minority > piece.len()));
        }
        self.starts.push(self.order.len());
        self.closed.push(closed);
        self.two_sided.push(two_sided);
    }

    pub(super) fn len(&self) -> usize {
        self.closed.len()
    }

    /// Triangles of a piece.
    pub(super) fn piece(&self, i: usize) -> &[usize] {
        &self.order[self.starts[i]..self.starts[i + 1]]
    }

    /// Whether a piece bounds a volume.
    pub(super) fn is_body(&self, i: usize) -> bool {
        self.closed[i] && self.two_sided[i]
    }

    /// How many pieces have one side only, and a triangle of the first.
    pub(super) fn one_sided(&self) -> Option<(usize, usize)> {
        let mut found = (0..self.len()).filter(|&i| !self.two_sided[i]);
        let first = found.next()?;
        Some((1 + found.count(), self.piece(first)[0]))
    }

    /// How many triangles have to be turned, of how many pieces.
    pub(super) fn turned(&self) -> (usize, usize) {
        let counts = (0..self.len()).map(|i| self.piece(i).iter().filter(|&&t| self.turned[t]));
        counts.map(Iterator::count).filter(|&n| n > 0).fold((0, 0), |(n, p), c| (n + c, p + 1))
    }

    pub(super) fn turn(&self, triangles: &mut [[usize; 3]]) {
        for (triangle, _) in triangles.iter_mut().zip(&self.turned).filter(|(_, turned)| **turned) {
            triangle.swap(1, 2);
        }
    }

    /// What is to be said of each piece; names come later.
    pub(super) fn list(&self, vertices: &[Vector3<f64>], triangles: &[[usize; 3]]) -> Vec<Piece> {
        let piece = |i: usize| Piece {
            name: String::new(),
            first: self.piece(i).iter().copied().min().unwrap_or_default(),
            triangles: self.piece(i).len(),
            volume: self.is_body(i).then(|| volume(vertices, triangles, self.piece(i))),
        };
        (0..self.len()).map(piece).collect()
    }
}

fn join(places: &mut [Option<Neighbour>; 3], neighbour: Neighbour) {
    if let Some(place) = places.iter_mut().find(|place| place.is_none()) {
        *place = Some(neighbour);
    }
}

/// Volume `[m³]` within closed triangles, negative where they face inwards.
pub(super) fn volume(vertices: &[Vector3<f64>], triangles: &[[usize; 3]], piece: &[usize]) -> f64 {
    // From a vertex of the piece: a small one far away keeps its digits.
    let Some(&first) = piece.first() else { return 0.0 };
    let origin = vertices[triangles[first][0]];
    piece
        .iter()
        .map(|&t| {
            let [a, b, c] = triangles[t].map(|i| vertices[i] - origin);
            a.dot(&b.cross(&c)) / 6.0
        })
        .sum()
}
