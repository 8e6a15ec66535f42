//! Closed pieces turned outwards.
//!
//! A piece that faces inwards is inside out, unless it is the wall of a cavity: then another piece is around it.
//! Around means that the winding number of that piece about one of its vertices is odd,
//!
//! ```text
//! w = Σ Ω/4π,   tan(Ω/2) = a·(b×c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|)
//! ```
//!
//! over the triangles with corners `a, b, c` seen from the vertex. Solid angle: van Oosterom & Strackee 1983,
//! <https://doi.org/10.1109/TBME.1983.325207>.

use super::pieces::{Pieces, volume};
use nalgebra::Vector3;

/// The most closed pieces of which each is judged by itself; every one is compared with every other.
const MOST_JUDGED: usize = 1000;

/// The most triangles seen from vertices while cavities are looked for.
const MOST_SEEN: usize = 200_000_000;

/// What was turned.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) pieces: usize,
    pub(super) triangles: usize,
    /// Closed pieces that face inwards and of which it is not known whether they are cavities.
    pub(super) unjudged: usize,
}

/// A closed piece.
struct Body {
    piece: usize,
    volume: f64,
    lower: Vector3<f64>,
    upper: Vector3<f64>,
}

/// Turns closed pieces that face inwards, all together if their volumes add up to less than nothing, then one by one.
pub(super) fn outwards(
    vertices: &[Vector3<f64>],
    triangles: &mut [[usize; 3]],
    pieces: &Pieces,
) -> Outcome {
    let body = |i: usize| body(vertices, triangles, pieces, i);
    let bodies: Vec<Body> = (0..pieces.len()).filter(|&i| pieces.is_body(i)).map(body).collect();
    // Together first: a hollow body that is inside out keeps its cavity so.
    let all = bodies.iter().map(|b| b.volume).sum::<f64>() < 0.0;
    let inwards = |b: &&Body| (b.volume < 0.0) != all;
    let judged = bodies.len() <= MOST_JUDGED;
    let (mut outcome, mut seen) = (Outcome::default(), 0);
    let mut flip = vec![all; bodies.len()];
    for (i, body) in bodies.iter().enumerate().filter(|(_, b)| inwards(b)) {
        if !judged || seen > MOST_SEEN {
            outcome.unjudged += 1;
            continue;
        }
        let corner = vertices[triangles[pieces.piece(body.piece)[0]][0]];
        let around = bodies.iter().filter(|other| {
            let candidate = other.piece != body.piece && encloses(other, body);
            let piece = pieces.piece(other.piece);
            seen += if candidate { piece.len() } else { 0 };
            candidate && winding(vertices, triangles, piece, &corner).rem_euclid(2) == 1
        });
        if around.count() == 0 {
            flip[i] = !all;
        }
    }
    for (body, _) in bodies.iter().zip(&flip).filter(|(_, flip)| **flip) {
        outcome.pieces += 1;
        outcome.triangles += pieces.piece(body.piece).len();
        for &t in pieces.piece(body.piece) {
            triangles[t].swap(1, 2);
        }
    }
    outcome
}

fn body(
    vertices: &[Vector3<f64>],
    triangles: &[[usize; 3]],
    pieces: &Pieces,
    piece: usize,
) -> Body {
    let list = pieces.piece(piece);
    let first = vertices[triangles[list[0]][0]];
    let corners = list.iter().flat_map(|&t| triangles[t]).map(|i| vertices[i]);
    let (lower, upper) =
        corners.fold((first, first), |(lower, upper), x| (lower.inf(&x), upper.sup(&x)));
    Body { piece, volume: volume(vertices, triangles, list), lower, upper }
}

fn encloses(outer: &Body, inner: &Body) -> bool {
    (0..3).all(|i| outer.lower[i] <= inner.lower[i] && inner.upper[i] <= outer.upper[i])
}

/// Winding number of closed triangles about a point.
fn winding(
    vertices: &[Vector3<f64>],
    triangles: &[[usize; 3]],
    piece: &[usize],
    point: &Vector3<f64>,
) -> i64 {
    let angle: f64 = piece
        .iter()
        .map(|&t| {
            let [a, b, c] = triangles[t].map(|i| vertices[i] - point);
            let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
            let beside = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
            2.0 * a.dot(&b.cross(&c)).atan2(beside)
        })
        .sum();
    (angle / (4.0 * std::f64::consts::PI)).round() as i64
}
