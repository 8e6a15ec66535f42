//! Roll-outs as arrays, and their derivatives.

use crate::arrays::{Cotangents, Motions, array, indices};
use crate::error::Failure;
use crate::interrupt;
use crate::model::RolledOut;
use crate::outcome::Asked;
use crate::scene::{Scene, states};
use crate::touch::Touch;
use nalgebra::Vector3;
use numpy::{
    PyArray1, PyArrayDyn, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArrayDyn, ToPyArray,
};
use osculate_dynamics::Energies;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// What a roll-out gave.
#[pyclass(frozen, module = "osculate._core")]
pub(crate) struct Motion {
    scene: Scene,
    rolled_out: Arc<RolledOut>,
}

type Given<'py> = Option<PyReadonlyArrayDyn<'py, f64>>;
type Vector<'py> = Bound<'py, PyArray1<f64>>;
type Fields<'py> = [Bound<'py, PyArrayDyn<f64>>; 4];

impl Motion {
    pub(crate) fn new(scene: Scene, rolled_out: RolledOut) -> Self {
        Self { scene, rolled_out: Arc::new(rolled_out) }
    }

    fn bodies(&self) -> usize {
        self.scene.model.scene().bodies.len()
    }

    fn asked(&self, bars: [Given<'_>; 4]) -> PyResult<Asked> {
        if bars.iter().all(Option::is_none) {
            return Ok(Asked::Scene((*self.scene.outcome).clone()));
        }
        Ok(Asked::Motion(Cotangents::read(bars, states(&self.scene), self.bodies())?))
    }

    fn direction(&self, given: &[f64]) -> PyResult<Vec<f64>> {
        let (found, needed) = (given.len(), self.scene.model.values().len());
        if found != needed {
            return Err(PyValueError::new_err(format!(
                "direction: {found} given, {needed} needed"
            )));
        }
        Ok(given.to_vec())
    }

    fn compute<X: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&RolledOut) -> Result<X, Failure> + Send,
    ) -> PyResult<X> {
        let of = &*self.rolled_out;
        Ok(interrupt::run_with(py, of.flag(), |_| f(of)).or_signal()?)
    }
}

#[pymethods]
impl Motion {
    #[getter]
    fn scene(&self) -> Scene {
        self.scene.clone()
    }

    /// position, rotation, velocity, angular_velocity.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Fields<'py>> {
        self.rolled_out.motions().arrays(py, states(&self.scene), self.bodies())
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.rolled_out.seconds()
    }

    #[getter]
    fn unconverged(&self) -> usize {
        self.rolled_out.unconverged()
    }

    /// Iterations (or sweeps) and residual of every stage (or step).
    fn solver<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>) {
        let (count, residual) = self.rolled_out.solves();
        (indices(py, &count), residual.to_pyarray(py))
    }

    #[pyo3(signature = (position=None, rotation=None, velocity=None, angular_velocity=None))]
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        position: Given<'_>,
        rotation: Given<'_>,
        velocity: Given<'_>,
        angular_velocity: Given<'_>,
    ) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
        let asked = self.asked([position, rotation, velocity, angular_velocity])?;
        let (value, gradient) = self.compute(py, |of| of.gradient(&asked))?;
        Ok((value, gradient.to_pyarray(py)))
    }

    #[pyo3(signature = (direction, position=None, rotation=None, velocity=None, angular_velocity=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn hessian_product<'py>(
        &self,
        py: Python<'py>,
        direction: PyReadonlyArray1<'_, f64>,
        position: Given<'_>,
        rotation: Given<'_>,
        velocity: Given<'_>,
        angular_velocity: Given<'_>,
    ) -> PyResult<(f64, Vector<'py>, Vector<'py>)> {
        let asked = self.asked([position, rotation, velocity, angular_velocity])?;
        let direction =
            self.direction(&direction.as_array().iter().copied().collect::<Vec<_>>())?;
        let (value, gradient, product) =
            self.compute(py, |of| of.second_order(&direction, &asked))?;
        Ok((value, gradient.to_pyarray(py), product.to_pyarray(py)))
    }

    /// One row a direction: (directions, states, bodies, …) of each field.
    fn tangents<'py>(
        &self,
        py: Python<'py>,
        directions: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Fields<'py>> {
        let rows: Vec<Vec<f64>> = directions
            .as_array()
            .rows()
            .into_iter()
            .map(|row| self.direction(&row.iter().copied().collect::<Vec<_>>()))
            .collect::<PyResult<_>>()?;
        let found = self.compute(py, |of| of.tangents(&rows))?;
        let shape = [rows.len(), states(&self.scene), self.bodies(), 3];
        let of =
            |f: fn(&Motions) -> &[f64]| found.iter().flat_map(|m| f(m).iter().copied()).collect();
        Ok([
            array(py, of(|m| &m.position), &shape)?,
            array(py, of(|m| &m.rotation), &[shape[0], shape[1], shape[2], 3, 3])?,
            array(py, of(|m| &m.velocity), &shape)?,
            array(py, of(|m| &m.angular_velocity), &shape)?,
        ])
    }

    /// Energies after every step: kinetic, gravitational, contact; none of the impulse model.
    fn energies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = self.compute(py, |of| of.energies())?;
        let out = PyDict::new(py);
        let column = |name: &str, f: fn(&Energies) -> f64| {
            out.set_item(name, all.iter().map(f).collect::<Vec<_>>().to_pyarray(py))
        };
        column("kinetic", |e| e.kinetic)?;
        column("gravitational", |e| e.gravitational)?;
        column("contact", |e| e.contact)?;
        Ok(out)
    }

    /// Contacts at the end of a step (from 1): indices of bodies, points, normals, forces on the first body.
    fn contacts<'py>(&self, py: Python<'py>, step: usize) -> PyResult<Bound<'py, PyDict>> {
        let steps = states(&self.scene) - 1;
        if !(1..=steps).contains(&step) {
            return Err(PyValueError::new_err(format!("step is {step}, allowed: 1 to {steps}")));
        }
        let rows = self.compute(py, |of| of.contacts(step))?;
        let out = PyDict::new(py);
        let index = |f: fn(&Touch) -> usize| {
            indices(py, &rows.iter().map(|r| f(r) as i64).collect::<Vec<_>>())
        };
        out.set_item("body", index(|r| r.bodies[0]))?;
        out.set_item("other", index(|r| r.bodies[1]))?;
        out.set_item("gap", rows.iter().map(|r| r.gap).collect::<Vec<_>>().to_pyarray(py))?;
        let vectors = |f: fn(&Touch) -> Vector3<f64>| {
            let numbers: Vec<f64> = rows.iter().flat_map(|r| f(r).data.0[0]).collect();
            array(py, numbers, &[rows.len(), 3])
        };
        out.set_item("position", vectors(|r| r.position)?)?;
        out.set_item("normal", vectors(|r| r.normal)?)?;
        out.set_item("force", vectors(|r| r.force)?)?;
        Ok(out)
    }
}
