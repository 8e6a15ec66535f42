//! Derivatives of the dynamics by state, effort and parameters.
//!
//! Inverse dynamics is a formula, so its derivatives are those of jets; forward dynamics solves a system, so its
//! derivatives follow from the implicit function theorem with the same factors:
//!
//! ```text
//! ID(q, v, a; θ) = τ    ⇒    ∂a/∂x = H⁻¹ (∂τ/∂x − ∂ID/∂x)
//! ```
//!
//! Positions vary by increments `q ⊕ δ`, with the components of `v` and `a` held constant.

use super::Configuration;
use super::dynamics::{Load, forward_dynamics, inverse_dynamics, mass_matrix};
use super::error::ModelError;
use super::kinematics::TreeKinematics;
use super::mass_factor::MassFactor;
use super::model::ArticulatedModel;
use nalgebra::{DMatrix, Vector3};
use osculate_math::{Jet, Scalar};

/// Directions a jet carries: width 6 costs least a direction in the benchmark of `osculate-math`'s jets.
const WIDTH: usize = 6;

/// A state of a tree with what acts on it.
#[derive(Clone, Copy, Debug)]
pub struct TreePoint<'a> {
    /// The model.
    pub model: &'a ArticulatedModel,
    /// Where it is.
    pub q: &'a Configuration,
    /// How it moves, one entry a degree of freedom.
    pub v: &'a [f64],
    /// What acts from outside.
    pub load: &'a Load,
}

/// A number that the dynamics depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeParameter {
    /// Mass of a link \[kg\], with centre and inertia held.
    Mass {
        /// Index of the link.
        link: usize,
    },
    /// Coordinate of a link's centre of mass \[m\].
    Center {
        /// Index of the link.
        link: usize,
        /// 0 to 2.
        axis: usize,
    },
    /// Entry of a link's inertia about its centre of mass \[kg m²\], with its mirror.
    Inertia {
        /// Index of the link.
        link: usize,
        /// 0 to 2.
        row: usize,
        /// 0 to 2.
        column: usize,
    },
    /// Position of a joint in its parent link \[m\].
    JointPosition {
        /// Index of the link that the joint holds.
        link: usize,
        /// 0 to 2.
        axis: usize,
    },
    /// Rotation of a joint in its parent link, `exp(δ) R` \[rad\].
    JointRotation {
        /// Index of the link that the joint holds.
        link: usize,
        /// 0 to 2.
        axis: usize,
    },
    /// Armature of a degree of freedom.
    Armature {
        /// The degree of freedom.
        dof: usize,
    },
    /// Component of gravity \[m/s²\].
    Gravity {
        /// 0 to 2.
        axis: usize,
    },
}

impl TreeParameter {
    /// Adds `by` to the parameter. With `by` a jet of value zero this seeds it.
    ///
    /// # Panics
    /// Where there is no such link, axis or degree of freedom.
    pub fn add_to<T: Scalar>(self, model: &mut ArticulatedModel<T>, load: &mut Load<T>, by: T) {
        match self {
            Self::Mass { link } => model.inertia_mut(link).mass += by,
            Self::Center { link, axis } => model.inertia_mut(link).center[axis] += by,
            Self::Inertia { link, row, column } => {
                let inertia = &mut model.inertia_mut(link).inertia;
                inertia[(row, column)] += by;
                if row != column {
                    inertia[(column, row)] += by;
                }
            }
            Self::JointPosition { link, axis } => model.placement_mut(link).position[axis] += by,
            Self::JointRotation { link, axis } => {
                let turn = Vector3::from_fn(|i, _| if i == axis { by } else { T::zero() });
                let placement = model.placement_mut(link);
                *placement = placement.incremented(&Vector3::zeros(), &turn);
            }
            Self::Armature { dof } => {
                let link = model.link_of(dof);
                let first = model.joint_dofs(link).start;
                model.armature_mut(link)[dof - first] += by;
            }
            Self::Gravity { axis } => load.gravity[axis] += by,
        }
    }
}

/// Derivatives of inverse dynamics, shape \[dofs, dofs\] each.
#[derive(Clone, Debug, PartialEq)]
pub struct InverseDerivatives {
    /// `∂τ/∂q`.
    pub by_position: DMatrix<f64>,
    /// `∂τ/∂v`.
    pub by_velocity: DMatrix<f64>,
}

