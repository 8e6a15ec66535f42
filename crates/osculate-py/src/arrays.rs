//! Motions as NumPy arrays.

use nalgebra::{Matrix3, Vector3};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, ToPyArray};
use osculate_dynamics::Kinematics;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An array of a shape from its numbers in C order.
pub(crate) fn array<'py>(
    py: Python<'py>,
    numbers: Vec<f64>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    PyArray1::from_vec(py, numbers).reshape(shape.to_vec())
}

/// Indices as an array.
pub(crate) fn indices<'py>(py: Python<'py>, numbers: &[i64]) -> Bound<'py, PyArray1<i64>> {
    numbers.to_pyarray(py)
}

/// Positions, rotations, velocities and angular velocities of bodies after every step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motions {
    pub(crate) position: Vec<f64>,
    pub(crate) rotation: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    pub(crate) angular_velocity: Vec<f64>,
}

/// Names of the fields of [`Motions`], in order, and how many numbers each has of a body.
const FIELDS: [&str; 4] = ["position", "rotation", "velocity", "angular_velocity"];
const SIZES: [usize; 4] = [3, 9, 3, 3];

impl Motions {
    /// With room for so many states of bodies.
    pub(crate) fn for_states(count: usize) -> Self {
        let [position, rotation, velocity, angular_velocity] =
            SIZES.map(|size| Vec::with_capacity(size * count));
        Self { position, rotation, velocity, angular_velocity }
    }

    pub(crate) fn push(&mut self, k: &Kinematics) {
        self.position.extend_from_slice(k.position.as_slice());
        // C order: rows first.
        self.rotation.extend_from_slice(k.rotation.transpose().as_slice());
        self.velocity.extend_from_slice(k.velocity.as_slice());
        self.angular_velocity.extend_from_slice(k.angular_velocity.as_slice());
    }

    /// One array a field, of shape (states, bodies, 3) or (states, bodies, 3, 3).
    pub(crate) fn arrays<'py>(
        self,
        py: Python<'py>,
        states: usize,
        bodies: usize,
    ) -> PyResult<[Bound<'py, PyArrayDyn<f64>>; 4]> {
        let vector = [states, bodies, 3];
        Ok([
            array(py, self.position, &vector)?,
            array(py, self.rotation, &[states, bodies, 3, 3])?,
            array(py, self.velocity, &vector)?,
            array(py, self.angular_velocity, &vector)?,
        ])
    }
}

/// Cotangents of [`Motions`], each there or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cotangents {
    fields: [Option<Vec<f64>>; 4],
    bodies: usize,
}

impl Cotangents {
    /// Reads arrays of the shapes of [`Motions::arrays`].
    pub(crate) fn read(
        given: [Option<PyReadonlyArrayDyn<'_, f64>>; 4],
        states: usize,
        bodies: usize,
    ) -> PyResult<Self> {
        let mut fields = [const { None }; 4];
        for (i, given) in given.into_iter().enumerate() {
            let Some(given) = given else { continue };
            let view = given.as_array();
            let mut expected = vec![states, bodies, 3];
            if FIELDS[i] == "rotation" {
                expected.push(3);
            }
            if view.shape() != expected {
                return Err(PyValueError::new_err(format!(
                    "{}: shape {:?} given, {expected:?} needed",
                    FIELDS[i],
                    view.shape()
                )));
            }
            fields[i] = Some(view.iter().copied().collect());
        }
        Ok(Self { fields, bodies })
    }

    fn vector(&self, field: usize, at: usize) -> Option<Vector3<f64>> {
        self.fields[field].as_ref().map(|all| Vector3::from_column_slice(&all[3 * at..3 * at + 3]))
    }

    /// The cotangent of a body after a step: position, rotation, velocity, angular velocity.
    pub(crate) fn of(&self, step: usize, body: usize) -> Cotangent {
        let at = step * self.bodies + body;
        let rotation =
            self.fields[1].as_ref().map(|all| Matrix3::from_row_slice(&all[9 * at..9 * at + 9]));
        Cotangent {
            position: self.vector(0, at),
            rotation,
            velocity: self.vector(2, at),
            angular_velocity: self.vector(3, at),
        }
    }

    /// Whether anything of a step has a weight.
    pub(crate) fn observes(&self, step: usize) -> bool {
        self.fields.iter().zip(SIZES).any(|(field, size)| {
            let each = size * self.bodies;
            let weights =
                |all: &Vec<f64>| all[step * each..(step + 1) * each].iter().any(|x| x.abs() > 0.0);
            field.as_ref().is_some_and(weights)
        })
    }
}

/// Cotangent of the motion of one body; absent where it is zero.
pub(crate) struct Cotangent {
    pub(crate) position: Option<Vector3<f64>>,
    pub(crate) rotation: Option<Matrix3<f64>>,
    pub(crate) velocity: Option<Vector3<f64>>,
    pub(crate) angular_velocity: Option<Vector3<f64>>,
}
