//! Geometry that is a parameter: a size, modes, vertices, node values of a grid.
//!
//! ```text
//! X = s (X⁰ + Σ (a_m − â_m) d_m)       vertices of the colliding surface, or its explicit sample points
//! D = s (D⁰ + Σ (a_m − â_m) D_m)       dimensions of the collider; the normal of a half-space stays
//! ```
//!
//! Points, weights and normals of samples on triangles follow from the vertices; weights of explicit samples are areas and grow
//! with `s²`. Mass properties do not change: they are parameters of their own.

use crate::{Body, BodyParameters, SceneError};
use nalgebra::Vector3;
use osculate_geometry::GeometryError;
use osculate_geometry::collider::{Collider, DIMENSIONS, FreeGrid};
use osculate_geometry::mesh::CuboidGrid;
use osculate_geometry::quadrature::{SampleValues, Surface};
use osculate_math::{Scalar, norm::scale};

/// One way in which a shape changes, and how much of it there is.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeMode {
    /// Name in the parameter path, `cube.edge_radius`.
    pub name: String,
    /// Unit of its value, empty for a pure number.
    pub unit: &'static str,
    /// `â`: the value that the shape was made with.
    pub value: f64,
    /// `d`: displacement of each vertex, or of each explicit point, for each unit of the value \[m\].
    pub displacements: Vec<Vector3<f64>>,
    /// Change of the collider's dimensions for each unit of the value.
    pub dimensions: [f64; DIMENSIONS],
}

impl ShapeMode {
    /// The four modes of a box: its half extents along x, y, z and its edge radius \[m\].
    ///
    /// * `collider`: whether the body's collider is the same box, which then changes with it.
    ///
    /// # Errors
    /// Where the divisions of the box are not allowed.
    pub fn of_cuboid(
        grid: CuboidGrid,
        half_extents: &Vector3<f64>,
        edge_radius: f64,
        collider: bool,
    ) -> Result<[Self; 4], GeometryError> {
        let mode = |k: usize| {
            // Vertices are linear in the four numbers.
            let e = Vector3::from_fn(|i, _| f64::from(i == k));
            let displacements = grid.surface(&e, f64::from(k == 3))?.0;
            let mut dimensions = [0.0; DIMENSIONS];
            dimensions[3 + k] = f64::from(collider);
            let name = ["half_extent_x", "half_extent_y", "half_extent_z", "edge_radius"][k];
            let value = half_extents.get(k).copied().unwrap_or(edge_radius);
            Ok(Self { name: name.into(), unit: "m", value, displacements, dimensions })
        };
        Ok([mode(0)?, mode(1)?, mode(2)?, mode(3)?])
    }
}

/// What of a body's geometry is a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FreeShape {
    /// Triangles and rule that the samples come from; `None` where they are explicit or there are none.
    pub surface: Option<Surface>,
    /// The uniform scale `s` about the local origin, `cube.scale`.
    pub scale: bool,
    /// Modes, `cube.NAME`.
    pub modes: Vec<ShapeMode>,
    /// Every vertex of the surface, `cube.vertex_12_x`.
    pub vertices: bool,
    /// Every node value of a grid collider, `cube.collider.node_123`.
    pub nodes: bool,
}

/// The numbers of a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeParameters<T = f64> {
    /// `s` \[–\]: 1 is the shape as it was made.
    pub scale: T,
    /// `a`, the value of each mode.
    pub modes: Vec<T>,
    /// `X⁰`, vertices of the colliding surface, local frame \[m\]; empty without a [`Surface`].
    pub vertices: Vec<Vector3<T>>,
    /// Values of the nodes of a grid collider \[m\], as large as it was made; empty where they are no parameters.
    pub nodes: Vec<T>,
}

impl ShapeParameters {
    /// The numbers that a body was made with.
    pub(crate) fn of(body: &Body) -> Self {
        let Some(shape) = &body.shape else {
            return Self { scale: 1.0, modes: Vec::new(), vertices: Vec::new(), nodes: Vec::new() };
        };
        let nodes = match &body.collider {
            Some(Collider::Grid(grid)) if shape.nodes => grid.base.values().to_vec(),
            _ => Vec::new(),
        };
        Self {
            scale: 1.0,
            modes: shape.modes.iter().map(|m| m.value).collect(),
            vertices: shape.surface.as_ref().map_or_else(Vec::new, |s| s.vertices().to_vec()),
            nodes,
        }
    }

