//! Equations of motion of a tree: `H(q) a + c(q, v) = τ`.
//!
//! ```text
//! H        composite inertias from the leaves: H_jk = S_j · I_k^c S_k, + armature on the diagonal
//! A_i      = A_parent + Σ_k (S_k a_k + W_k × S_k v_k),   A_world = (0, −g)
//! F_i      = I_i A_i + V_i ×* I_i V_i − w_i
//! τ_k      = S_k · Σ F over the links that k moves, + armature a_k
//! ```
//!
//! `W_k` is the twist of the frame in which the axis of `k` is fixed. Source: Featherstone, *Rigid Body Dynamics
//! Algorithms*, 2008, ch. 5 and 6, here about one world point and with left increments.

use super::error::ModelError;
use super::kinematics::TreeKinematics;
use super::mass_factor::MassFactor;
use super::model::ArticulatedModel;
use super::spatial::SpatialInertia;
use super::{JointKind, SpatialForce, Twist};
use nalgebra::{DMatrix, Vector3};
use osculate_math::Scalar;

/// What acts on a tree from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Load<T = f64> {
    /// Gravity \[m/s²\], world.
    pub gravity: Vector3<T>,
    /// Force \[N\] and torque \[N m\] at the centre of mass of each link, world axes; empty for none.
    pub wrenches: Vec<(Vector3<T>, Vector3<T>)>,
}

impl<T: Scalar> Load<T> {
    /// Gravity alone.
    pub fn gravity(gravity: Vector3<T>) -> Self {
        Self { gravity, wrenches: Vec::new() }
    }
}

impl Load {
    /// The same load as constants of another scalar.
    pub fn lift<T: Scalar>(&self) -> Load<T> {
        let pair = |(f, t): &(Vector3<f64>, Vector3<f64>)| (f.map(T::from), t.map(T::from));
        Load {
            gravity: self.gravity.map(T::from),
            wrenches: self.wrenches.iter().map(pair).collect(),
        }
    }
}

pub(super) fn inertias<T: Scalar>(
    model: &ArticulatedModel<T>,
    at: &TreeKinematics<T>,
) -> Vec<SpatialInertia<T>> {
    let links = model.links().iter().zip(&at.links).zip(&at.centers);
    links.map(|((l, x), c)| SpatialInertia::new(&l.inertia, &x.rotation, &at.arm(c))).collect()
}

/// `H(q)` \[kg, kg m, kg m²\], shape \[dofs, dofs\], with armature on its diagonal.
pub fn mass_matrix<T: Scalar>(model: &ArticulatedModel<T>, at: &TreeKinematics<T>) -> DMatrix<T> {
    let n = model.dofs();
    let mut h = DMatrix::from_element(n, n, T::zero());
    let mut composite = inertias(model, at);
    for (i, link) in model.links().iter().enumerate().rev() {
        let own = model.joint_dofs(i);
        for k in own.clone() {
            let momentum = composite[i].momentum(&at.columns[k]);
            for &j in model.support(i) {
                let entry = at.columns[j].dot(&momentum);
                h[(k, j)] = entry;
                h[(j, k)] = entry;
            }
        }
        for (k, armature) in own.zip(link.joint.armature) {
            h[(k, k)] += armature;
        }
        if let Some(p) = link.parent {
            composite[p] = composite[p].plus(&composite[i]);
        }
    }
    h
}

/// Twists and accelerations of the links; the world accelerates by `−g` instead of gravity acting.
pub(super) fn motions<T: Scalar>(
    model: &ArticulatedModel<T>,
    at: &TreeKinematics<T>,
    (v, a): (&[T], &[T]),
    gravity: &Vector3<T>,
) -> Vec<(Twist<T>, Twist<T>)> {
    let world = (Twist::zero(), Twist { angular: Vector3::zeros(), linear: -*gravity });
    let mut out: Vec<(Twist<T>, Twist<T>)> = Vec::with_capacity(model.links().len());
    for (i, link) in model.links().iter().enumerate() {
        let (mut twist, mut acceleration) = link.parent.map_or(world, |p| out[p]);
        // The frame in which the axes of the joint are fixed.
        let mut carrier = twist;
        for (place, k) in model.joint_dofs(i).enumerate() {
            if place == 3 && matches!(link.joint.kind, JointKind::Free) {
                carrier = twist;
            }
            let column = &at.columns[k];
            twist = twist.plus(column, v[k]);
            acceleration = acceleration.plus(column, a[k]).plus(&carrier.cross(column), v[k]);
        }
        out.push((twist, acceleration));
    }
    out
}

/// `τ = H a + c`: generalised forces that make the accelerations `a` at the velocities `v`.
///
/// # Panics
/// Where a list has not the length the model needs.
pub fn inverse_dynamics<T: Scalar>(
    model: &ArticulatedModel<T>,
    at: &TreeKinematics<T>,
    v: &[T],
    a: &[T],
    load: &Load<T>,
) -> Vec<T> {
    let wrenches = load.wrenches.len();
    assert!(wrenches == 0 || wrenches == model.links().len(), "one wrench a link, or none");
    let mut forces: Vec<SpatialForce<T>> = motions(model, at, (v, a), &load.gravity)
        .iter()
        .zip(inertias(model, at))
        .map(|((twist, acceleration), inertia)| {
            let gyroscopic = twist.cross_force(&inertia.momentum(twist));
            inertia.momentum(acceleration).plus(&gyroscopic)
        })
        .collect();
    for ((f, (force, torque)), center) in forces.iter_mut().zip(&load.wrenches).zip(&at.centers) {
        *f = f.minus(&SpatialForce::at(*force, *torque, &at.arm(center)));
    }
    let mut tau = at.project(model, &mut forces);
    for (i, link) in model.links().iter().enumerate() {
        for (k, armature) in model.joint_dofs(i).zip(link.joint.armature) {
            tau[k] += armature * a[k];
        }
    }
    tau
}

/// `c(q, v)`: gyroscopic and centrifugal forces, minus gravity and wrenches.
pub fn bias<T: Scalar>(
    model: &ArticulatedModel<T>,
    at: &TreeKinematics<T>,
    v: &[T],
    load: &Load<T>,
) -> Vec<T> {
    inverse_dynamics(model, at, v, &vec![T::zero(); model.dofs()], load)
}

/// `a = H⁻¹ (τ − c)`.
///
/// # Errors
/// Where the mass matrix is not positive definite.
pub fn forward_dynamics<T: Scalar>(
    model: &ArticulatedModel<T>,
    at: &TreeKinematics<T>,
    v: &[T],
    tau: &[T],
    load: &Load<T>,
) -> Result<Vec<T>, ModelError> {
    let factor = MassFactor::new(model, mass_matrix(model, at))?;
    let mut a: Vec<T> = tau.iter().zip(bias(model, at, v, load)).map(|(t, c)| *t - c).collect();
    factor.solve(&mut a);
    Ok(a)
}

#[cfg(test)]
#[path = "dynamics_tests.rs"]
mod tests;
