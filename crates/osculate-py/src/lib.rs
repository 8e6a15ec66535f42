//! Python bindings: convert, never compute.
//!
//! * [`scene`]: scene files and their parameters as one vector.
//! * [`motion`]: roll-outs as arrays, and their derivatives.
//! * [`identify`]: fits, evaluations, certificates, restitution: reports as JSON.
//! * [`optimize`]: trajectories that do what is wanted.
//! * [`error`]: one exception an error family, with the text of the library.
//! * [`interrupt`]: Ctrl-C while a computation runs without the interpreter.
//!
//! Shapes, units and checks of input are in the Python package around it (`python/osculate`).

mod arrays;
mod error;
mod identify;
mod interrupt;
mod model;
mod motion;
mod optimize;
mod outcome;
mod scene;
mod touch;

use pyo3::prelude::*;

/// The extension module `osculate._core`.
#[pymodule]
#[pyo3(name = "_core")]
fn osculate_core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::add(m)?;
    m.add_class::<scene::Scene>()?;
    m.add_class::<motion::Motion>()?;
    m.add_class::<interrupt::Stop>()?;
    m.add_function(wrap_pyfunction!(identify::fit, m)?)?;
    m.add_function(wrap_pyfunction!(identify::recordings, m)?)?;
    m.add_function(wrap_pyfunction!(identify::evaluate, m)?)?;
    m.add_function(wrap_pyfunction!(optimize::optimize, m)?)?;
    m.add_function(wrap_pyfunction!(identify::verify, m)?)?;
    m.add_function(wrap_pyfunction!(identify::restitution, m)?)
}