    /// The same numbers as constants of another scalar.
    pub(crate) fn lift<T: Scalar>(&self) -> ShapeParameters<T> {
        ShapeParameters {
            scale: T::from(self.scale),
            modes: self.modes.iter().map(|&x| T::from(x)).collect(),
            vertices: self.vertices.iter().map(osculate_math::lift).collect(),
            nodes: self.nodes.iter().map(|&x| T::from(x)).collect(),
        }
    }
}

/// Samples and collider of a body, local frame, once its shape is what its parameters say.
#[derive(Clone, Debug)]
pub struct Geometry<T = f64> {
    /// Samples \[m\].
    pub points: Vec<Vector3<T>>,
    /// Their reference areas \[m²\].
    pub weights: Vec<T>,
    /// Their outward unit normals, where the surface has any.
    pub normals: Option<Vec<Vector3<T>>>,
    /// Distance field, where there is one.
    pub collider: Option<Collider<T>>,
}

/// What an outcome changes by with the numbers of a shape.
#[derive(Clone, Debug)]
pub(crate) struct ShapeBar<T> {
    pub(crate) scale: T,
    pub(crate) modes: Vec<T>,
    /// By `X⁰`: vertices, or explicit points.
    pub(crate) vertices: Vec<Vector3<T>>,
    pub(crate) dimensions: [T; DIMENSIONS],
}

impl<T: Scalar> Geometry<T> {
    /// The geometry of a body with the numbers given.
    ///
    /// # Errors
    /// Where the numbers do not fit the body, or make a shape that is none.
    pub fn new(body: &Body, p: &BodyParameters<T>) -> Result<Self, SceneError> {
        let samples = body.samples.as_ref();
        let weights = |s: T| samples.map_or(&[][..], |x| x.weights()).iter().map(move |&w| s * w);
        let normals = || Some(samples?.normals()?.iter().map(osculate_math::lift).collect());
        let made = match &body.shape {
            None => Self {
                points: p.points.clone(),
                weights: weights(T::one()).collect(),
                normals: normals(),
                collider: p.collider.clone(),
            },
            Some(shape) => {
                check_count("modes of a shape", p.shape.modes.len(), shape.modes.len())?;
                let places = shape.scaled(&shape.unscaled(p), p);
                let failed = |source| SceneError::Geometry { body: body.name.clone(), source };
                let collider = shape.collider(p).map_err(failed)?;
                match &shape.surface {
                    Some(surface) => {
                        let SampleValues { points, weights, normals } =
                            surface.samples(&places).map_err(failed)?;
                        Self { points, weights, normals: Some(normals), collider }
                    }
                    None => Self {
                        points: places,
                        weights: weights(p.shape.scale * p.shape.scale).collect(),
                        normals: normals(),
                        collider,
                    },
                }
            }
        };
        check_count("sample points of a body", made.points.len(), made.weights.len())?;
        Ok(made)
    }
}

fn check_count(what: &'static str, found: usize, expected: usize) -> Result<(), SceneError> {
    if found == expected { Ok(()) } else { Err(SceneError::Count { what, found, expected }) }
}

impl FreeShape {
    /// `a − â` of each mode.
    fn amplitudes<T: Scalar>(
        &self,
        p: &BodyParameters<T>,
    ) -> impl Iterator<Item = (&ShapeMode, T)> {
        let values = p.shape.modes.clone();
        self.modes.iter().zip(values).map(|(mode, a)| (mode, a - mode.value))
    }

    /// `X/s`.
    fn unscaled<T: Scalar>(&self, p: &BodyParameters<T>) -> Vec<Vector3<T>> {
        let mut places =
            if self.surface.is_some() { p.shape.vertices.clone() } else { p.points.clone() };
        for (mode, a) in self.amplitudes(p) {
            for (x, d) in places.iter_mut().zip(&mode.displacements) {
                *x += d.map(|d| a * d);
            }
        }
        places
    }

    fn scaled<T: Scalar>(&self, unscaled: &[Vector3<T>], p: &BodyParameters<T>) -> Vec<Vector3<T>> {
        unscaled.iter().map(|x| scale(x, p.shape.scale)).collect()
    }

