//! Family f3: distances of colliders, and the grids they are made of.

use super::case::{MeshCase, Shape, read};
use super::compare::{self, Worst};
use super::report::{CaseReport, Verdict};
use crate::CliError;
use nalgebra::Vector3;
use osculate_geometry::aabb::Aabb;
use osculate_geometry::collider::Collider;
use osculate_geometry::distance::MeshDistance;
use osculate_geometry::grid::{GridParams, GridSdf, ResolutionMode};
use osculate_geometry::mesh::TriangleMesh;
use osculate_math::se3::Pose;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// What `worst` is.
pub(super) const MEASURE: &str = "distance deviation (m)";
/// Largest deviation of a distance, of a node value and of a corner of a grid (m).
pub(super) const TOLERANCE: f64 = 1e-10;

/// Padding of a grid that an actor builds by default: its threshold `δ` (m).
const ACTOR_PADDING: f64 = 0.001;

/// What is recorded.
#[derive(Debug, Deserialize)]
struct Record {
    mesh: Option<MeshCase>,
    /// Of a mesh: its own frame is the world.
    points: Option<Vec<[f64; 3]>>,
    exact_distance_numpy: Option<Vec<f64>>,
    fields: Vec<Recorded>,
}

#[derive(Debug, Deserialize)]
struct Recorded {
    collider: Option<String>,
    construction: Option<String>,
    #[serde(default)]
    params: Params,
    grid_lo: Option<[f64; 3]>,
    grid_hi: Option<[f64; 3]>,
    grid_nodes: Option<[usize; 3]>,
    grid_values_z_fastest: Option<Vec<f64>>,
    distance: Vec<f64>,
    shape: Option<Shape>,
    pos: Option<[f64; 3]>,
    quat: Option<[f64; 4]>,
    points: Option<Vec<[f64; 3]>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    mode: Option<String>,
    delta: Option<[f64; 3]>,
    min_res: Option<[usize; 3]>,
    padding: Option<f64>,
}

impl Recorded {
    fn params(&self) -> Result<GridParams, CliError> {
        let default = GridParams::default();
        let mode = match &self.params.mode {
            None => default.mode,
            Some(name) => {
                let word = name.to_lowercase().replace('_', "-");
                let known = ResolutionMode::ALL.into_iter().find(|m| m.name() == word);
                known.ok_or_else(|| CliError::Value {
                    field: "mode",
                    found: name.clone(),
                    allowed: "LARGEST_AXIS, …, MEAN_EDGE, EXPLICIT",
                })?
            }
        };
        let actor = self.construction.as_deref() == Some("actor");
        let padding = if actor { ACTOR_PADDING } else { default.padding };
        Ok(GridParams {
            mode,
            delta: self.params.delta.unwrap_or(default.delta),
            min_cells: self.params.min_res.unwrap_or(default.min_cells),
            padding: self.params.padding.unwrap_or(padding),
        })
    }

    fn name(&self) -> String {
        let kind = self.collider.as_deref().unwrap_or("analytic");
        match (&self.construction, serde_json::to_string(&self.params.mode)) {
            (Some(built), Ok(mode)) => format!("{kind} ({built}, mode {mode}, {:?})", self.params),
            _ => kind.into(),
        }
    }
}

/// What was compared of a case.
#[derive(Default)]
struct Found {
    distance: Worst,
    value: Worst,
    corner: Worst,
    /// Grids whose numbers of nodes differ.
    nodes: Vec<String>,
    grids: usize,
    points: usize,
}

