//! `osculate sdf`.

mod interpolants;

use crate::{CliError, Report, files};
use clap::ValueEnum;
use nalgebra::Vector3;
use osculate_geometry::distance::MeshDistance;
use osculate_geometry::grid::{GridParams, GridSdf, Interpolation, ResolutionMode};
use osculate_geometry::import::{ImportOptions, read_mesh};
use osculate_plot::{Axis, Slice, SliceFigure};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Random points at which the grid is compared with exact distances.
const CHECKS: usize = 20_000;
/// Points along the longer side of a drawn plane.
const DRAWN: usize = 160;

/// Build a signed distance grid from a mesh, say how good it is, and draw it.
///
/// The grid holds exact distances at its nodes; between them it is trilinear, or tricubic. Its error is measured against
/// the exact distance at random points: near the surface (within one cell) and in the whole grid. A table compares the two
/// interpolants near the surface: error of value and gradient, jumps of the gradient from cell to cell, time of a query.
/// With --out, writes
///
///   NAME.grid         the grid, to be used by scenes: collider = { sdf = { file = "NAME.grid" } }
///   NAME_slices.png   three planes through the middle, with the zero level (and .svg)
///   NAME_sdf.json     the report
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub struct Args {
    /// Mesh: .obj, .stl, .ply, .gltf or .glb, in metres (else see --scale)
    pub mesh: PathBuf,
    /// Folder to write grid, figure and report to
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What one unit of the mesh file is (m): 0.001 for millimetres
    #[arg(long, value_name = "METRES", default_value_t = 1.0)]
    pub scale: f64,
    /// Length that cells are measured by
    #[arg(long, value_enum, default_value = "mean-edge")]
    pub mode: Mode,
    /// Cell size by that length along x, y, z; with explicit in metres. One number for all axes, or three: X,Y,Z
    #[arg(long, value_name = "DELTA", value_delimiter = ',', default_values_t = [0.25])]
    pub delta: Vec<f64>,
    /// Fewest cells along x, y, z. One number for all axes, or three: X,Y,Z
    #[arg(long, value_name = "CELLS", value_delimiter = ',', default_values_t = [6])]
    pub min_cells: Vec<usize>,
    /// What is measured and drawn; the file holds the nodes, and a scene says what is between them
    #[arg(long, value_enum, default_value = "trilinear")]
    pub interpolation: Between,
    /// How far the grid extends beyond the mesh (m)
    #[arg(long, value_name = "METRES", default_value_t = 0.005)]
    pub padding: f64,
}

const EXAMPLES: &str = "\
Examples:
  osculate sdf cup.stl
  osculate sdf cup.stl --out grids --delta 0.5
  osculate sdf cup.stl --out grids --mode explicit --delta 0.002,0.002,0.001
  osculate sdf part_in_millimetres.ply --scale 0.001
  osculate sdf cup.stl --mode largest-axis --delta 0.0078125 --json";

/// Names of the resolution modes.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[expect(missing_docs, reason = "the modes of the grid, by name")]
pub enum Mode {
    LargestAxis,
    SmallestAxis,
    MeanAxis,
    LargestEdge,
    SmallestEdge,
    MeanEdge,
    Explicit,
}

/// Names of the interpolants.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[expect(missing_docs, reason = "the interpolants of the grid, by name")]
pub enum Between {
    Trilinear,
    Tricubic,
}

impl From<Between> for Interpolation {
    fn from(between: Between) -> Self {
        match between {
            Between::Trilinear => Self::Trilinear,
            Between::Tricubic => Self::Tricubic,
        }
    }
}

impl From<Mode> for ResolutionMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::LargestAxis => Self::LargestAxis,
            Mode::SmallestAxis => Self::SmallestAxis,
            Mode::MeanAxis => Self::MeanAxis,
            Mode::LargestEdge => Self::LargestEdge,
            Mode::SmallestEdge => Self::SmallestEdge,
            Mode::MeanEdge => Self::MeanEdge,
            Mode::Explicit => Self::Explicit,
        }
    }
}

