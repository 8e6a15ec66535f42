//! Scene files, and their parameters as one vector.

use crate::error::Failure;
use crate::interrupt;
use crate::model::Model;
use crate::motion::Motion;
use nalgebra::Vector3;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray3, ToPyArray};
use osculate_dynamics::file::{BuiltScene, SceneFile, SceneOutcome};
use osculate_dynamics::{Wrench, step_times};
use osculate_fit::contact_model::Entry;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A scene with its numbers; nothing of it changes.
#[pyclass(frozen, module = "osculate._core")]
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) model: Model,
    pub(crate) outcome: Arc<SceneOutcome>,
    entries: Arc<[Entry]>,
    increments: Arc<[bool]>,
    warnings: Arc<[String]>,
}

impl Scene {
    fn new(built: &BuiltScene) -> Self {
        let warnings = built.warnings.iter().map(ToString::to_string).collect();
        Self::of(Model::new(built), Arc::new(built.outcome.clone()), warnings)
    }

    pub(crate) fn of(model: Model, outcome: Arc<SceneOutcome>, warnings: Arc<[String]>) -> Self {
        let (entries, increments) = (model.entries().into(), model.increments().into());
        Self { model, outcome, entries, increments, warnings }
    }

    /// The values given, one a parameter and finite but for those that are not anyway (a limit that is off).
    fn checked(&self, values: &PyReadonlyArray1<'_, f64>) -> PyResult<Vec<f64>> {
        let values: Vec<f64> = values.as_array().iter().copied().collect();
        let (found, needed) = (values.len(), self.entries.len());
        if found != needed {
            return Err(PyValueError::new_err(format!("values: {found} given, {needed} needed")));
        }
        let own = self.model.values();
        let wrong =
            |i: &usize| !values[*i].is_finite() && values[*i].to_bits() != own[*i].to_bits();
        if let Some(i) = (0..found).find(wrong) {
            return Err(PyValueError::new_err(format!(
                "values: {} is {}, allowed: a finite number",
                self.entries[i].path, values[i]
            )));
        }
        Ok(values)
    }

    fn with(&self, values: &[f64]) -> PyResult<Self> {
        let model = self.model.with_values(values, &self.increments);
        model.validate()?;
        Ok(Self { model, ..self.clone() })
    }
}

#[pymethods]
impl Scene {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(py
            .detach(|| SceneFile::load(path).map(|built| Self::new(&built)))
            .map_err(Failure::from)?)
    }

    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, base: PathBuf) -> PyResult<Self> {
        let read =
            || Ok(Self::new(&SceneFile::parse(text, base.join("scene.toml"))?.build(&base)?));
        Ok(py.detach(read).map_err(|e: osculate_dynamics::file::FileError| Failure::from(e))?)
    }

    #[getter]
    fn model(&self) -> &'static str {
        self.model.name()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.to_vec()
    }

    #[getter]
    fn bodies(&self) -> Vec<String> {
        self.model.scene().bodies.iter().map(|b| b.name.clone()).collect()
    }

    #[getter]
    fn dynamic_bodies(&self) -> Vec<String> {
        let scene = self.model.scene();
        scene.dynamic_bodies().map(|i| scene.bodies[i].name.clone()).collect()
    }

    #[getter]
    fn paths(&self) -> Vec<String> {
        self.entries.iter().map(|e| e.path.clone()).collect()
    }

    #[getter]
    fn units(&self) -> Vec<&'static str> {
        self.entries.iter().map(|e| e.unit).collect()
    }

    #[getter]
    fn is_increment(&self) -> Vec<bool> {
        self.increments.to_vec()
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.model.values().to_pyarray(py)
    }

    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        step_times(self.model.durations()).to_pyarray(py)
    }

    fn with_values(&self, values: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        self.with(&self.checked(&values)?)
    }

    fn with_wrenches(&self, wrenches: PyReadonlyArray3<'_, f64>) -> PyResult<Self> {
        let view = wrenches.as_array();
        let needed = [self.model.durations().len(), self.model.scene().dynamic_bodies().count(), 6];
        if view.shape() != needed {
            return Err(PyValueError::new_err(format!(
                "wrenches: shape {:?} given, {needed:?} needed (steps, dynamic bodies, force and torque)",
                view.shape()
            )));
        }
        if let Some(x) = view.iter().find(|x| !x.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "wrenches: {x} found, allowed: finite numbers"
            )));
        }
        let numbers: Vec<f64> = view.iter().copied().collect();
        let wrench = |x: &[f64]| Wrench {
            force: Vector3::from_column_slice(&x[..3]),
            torque: Vector3::from_column_slice(&x[3..]),
        };
        let model = self.model.with_wrenches(numbers.chunks(6).map(wrench).collect());
        Ok(Self::of(model, Arc::clone(&self.outcome), Arc::clone(&self.warnings)))
    }

    #[pyo3(signature = (values=None))]
    fn simulate(
        &self,
        py: Python<'_>,
        values: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Motion> {
        let scene = match values {
            None => self.clone(),
            Some(values) => {
                let values = self.checked(&values)?;
                let moved = |i: &usize| self.increments[*i] && values[*i].abs() > 0.0;
                if let Some(i) = (0..values.len()).find(moved) {
                    return Err(PyValueError::new_err(format!(
                        "values: {} is an increment, {} given, 0 needed: derivatives by it are those at zero; with_values \
                         gives the scene that it moves",
                        self.entries[i].path, values[i]
                    )));
                }
                self.with(&values)?
            }
        };
        let done = interrupt::run(py, |flag| scene.model.run(flag));
        let rolled_out = done.or_signal()?;
        Ok(Motion::new(scene, rolled_out))
    }
}

/// How many states a roll-out has.
pub(crate) fn states(scene: &Scene) -> usize {
    scene.model.durations().len() + 1
}
