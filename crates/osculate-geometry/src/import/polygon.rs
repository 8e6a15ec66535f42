//! Polygons cut into triangles.

/// Adds the fan `(a, b, c)`, `(a, c, d)`, … of a polygon; whether it has at least three corners.
pub(super) fn push_fan(triangles: &mut Vec<[usize; 3]>, polygon: &[usize]) -> bool {
    if let [first, rest @ ..] = polygon {
        triangles.extend(rest.windows(2).map(|edge| [*first, edge[0], edge[1]]));
    }
    polygon.len() >= 3
}
