//! Vertices at one place made one.

use crate::GeometryError;
use nalgebra::Vector3;
use std::collections::HashMap;

/// Lets triangles use the first of all vertices within `distance` `[m]` of each other; gives how many vertices that
/// frees.
///
/// Only vertices that triangles use are looked at, in the order of their numbers: one within the distance of a vertex
/// that was kept becomes that, of several kept ones the nearest.
pub(super) fn weld(
    vertices: &[Vector3<f64>],
    triangles: &mut [[usize; 3]],
    distance: f64,
) -> Result<usize, GeometryError> {
    if !(distance >= 0.0 && distance.is_finite()) {
        return Err(GeometryError::Quantity {
            quantity: "distance within which vertices are welded",
            found: distance,
            allowed: ">= 0 and finite",
        });
    }
    let mut used = vec![false; vertices.len()];
    triangles.iter().flatten().for_each(|&i| used[i] = true);
    let mut kept = Kept::new(vertices, distance);
    let mut numbers: Vec<usize> = (0..vertices.len()).collect();
    let mut welded = 0;
    for i in (0..vertices.len()).filter(|&i| used[i]) {
        numbers[i] = kept.number(i);
        welded += usize::from(numbers[i] != i);
    }
    triangles.iter_mut().flatten().for_each(|i| *i = numbers[*i]);
    Ok(welded)
}

/// Kept vertices by the cell they lie in: cells as wide as the distance, or single places for distance 0.
struct Kept<'a> {
    vertices: &'a [Vector3<f64>],
    distance: f64,
    cells: HashMap<[i64; 3], Vec<usize>>,
}

impl<'a> Kept<'a> {
    fn new(vertices: &'a [Vector3<f64>], distance: f64) -> Self {
        Self { vertices, distance, cells: HashMap::new() }
    }

    /// The kept vertex that vertex `i` becomes; itself where there is none.
    fn number(&mut self, i: usize) -> usize {
        let cell = self.cell(i);
        let found = if self.distance > 0.0 { self.nearest(i, cell) } else { self.same(cell) };
        found.unwrap_or_else(|| {
            self.cells.entry(cell).or_default().push(i);
            i
        })
    }

    fn cell(&self, i: usize) -> [i64; 3] {
        let place: [f64; 3] = self.vertices[i].into();
        if self.distance > 0.0 {
            // Saturates far away: a cell too many vertices share is slow, and right.
            place.map(|x| (x / self.distance).floor() as i64)
        } else {
            // −0 + 0 = 0: both zeros are one place.
            place.map(|x| (x + 0.0).to_bits() as i64)
        }
    }

    fn same(&self, cell: [i64; 3]) -> Option<usize> {
        self.cells.get(&cell).and_then(|kept| kept.first().copied())
    }

    fn nearest(&self, i: usize, cell: [i64; 3]) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for code in 0..27i64 {
            let offset = [code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1];
            let near = [0, 1, 2].map(|axis| cell[axis].saturating_add(offset[axis]));
            for &j in self.cells.get(&near).into_iter().flatten() {
                let apart = (self.vertices[i] - self.vertices[j]).norm();
                if apart <= self.distance && best.is_none_or(|b| (apart, j) < b) {
                    best = Some((apart, j));
                }
            }
        }
        best.map(|(_, j)| j)
    }
}
