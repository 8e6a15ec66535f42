//! Triangles and vertices that add nothing.

use super::{Finding, Fix, RepairReport};
use crate::GeometryError;
use crate::mesh::{TriangleMesh, smallest_area};
use nalgebra::Vector3;

/// Drops triangles without an area; gives the former numbers of those that stay.
pub(super) fn degenerate(
    vertices: &[Vector3<f64>],
    triangles: &mut Vec<[usize; 3]>,
    fix: Fix,
    report: &mut RepairReport,
) -> Result<Vec<usize>, GeometryError> {
    let has_area = |corners: &[usize; 3]| {
        let [a, b, c] = corners.map(|i| vertices[i]);
        let area = (b - a).cross(&(c - a)).norm() * 0.5;
        area > smallest_area(&[a, b, c]) && area.is_finite()
    };
    let kept: Vec<usize> = (0..triangles.len()).filter(|&i| has_area(&triangles[i])).collect();
    let dropped = triangles.len() - kept.len();
    if dropped == 0 {
        return Ok(kept);
    }
    let first = kept.iter().enumerate().position(|(i, &k)| i != k).unwrap_or(kept.len());
    if kept.is_empty() {
        // Says which, and how small.
        TriangleMesh::new(vertices.to_vec(), vec![triangles[first]])?;
    }
    let at = vertices[triangles[first][0]].into();
    report.found(Finding::Degenerate { triangles: dropped, first, at }, fix == Fix::Refuse)?;
    *triangles = kept.iter().map(|&i| triangles[i]).collect();
    Ok(kept)
}

/// Drops triangles that have the corners of an earlier one in the same order; `numbers` are the former numbers of all
/// triangles, and those of the ones that stay are given back.
pub(super) fn repeated(
    triangles: &mut Vec<[usize; 3]>,
    numbers: Vec<usize>,
    fix: Fix,
    report: &mut RepairReport,
) -> Result<Vec<usize>, GeometryError> {
    // From its smallest corner on, a triangle is the same wherever its list starts.
    let canonical = |[a, b, c]: [usize; 3]| match a.min(b).min(c) {
        least if least == a => [a, b, c],
        least if least == b => [b, c, a],
        _ => [c, a, b],
    };
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_unstable_by_key(|&i| (canonical(triangles[i]), i));
    let mut stays = vec![true; triangles.len()];
    for pair in order.windows(2) {
        stays[pair[1]] = canonical(triangles[pair[0]]) != canonical(triangles[pair[1]]);
    }
    let Some(first) = stays.iter().position(|stays| !stays) else { return Ok(numbers) };
    let dropped = stays.iter().filter(|stays| !**stays).count();
    let found = Finding::Repeated { triangles: dropped, first: numbers[first] };
    report.found(found, fix == Fix::Refuse)?;
    let kept: Vec<usize> = (0..triangles.len()).filter(|&i| stays[i]).collect();
    *triangles = kept.iter().map(|&i| triangles[i]).collect();
    Ok(kept.into_iter().map(|i| numbers[i]).collect())
}

/// Vertices that a triangle uses, in their order.
pub(super) fn unreferenced(
    vertices: Vec<Vector3<f64>>,
    triangles: &mut [[usize; 3]],
    report: &mut RepairReport,
) -> Vec<Vector3<f64>> {
    let mut used = vec![false; vertices.len()];
    triangles.iter().flatten().for_each(|&i| used[i] = true);
    let dropped = used.iter().filter(|u| !**u).count();
    // Those that were welded are not used either, and already counted.
    let unreferenced = dropped - report.welded().min(dropped);
    if unreferenced > 0 {
        report.findings.push(Finding::Unreferenced { vertices: unreferenced });
    }
    let mut numbers = vec![0; vertices.len()];
    let mut kept = Vec::with_capacity(vertices.len() - dropped);
    for (i, vertex) in vertices.into_iter().enumerate().filter(|(i, _)| used[*i]) {
        numbers[i] = kept.len();
        kept.push(vertex);
    }
    triangles.iter_mut().flatten().for_each(|i| *i = numbers[*i]);
    kept
}