    /// The collider with the dimensions `D/s`.
    fn unscaled_collider<T: Scalar>(&self, p: &BodyParameters<T>) -> Option<Collider<T>> {
        let base = p.collider.as_ref()?;
        let mut d = base.dimensions();
        for (mode, a) in self.amplitudes(p) {
            for (x, by) in d.iter_mut().zip(mode.dimensions) {
                *x += a * by;
            }
        }
        Some(base.with_dimensions(&d))
    }

    fn collider<T: Scalar>(
        &self,
        p: &BodyParameters<T>,
    ) -> Result<Option<Collider<T>>, GeometryError> {
        let Some(made) = self.unscaled_collider(p) else { return Ok(None) };
        let made = made.with_dimensions(&made.grown_dimensions(p.shape.scale));
        match made {
            Collider::Grid(grid) if self.nodes => {
                FreeGrid::new(&grid, &p.shape.nodes).map(Collider::FreeGrid).map(Some)
            }
            other => Ok(Some(other)),
        }
    }

    /// Pullback of [`Geometry::new`], from changes by samples and collider dimensions.
    pub(crate) fn pull<T: Scalar>(
        &self,
        body: &Body,
        p: &BodyParameters<T>,
        by: &SampleValues<T>,
        by_dimensions: &[T; DIMENSIONS],
    ) -> ShapeBar<T> {
        let s = p.shape.scale;
        let unscaled = self.unscaled(p);
        let mut bar = ShapeBar {
            scale: T::zero(),
            modes: vec![T::zero(); self.modes.len()],
            vertices: by.points.clone(),
            dimensions: *by_dimensions,
        };
        if let Some(surface) = &self.surface {
            // The counts were checked when the geometry was made.
            bar.vertices = surface.pull(&self.scaled(&unscaled, p), by).unwrap_or_default();
        } else if let Some(samples) = &body.samples {
            for (by_weight, &w) in by.weights.iter().zip(samples.weights()) {
                bar.scale += *by_weight * s * (2.0 * w);
            }
        }
        for (x, place) in bar.vertices.iter_mut().zip(&unscaled) {
            bar.scale += x.dot(place);
            *x = scale(x, s);
        }
        if let Some(collider) = self.unscaled_collider(p) {
            let d = collider.dimensions();
            for j in (0..DIMENSIONS).filter(|&j| collider.grows(j)) {
                bar.scale += bar.dimensions[j] * d[j];
                bar.dimensions[j] *= s;
            }
        }
        for (by_mode, mode) in bar.modes.iter_mut().zip(&self.modes) {
            for (x, d) in bar.vertices.iter().zip(&mode.displacements) {
                *by_mode += x.x * d.x + x.y * d.y + x.z * d.z;
            }
            for (x, d) in bar.dimensions.iter().zip(mode.dimensions) {
                *by_mode += *x * d;
            }
        }
        bar
    }

    /// Checks that a body has what is free.
    pub(crate) fn validate(&self, body: &Body) -> Result<(), SceneError> {
        let lacking = |what, needed| SceneError::Shape { body: body.name.clone(), what, needed };
        let samples = body.samples.as_ref().map_or(0, |s| s.len());
        let places = match &self.surface {
            Some(surface) => {
                check_count("samples of a free surface", samples, surface.len())?;
                surface.vertices().len()
            }
            None if self.vertices => {
                return Err(lacking("free vertices", "a surface of triangles"));
            }
            None => samples,
        };
        if self.nodes && !matches!(body.collider, Some(Collider::Grid(_))) {
            return Err(lacking("free nodes", "a grid as collider"));
        }
        for mode in &self.modes {
            check_count("displacements of a shape mode", mode.displacements.len(), places)?;
            let numbers = mode.displacements.iter().flat_map(|d| d.iter());
            let mut numbers = numbers.chain(&mode.dimensions).chain([&mode.value]);
            if let Some(&found) = numbers.find(|x| !x.is_finite()) {
                let (field, allowed) = ("number of a shape mode", "finite");
                return Err(SceneError::Body { body: body.name.clone(), field, found, allowed });
            }
        }
        Ok(())
    }
}