/// Forward dynamics with its derivatives.
#[derive(Clone, Debug)]
pub struct ForwardDerivatives {
    /// `a`.
    pub acceleration: Vec<f64>,
    /// `∂a/∂q`.
    pub by_position: DMatrix<f64>,
    /// `∂a/∂v`.
    pub by_velocity: DMatrix<f64>,
    /// Factors of the mass matrix; `∂a/∂τ = H⁻¹`, `∂a/∂θ = −H⁻¹ ∂ID/∂θ`.
    pub factor: MassFactor,
}

/// The columns of a Jacobian, `WIDTH` directions at a time: `evaluate` gets a seed for each direction.
fn jacobian(
    rows: usize,
    columns: usize,
    evaluate: impl Fn(&dyn Fn(usize) -> Jet<WIDTH>) -> Vec<Jet<WIDTH>>,
) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(rows, columns);
    for first in (0..columns).step_by(WIDTH) {
        let seed = |k: usize| match k.checked_sub(first) {
            Some(i) if i < WIDTH => Jet::variable(0.0, i),
            _ => Jet::constant(0.0),
        };
        let value = evaluate(&seed);
        for k in first..columns.min(first + WIDTH) {
            for (row, y) in value.iter().enumerate() {
                out[(row, k)] = y.eps[k - first];
            }
        }
    }
    out
}

fn lifted(x: &[f64]) -> Vec<Jet<WIDTH>> {
    x.iter().map(|&x| Jet::constant(x)).collect()
}

/// `∂ID/∂q` and `∂ID/∂v` at the accelerations `a`.
pub fn inverse_derivatives(point: TreePoint<'_>, a: &[f64]) -> InverseDerivatives {
    let n = point.model.dofs();
    let (model, load) = (point.model.lift(), point.load.lift());
    let (q, v, a) = (point.q.lift(), lifted(point.v), lifted(a));
    let still = TreeKinematics::new(&model, &q);
    let by_position = jacobian(n, n, |seed| {
        let delta: Vec<_> = (0..n).map(seed).collect();
        let at = TreeKinematics::new(&model, &q.incremented(&delta));
        inverse_dynamics(&model, &at, &v, &a, &load)
    });
    let by_velocity = jacobian(n, n, |seed| {
        let v: Vec<_> = v.iter().enumerate().map(|(k, v)| *v + seed(k)).collect();
        inverse_dynamics(&model, &still, &v, &a, &load)
    });
    InverseDerivatives { by_position, by_velocity }
}

/// `∂ID/∂θ` at the accelerations `a`, one column a parameter.
///
/// # Panics
/// Where a parameter names a link, an axis or a degree of freedom that does not exist.
pub fn inverse_by_parameters(
    point: TreePoint<'_>,
    a: &[f64],
    parameters: &[TreeParameter],
) -> DMatrix<f64> {
    let (q, v, a) = (point.q.lift(), lifted(point.v), lifted(a));
    jacobian(point.model.dofs(), parameters.len(), |seed| {
        let (mut model, mut load) = (point.model.lift(), point.load.lift());
        for (k, p) in parameters.iter().enumerate() {
            p.add_to(&mut model, &mut load, seed(k));
        }
        inverse_dynamics(&model, &TreeKinematics::new(&model, &q), &v, &a, &load)
    })
}

/// Forward dynamics with its derivatives by position and velocity.
///
/// # Errors
/// Where the mass matrix is not positive definite.
pub fn forward_derivatives(
    point: TreePoint<'_>,
    tau: &[f64],
) -> Result<ForwardDerivatives, ModelError> {
    let at = TreeKinematics::new(point.model, point.q);
    let factor = MassFactor::new(point.model, mass_matrix(point.model, &at))?;
    let acceleration = forward_dynamics(point.model, &at, point.v, tau, point.load)?;
    let inverse = inverse_derivatives(point, &acceleration);
    let by_position = factor.solve_matrix(-inverse.by_position);
    let by_velocity = factor.solve_matrix(-inverse.by_velocity);
    Ok(ForwardDerivatives { acceleration, by_position, by_velocity, factor })
}