pub(super) fn check(path: &Path) -> Result<CaseReport, CliError> {
    let record: Record = read(path)?;
    let mut found = Found::default();
    match &record.mesh {
        Some(mesh) => of_mesh(&record, mesh, &mut found)?,
        None => {
            for (i, field) in record.fields.iter().enumerate() {
                analytic(field, i, &mut found)?;
            }
        }
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(CaseReport {
        name,
        verdict: verdict(&found),
        worst: Some(found.distance.value.max(found.value.value).max(found.corner.value)),
        place: found.distance.place.clone(),
        details: json!({
            "grids": found.grids,
            "points": found.points,
            "distance": found.distance.value,
            "node_value": found.value.value,
            "corner": found.corner.value,
        }),
        notes: found.nodes,
    })
}

fn verdict(found: &Found) -> Verdict {
    let differs = |w: &Worst, what: &str| {
        w.exceeds(TOLERANCE).then(|| format!("{what} of {} differs by {:.1e} m", w.place, w.value))
    };
    let first = (found.nodes.first().cloned())
        .or_else(|| differs(&found.corner, "corner"))
        .or_else(|| differs(&found.value, "node value"))
        .or_else(|| differs(&found.distance, "distance"));
    first.map_or(Verdict::Passed, Verdict::Disagrees)
}

fn of_mesh(record: &Record, mesh: &MeshCase, found: &mut Found) -> Result<(), CliError> {
    let vertices: Vec<_> = mesh.vertices.iter().map(|&x| Vector3::from(x)).collect();
    let mesh = TriangleMesh::new(vertices, mesh.triangles.clone())?;
    let exact = Arc::new(MeshDistance::new(&mesh)?);
    let points = record.points.as_deref().unwrap_or_default();
    let by_mesh = Collider::mesh(Arc::clone(&exact));
    if let Some(numpy) = &record.exact_distance_numpy {
        distances(&by_mesh, points, numpy, "exact distance", found);
    }
    let bounds = Aabb::of_points(mesh.vertices()).unwrap_or(*exact.bounds());
    let (center, half) = ((bounds.lower + bounds.upper) * 0.5, bounds.size() * 0.5);
    for field in &record.fields {
        let collider = match field.collider.as_deref() {
            Some("sdf") => grid(&exact, field, found)?,
            Some("mesh") => by_mesh.clone(),
            Some("box") => Collider::cuboid(center, half)?,
            Some("sphere") => Collider::sphere(center, half.min())?,
            other => {
                return Err(CliError::Value {
                    field: "collider",
                    found: format!("{other:?}"),
                    allowed: "sdf, mesh, box, sphere",
                });
            }
        };
        distances(&collider, points, &field.distance, &field.name(), found);
    }
    Ok(())
}

/// Builds a grid and compares it with the recorded one.
fn grid(exact: &MeshDistance, field: &Recorded, found: &mut Found) -> Result<Collider, CliError> {
    let grid = GridSdf::of_distance(exact, &field.params()?)?;
    found.grids += 1;
    for (own, recorded) in
        [(grid.bounds().lower, field.grid_lo), (grid.bounds().upper, field.grid_hi)]
    {
        if let Some(recorded) = recorded {
            found.corner.see(compare::distance(&own, &recorded), || field.name());
        }
    }
    if let Some(nodes) = field.grid_nodes.filter(|n| *n != grid.nodes()) {
        let own = grid.nodes();
        found.nodes.push(format!("{} has {own:?} nodes, recorded {nodes:?}", field.name()));
    } else if let Some(values) = &field.grid_values_z_fastest {
        for (n, (own, recorded)) in grid.values().iter().zip(values).enumerate() {
            found.value.see((own - recorded).abs(), || format!("node {n} of {}", field.name()));
        }
    }
    Ok(Collider::grid(grid))
}

fn analytic(field: &Recorded, index: usize, found: &mut Found) -> Result<(), CliError> {
    let collider = match &field.shape {
        Some(Shape::Plane { plane }) => {
            Collider::half_space(Vector3::from(plane.normal), plane.distance)?
        }
        Some(Shape::Sphere { sphere }) => {
            Collider::sphere(Vector3::from(sphere.center), sphere.radius)?
        }
        _ => {
            let found = format!("{:?}", field.shape);
            return Err(CliError::Value { field: "shape", found, allowed: "plane, sphere" });
        }
    };
    let pose = Pose {
        position: Vector3::from(field.pos.unwrap_or_default()),
        rotation: compare::rotation(&field.quat.unwrap_or([0.0, 0.0, 0.0, 1.0])),
    };
    let world = field.points.as_deref().unwrap_or_default();
    let local: Vec<[f64; 3]> = world
        .iter()
        .map(|&x| (pose.rotation.transpose() * (Vector3::from(x) - pose.position)).into())
        .collect();
    distances(&collider, &local, &field.distance, &format!("analytic field {index}"), found);
    Ok(())
}

fn distances(
    collider: &Collider,
    points: &[[f64; 3]],
    recorded: &[f64],
    name: &str,
    found: &mut Found,
) {
    for (i, (&x, recorded)) in points.iter().zip(recorded).enumerate() {
        let deviation = (collider.phi(&Vector3::from(x)) - recorded).abs();
        found.distance.see(deviation, || format!("point {i} of {name}"));
    }
    found.points += points.len().min(recorded.len());
}
