//! A grid whose node values carry derivatives: `Φ(X) = s Φ₀(X/s) − r`, `Φ₀ = Σ c_n N_n`.
//!
//! ```text
//! ∂Φ/∂c_n = s N_n(X/s),   ∂G/∂c_n = ∇N_n(X/s)
//! ```
//!
//! with `N_n` the weight of a node, zero but for the eight nodes of the cell of `X/s`, or the 64 around it if tricubic.

use super::scaled::{derivatives, pull_scaled};
use super::{DIMENSIONS, Field, GridField};
use crate::GeometryError;
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Jet, Scalar, norm::scale};
use std::sync::Arc;

/// Distances on a grid whose node values are scalars.
///
/// The grid beside them has the same values without derivatives: it answers every question that is about numbers only.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeGrid<T = f64> {
    /// Scale, rounding, and the grid of the values without derivatives.
    pub grid: GridField<T>,
    /// Values of the nodes (m), in the order of the grid.
    values: Arc<[T]>,
}

impl<T: Scalar> FreeGrid<T> {
    /// A grid with values (m) of its own at the nodes.
    ///
    /// # Errors
    /// Where there are more or fewer values than nodes, or one is not finite.
    pub fn new(grid: &GridField<T>, values: &[T]) -> Result<Self, GeometryError> {
        let real = grid.base.with_values(values.iter().map(T::re).collect())?;
        let grid = GridField { base: Arc::new(real), scale: grid.scale, rounding: grid.rounding };
        Ok(Self { grid, values: values.into() })
    }

    /// Values (m) of the nodes, z fastest.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Signed distance (m).
    #[inline(never)]
    pub fn phi(&self, point: &Vector3<T>) -> T {
        self.field(point).phi
    }

    /// Signed distance (m) and its gradient.
    #[inline(never)]
    pub fn field(&self, point: &Vector3<T>) -> Field<T> {
        let x = scale(point, self.grid.scale.recip());
        let (phi, gradient) = self.grid.base.field_of(|n| self.values[n], &x);
        Field { phi: phi * self.grid.scale - self.grid.rounding, gradient, unit: false }
    }

    /// `Φ₀`, `G₀` and `∇²Φ₀` at a point of the field itself.
    fn base_derivatives(&self, x: &Vector3<T>) -> (T, Vector3<T>, Matrix3<T>) {
        let value = |n: usize| Jet::<3, T>::constant(self.values[n]);
        derivatives(x, |seeded| self.grid.base.field_of(value, seeded))
    }

    /// `∇²Φ` (1/m).
    #[inline(never)]
    pub(super) fn curvature(&self, point: &Vector3<T>) -> Matrix3<T> {
        let inverse = self.grid.scale.recip();
        let x = scale(point, inverse);
        let known = self.grid.base.trilinear_hessian(|n| self.values[n], &x);
        let hessian = known.unwrap_or_else(|| self.base_derivatives(&x).2);
        hessian.map(|x| x * inverse)
    }

    /// The gradient of `Φ φ̄ + G·ḡ` by the point and by the dimensions.
    #[inline(never)]
    pub(super) fn pull_field(
        &self,
        point: &Vector3<T>,
        bar: (T, Vector3<T>),
    ) -> (Vector3<T>, [T; DIMENSIONS]) {
        let x = scale(point, self.grid.scale.recip());
        pull_scaled(self.grid.scale, &x, &self.base_derivatives(&x), bar)
    }

