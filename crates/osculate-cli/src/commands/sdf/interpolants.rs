//! What the two interpolants of a grid are like near the surface.

use crate::table;
use nalgebra::Vector3;
use osculate_geometry::distance::MeshDistance;
use osculate_geometry::grid::{GridSdf, Interpolation};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

/// How far from the face of a cell its two sides are looked at, relative to the cell.
const ASIDE: f64 = 1e-7;

/// A root mean square and the largest.
struct Spread {
    rms: f64,
    largest: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut square, mut largest, mut count) = (0.0, 0.0_f64, 0);
        for x in values {
            (square, largest, count) = (square + x * x, largest.max(x), count + 1);
        }
        Self { rms: (square / f64::from(count.max(1))).sqrt(), largest }
    }

    fn json(&self) -> Value {
        json!({ "rms": self.rms, "largest": self.largest })
    }
}

/// One interpolant.
struct Measured {
    interpolation: Interpolation,
    /// `|Φ − Φ_exact|` (m).
    value: Spread,
    /// `‖G − G_exact‖` (–).
    gradient: Spread,
    /// `‖G⁺ − G⁻‖` across the nearest face of a cell along x, y or z in turn (–).
    jump: Spread,
    /// Time of a value with its gradient (ns).
    nanoseconds: f64,
}

impl Measured {
    fn new(exact: &MeshDistance, grid: &GridSdf, near: &[Vector3<f64>]) -> Self {
        let inside: Vec<_> =
            near.iter().filter(|x| grid.bounds().distance(x) == 0.0).copied().collect();
        let value = Spread::of(inside.iter().map(|x| (grid.phi(x) - exact.phi(x)).abs()));
        let off = |x: &Vector3<f64>| (grid.field(x).1 - exact.field(x).1).norm();
        let gradient = Spread::of(inside.iter().map(off));
        let jumps = inside.iter().enumerate().filter_map(|(i, x)| jump(grid, x, i % 3));
        Self {
            interpolation: grid.interpolation(),
            value,
            gradient,
            jump: Spread::of(jumps),
            nanoseconds: time(grid, &inside),
        }
    }

    fn json(&self) -> Value {
        json!({
            "value_m": self.value.json(),
            "gradient": self.gradient.json(),
            "jump_of_gradient": self.jump.json(),
            "query_ns": self.nanoseconds,
        })
    }

    fn row(&self) -> Vec<String> {
        let spread = |s: &Spread, unit: f64| {
            [format!("{:.1e}", s.rms * unit), format!("{:.1e}", s.largest * unit)]
        };
        let mut row = vec![self.interpolation.name().to_owned()];
        row.extend(spread(&self.value, 1e3));
        row.extend(spread(&self.gradient, 1.0));
        row.extend(spread(&self.jump, 1.0));
        row.push(format!("{:.0}", self.nanoseconds));
        row
    }
}

/// The jump of the gradient where the line through a point along an axis leaves its cell; none on the boundary of the grid.
fn jump(grid: &GridSdf, x: &Vector3<f64>, axis: usize) -> Option<f64> {
    let (lower, h) = (grid.bounds().lower[axis], grid.spacing()[axis]);
    let face = ((x[axis] - lower) / h).round();
    if face < 1.0 || face + 1.0 > grid.cells()[axis] as f64 {
        return None;
    }
    let side = |s: f64| {
        let mut at = *x;
        at[axis] = lower + (face + s * ASIDE) * h;
        grid.field(&at).1
    };
    Some((side(1.0) - side(-1.0)).norm())
}

/// Time of a value with its gradient (ns): the median over runs so short that few are interrupted by other work.
fn time(grid: &GridSdf, points: &[Vector3<f64>]) -> f64 {
    let run = |points: &[Vector3<f64>]| {
        let begin = Instant::now();
        let sum: f64 = points.iter().map(|x| grid.field(black_box(x)).0).sum();
        black_box(sum);
        begin.elapsed().as_secs_f64() * 1e9 / points.len() as f64
    };
    let mut times: Vec<f64> = points.chunks(100).map(run).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// Both interpolants at points (m) near the surface, for JSON and as a table.
pub(super) fn compare(
    exact: &MeshDistance,
    grid: &GridSdf,
    near: &[Vector3<f64>],
) -> (Value, String) {
    let measured = Interpolation::ALL
        .map(|interpolation| Measured::new(exact, &grid.clone().interpolated(interpolation), near));
    let header = [
        "near the surface",
        "error (mm) RMS",
        "largest",
        "gradient RMS",
        "largest",
        "its jumps RMS",
        "largest",
        "query (ns)",
    ];
    let mut rows = vec![header.map(String::from).to_vec()];
    rows.extend(measured.iter().map(Measured::row));
    let mut right = [true; 8];
    right[0] = false;
    let json = measured.iter().map(|m| (m.interpolation.name().to_owned(), m.json()));
    (Value::Object(json.collect()), table::render(&rows, &right))
}