/// One number for all axes, or three.
fn axes<T: Copy + std::fmt::Debug>(field: &'static str, list: &[T]) -> Result<[T; 3], CliError> {
    match *list {
        [all] => Ok([all; 3]),
        [x, y, z] => Ok([x, y, z]),
        _ => {
            let found = format!("{list:?}");
            Err(CliError::Value { field, found, allowed: "one number, or three: X,Y,Z" })
        }
    }
}

/// Runs it.
///
/// # Errors
/// Where the mesh cannot be read, is not closed, or a file cannot be written.
pub fn run(args: &Args) -> Result<Report, CliError> {
    let params = GridParams {
        mode: args.mode.into(),
        delta: axes("--delta", &args.delta)?,
        min_cells: axes("--min-cells", &args.min_cells)?,
        padding: args.padding,
    };
    let import = ImportOptions { scale: args.scale, ..ImportOptions::default() };
    let (mesh, repairs) = read_mesh(&args.mesh, &import)?;
    let repairs: Vec<String> = repairs.lines().collect();
    params.extent(&mesh)?;
    let exact = MeshDistance::new(&mesh)?;
    let begin = Instant::now();
    let grid = GridSdf::of_distance(&exact, &params)?.interpolated(args.interpolation.into());
    let seconds = begin.elapsed().as_secs_f64();
    let points = points(&exact, &grid);
    let error = points.each_ref().map(|p| Errors::of(&exact, &grid, p));
    let (both, table) = interpolants::compare(&exact, &grid, &points[0]);
    let (cells, h, bounds) = (grid.cells(), grid.spacing(), grid.bounds());
    let mut json = json!({
        "mesh": args.mesh,
        "scale_m": args.scale,
        "triangles": exact.mesh().triangles().len(),
        "resolution_mode": params.mode.name(),
        "cells": cells,
        "spacing_m": <[f64; 3]>::from(*h),
        "lower_m": <[f64; 3]>::from(bounds.lower),
        "upper_m": <[f64; 3]>::from(bounds.upper),
        "bytes": grid.bytes(),
        "seconds": seconds,
        "interpolation": grid.interpolation().name(),
        "interpolants": both,
        "error_near_the_surface": error[0].json(),
        "error_in_the_grid": error[1].json(),
        "warnings": repairs,
    });
    let mut text = format!(
        "{} triangles, {} × {} × {} cells of {:.4} × {:.4} × {:.4} mm, {:.1} MB, built in {seconds:.2} s\n\
         error near the surface: {}\n\
         error in the grid:      {}\n\n{}",
        exact.mesh().triangles().len(),
        cells[0],
        cells[1],
        cells[2],
        h.x * 1e3,
        h.y * 1e3,
        h.z * 1e3,
        grid.bytes() as f64 * 1e-6,
        error[0].text(),
        error[1].text(),
        table.trim_end(),
    );
    for repair in &repairs {
        text.push_str(&format!("\nwarning: {repair}"));
    }
    if let Some(folder) = &args.out {
        let written = write(folder, &args.mesh, &grid, &mut json)?;
        text.push_str(&format!("\nwritten: {}", written.join(", ")));
    }
    Ok(Report { text, json, agrees: true })
}

/// Errors at some points (m).
struct Errors {
    largest: f64,
    rms: f64,
    points: usize,
}

impl Errors {
    fn of(exact: &MeshDistance, grid: &GridSdf, points: &[Vector3<f64>]) -> Self {
        let errors = points.iter().map(|x| (grid.phi(x) - exact.phi(x)).abs());
        let (largest, square) = errors.fold((0.0_f64, 0.0), |(m, s), e| (m.max(e), s + e * e));
        let rms = (square / points.len().max(1) as f64).sqrt();
        Self { largest, rms, points: points.len() }
    }