    /// Adds the gradient of `Φ φ̄ + G·ḡ` by the value of every node.
    pub fn pull_nodes(
        &self,
        point: &Vector3<T>,
        (phi_bar, g_bar): (T, Vector3<T>),
        nodes: &mut [T],
    ) {
        let x = scale(point, self.grid.scale.recip());
        let by_value = phi_bar * self.grid.scale;
        self.grid.base.for_each_node(&x, |n, value, slopes| {
            nodes[n] += value * by_value + slopes.dot(&g_bar);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collider::Collider;

    #[test]
    fn trilinear_curvature_is_the_derivative_of_the_gradient() {
        use crate::grid::{GridParams, GridSdf};
        use crate::mesh::TriangleMesh;
        let mesh = TriangleMesh::cuboid(&Vector3::new(0.5, 0.6, 0.7)).unwrap();
        let grid = GridSdf::of_mesh(&mesh, &GridParams::default()).unwrap();
        let mut curved = 0;
        for i in 0..200 {
            let x = [0.7, 1.1, 1.7].map(|k| 0.49 * (k * f64::from(i)).sin());
            let x = Vector3::from(x);
            let found = grid.trilinear_hessian(|n| grid.values()[n], &x).unwrap();
            let (.., exact) = derivatives(&x, |seeded| grid.field(seeded));
            assert!((found - exact).norm() <= 1e-12 * (1.0 + exact.norm()), "{found} for {exact}");
            curved += usize::from(exact.norm() > 1e-3);
        }
        assert!(curved > 20, "{curved}");
        let beyond = Vector3::new(9.0, 0.0, 0.0);
        assert!(grid.trilinear_hessian(|n| grid.values()[n], &beyond).is_none());
    }
    use crate::grid::{GridParams, GridSdf, Interpolation, ResolutionMode};
    use crate::mesh::TriangleMesh;

    /// An egg on few, large cells, scaled and rounded.
    fn egg(interpolation: Interpolation) -> FreeGrid {
        let mesh = TriangleMesh::icosphere(0.8, 2).unwrap();
        let explicit = ResolutionMode::Explicit;
        let params =
            GridParams { mode: explicit, delta: [0.9; 3], min_cells: [1; 3], padding: 0.5 };
        let grid = GridSdf::of_mesh(&mesh, &params).unwrap().interpolated(interpolation);
        let made = Collider::grid(grid);
        let Collider::Grid(grid) = made.scaled(1.3, 0.02).unwrap() else { panic!("a grid") };
        let values: Vec<f64> = grid
            .base
            .values()
            .iter()
            .enumerate()
            .map(|(i, x)| x + 0.03 * (i as f64).sin())
            .collect();
        FreeGrid::new(&grid, &values).unwrap()
    }

    /// Inside, near the surface, and beyond a face, an edge and a corner.
    const POINTS: [[f64; 3]; 5] =
        [[0.3, -0.2, 0.1], [0.7, 0.5, 0.4], [2.3, 0.3, 0.1], [2.3, 0.3, -2.5], [2.2, 2.4, 2.6]];

    #[test]
    fn field_is_that_of_a_grid_of_these_values() {
        for free in Interpolation::ALL.map(egg) {
            let grid = Collider::Grid(free.grid.clone());
            for x in POINTS.map(Vector3::from) {
                assert_eq!(free.field(&x), grid.field(&x));
                assert_eq!(Collider::FreeGrid(free.clone()).curvature(&x), grid.curvature(&x));
                let bar = (0.7, Vector3::new(0.2, -0.4, 0.5));
                assert_eq!(free.pull_field(&x, bar), grid.pull_field(&x, bar));
            }
        }
    }

    #[test]
    fn pullback_to_nodes_is_the_derivative_of_the_field_by_every_node() {
        for (interpolation, most) in Interpolation::ALL.into_iter().zip([8, 64]) {
            pullback_is_derivative(&egg(interpolation), most);
        }
    }

    fn pullback_is_derivative(free: &FreeGrid, most: usize) {
        let bar = (0.7, Vector3::new(0.2, -0.4, 0.5));
        for x in POINTS.map(Vector3::from) {
            let mut found = vec![0.0; free.values().len()];
            free.pull_nodes(&x, bar, &mut found);
            let bounds = free.grid.base.bounds();
            let inside = bounds.distance(&(x / free.grid.scale)) == 0.0;
            let touched = found.iter().filter(|x| x.abs() > 0.0).count();
            // Of a tricubic cell at the boundary some of the nodes do not exist.
            let all = if most == 8 { touched == 8 } else { (27..=most).contains(&touched) };
            assert!(if inside { all } else { (1..most).contains(&touched) }, "{touched}");
            for n in 0..found.len() {
                let mut values: Vec<Jet<1>> =
                    free.values().iter().map(|&v| Jet::constant(v)).collect();
                values[n] = Jet::variable(free.values()[n], 0);
                let grid = GridField {
                    base: Arc::clone(&free.grid.base),
                    scale: Jet::constant(free.grid.scale),
                    rounding: Jet::constant(free.grid.rounding),
                };
                let seeded = FreeGrid::new(&grid, &values).unwrap();
                let field = seeded.field(&x.map(Jet::constant));
                let exact = field.phi.eps[0] * bar.0 + field.gradient.map(|g| g.eps[0]).dot(&bar.1);
                assert!((found[n] - exact).abs() < 1e-14, "node {n}: {} and {exact}", found[n]);
            }
        }
    }

    #[test]
    fn values_must_be_as_many_as_nodes_and_finite() {
        let free = egg(Interpolation::Trilinear);
        let n = free.values().len();
        let error = FreeGrid::new(&free.grid, &vec![0.1; n + 1]).unwrap_err();
        assert_eq!(error, GeometryError::NodeCount { found: n + 1, expected: n });
        assert!(FreeGrid::new(&free.grid, &vec![f64::NAN; n]).is_err());
    }
}