    fn json(&self) -> Value {
        json!({ "largest_m": self.largest, "rms_m": self.rms, "points": self.points })
    }

    fn text(&self) -> String {
        let (largest, rms) = (self.largest * 1e3, self.rms * 1e3);
        format!("at most {largest:.3e} mm, {rms:.3e} mm RMS at {} points", self.points)
    }
}

/// Points (m) near the surface, and in the whole grid: the same every time.
fn points(exact: &MeshDistance, grid: &GridSdf) -> [Vec<Vector3<f64>>; 2] {
    let mut random = StdRng::seed_from_u64(1);
    let mut unit = || random.random::<f64>();
    let mesh = exact.mesh();
    let count = mesh.triangles().len();
    let reach = grid.spacing().max();
    let near: Vec<_> = (0..CHECKS)
        .map(|_| {
            let triangle = ((unit() * count as f64) as usize).min(count - 1);
            let [a, b, c] = mesh.corners(triangle);
            let (u, v) = (unit(), unit());
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let surface = a + (b - a) * u + (c - a) * v;
            surface + mesh.face_normal(triangle) * (reach * (2.0 * unit() - 1.0))
        })
        .collect();
    let (lower, size) = (grid.bounds().lower, grid.bounds().size());
    let inside: Vec<_> = (0..CHECKS)
        .map(|_| lower + size.component_mul(&Vector3::new(unit(), unit(), unit())))
        .collect();
    [near, inside]
}

fn write(
    folder: &Path,
    mesh: &Path,
    grid: &GridSdf,
    json: &mut Value,
) -> Result<Vec<String>, CliError> {
    files::create_folder(folder)?;
    let name = mesh.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let path = |end: &str| folder.join(format!("{name}{end}"));
    let (file, report) = (path(".grid"), path("_sdf.json"));
    grid.save(&file)?;
    let figure = slices(&name, grid);
    let figures = [path("_slices.png"), path("_slices.svg")];
    for path in &figures {
        figure.save(path)?;
    }
    json["grid"] = json!(file);
    json["figures"] = json!(figures);
    files::write(&report, format!("{json:#}\n").as_bytes())?;
    let written = [&file, &figures[0], &figures[1], &report];
    Ok(written.iter().map(|p| p.display().to_string()).collect())
}

/// The planes through the middle of the grid.
fn slices(name: &str, grid: &GridSdf) -> SliceFigure {
    const NAMES: [&str; 3] = ["x", "y", "z"];
    let (lower, size) = (grid.bounds().lower, grid.bounds().size());
    let middle = lower + size * 0.5;
    let slice = |across: usize| {
        let [u, v] = [[1, 2], [0, 2], [0, 1]][across];
        let longest = size[u].max(size[v]);
        let points = [u, v].map(|i| ((DRAWN as f64 * size[i] / longest) as usize).max(2));
        let at =
            |axis: usize, k: usize, n: usize| lower[axis] + size[axis] * k as f64 / (n - 1) as f64;
        let value = |n: usize| {
            let mut x = middle;
            x[u] = at(u, n % points[0], points[0]);
            x[v] = at(v, n / points[0], points[1]);
            grid.phi(&x) * 1e3
        };
        Slice {
            name: format!("{} = {:.1} mm", NAMES[across], middle[across] * 1e3),
            x: Axis::linear(NAMES[u], "mm"),
            y: Axis::linear(NAMES[v], "mm"),
            ends: [u, v].map(|i| [lower[i] * 1e3, (lower[i] + size[i]) * 1e3]),
            points,
            values: (0..points[0] * points[1]).map(value).collect(),
        }
    };
    SliceFigure {
        title: format!("Signed distance of {name}"),
        slices: vec![slice(2), slice(1), slice(0)],
        label: "signed distance".into(),
        unit: "mm".into(),
    }
}
