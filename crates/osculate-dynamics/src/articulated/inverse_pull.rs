//! Pullback of inverse dynamics: the derivatives of `P = u·(H a + c)` by everything it depends on, in two passes over the tree.
//!
//! ```text
//! P      = Σ U_i·(I_i A_i + V_i ×* I_i V_i) + Σ armature u a,   U, V, A twists of the links at u, v and accelerations at a
//! m      = I U,   V̄ = −U ×* I V − I (V × U),   X = V ×* m
//! ∂P/∂S  = −U_b ×* ΣF − A_b ×* Σm − V_b ×* (ΣV̄ + ΣX − V_b ×* Σm)          sums over the links that S carries
//! ∂P/∂q_j = S_j·∂P/∂S,   ∂P/∂v_j = S_j·(ΣV̄ + ΣX − (W_j + V_b) ×* Σm),   ∂P/∂a_j = S_j·Σm
//! ```
//!
//! `S` is a rigid motion of all that lies beyond a frame, columns included; `b` are the motions of what carries the frame and does
//! not move along. If they were carried along too, `P` would not change: only the deviations `−S × U_b`, `−S × V_b` and
//! `−S × A_b − (S × V_b) × (V_i − V_b)` are left. Joint placements and offsets are such frames as joint coordinates are.
//!
//! Gravity is in `A`; wrenches on links are not in `P`: they are a power of their own.

use super::dynamics::{inertias, motions};
use super::kinematics::TreeKinematics;
use super::model::ArticulatedModel;
use super::spatial::SpatialInertia;
use super::{JointKind, SpatialForce, Twist};
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Scalar, mat3, norm::scale};

/// Derivatives of `u·(H a + c)`.
#[derive(Clone, Debug)]
pub(crate) struct InverseBar<T = f64> {
    /// By increments of the joint coordinates, by velocities and by accelerations.
    pub(crate) position: Vec<T>,
    pub(crate) velocity: Vec<T>,
    pub(crate) acceleration: Vec<T>,
    /// By a twist of the joint frame of each link with all beyond, and of the link itself with all beyond.
    pub(crate) placements: Vec<SpatialForce<T>>,
    pub(crate) offsets: Vec<SpatialForce<T>>,
    /// By mass, centre of mass (link axes) and entries of the inertia of each link.
    pub(crate) masses: Vec<T>,
    pub(crate) centers: Vec<Vector3<T>>,
    pub(crate) inertias: Vec<Matrix3<T>>,
    pub(crate) gravity: Vector3<T>,
    /// By the armature of each degree of freedom.
    pub(crate) armature: Vec<T>,
}

/// Motions of a frame: at `u`, `v` and `a`.
#[derive(Clone, Copy)]
struct Fields<T> {
    u: Twist<T>,
    v: Twist<T>,
    a: Twist<T>,
}

/// Sums over the links beyond a frame.
#[derive(Clone, Copy)]
struct Sums<T> {
    force: SpatialForce<T>,
    momentum: SpatialForce<T>,
    /// `V̄ + X`.
    velocity: SpatialForce<T>,
}

impl<T: Scalar> Sums<T> {
    fn of(inertia: &SpatialInertia<T>, f: &Fields<T>) -> Self {
        let (by_v, m) = (inertia.momentum(&f.v), inertia.momentum(&f.u));
        let force = inertia.momentum(&f.a).plus(&f.v.cross_force(&by_v));
        let bar = f.u.cross_force(&by_v).plus(&inertia.momentum(&f.v.cross(&f.u)));
        Self { force, momentum: m, velocity: f.v.cross_force(&m).minus(&bar) }
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            force: self.force.plus(&other.force),
            momentum: self.momentum.plus(&other.momentum),
            velocity: self.velocity.plus(&other.velocity),
        }
    }

    /// `∂P/∂S` with the frame carried by `b`.
    fn by_motion(&self, b: &Fields<T>) -> SpatialForce<T> {
        let inner = self.velocity.minus(&b.v.cross_force(&self.momentum));
        let sum = b.u.cross_force(&self.force).plus(&b.a.cross_force(&self.momentum));
        SpatialForce::zero().minus(&sum.plus(&b.v.cross_force(&inner)))
    }
}

/// Derivatives of `u·(H a + c)` at a point of a tree, without wrenches.
///
/// # Panics
/// Where a list has not one entry a degree of freedom.
pub(crate) fn pull_inverse_dynamics<T: Scalar>(
    model: &ArticulatedModel<T>,
    at: &TreeKinematics<T>,
    (v, a): (&[T], &[T]),
    u: &[T],
    gravity: &Vector3<T>,
) -> InverseBar<T> {
    let (n, links) = (model.dofs(), model.links().len());
    let tests = at.twists(model, u);
    let fields: Vec<Fields<T>> = motions(model, at, (v, a), gravity)
        .iter()
        .zip(tests)
        .map(|((v, a), u)| Fields { u, v: *v, a: *a })
        .collect();
    let world = Fields {
        u: Twist::zero(),
        v: Twist::zero(),
        a: Twist { angular: Vector3::zeros(), linear: -*gravity },
    };
    let mut out = InverseBar {
        position: vec![T::zero(); n],
        velocity: vec![T::zero(); n],
        acceleration: vec![T::zero(); n],
        placements: vec![SpatialForce::zero(); links],
        offsets: vec![SpatialForce::zero(); links],
        masses: Vec::with_capacity(links),
        centers: Vec::with_capacity(links),
        inertias: Vec::with_capacity(links),
        gravity: Vector3::zeros(),
        armature: (0..n).map(|k| u[k] * a[k]).collect(),
    };
    let own: Vec<SpatialInertia<T>> = inertias(model, at);
    let mut sums: Vec<Sums<T>> = own.iter().zip(&fields).map(|(i, f)| Sums::of(i, f)).collect();
    for (i, link) in model.links().iter().enumerate().rev() {
        let parent = link.parent.map_or(world, |p| fields[p]);
        out.offsets[i] = sums[i].by_motion(&fields[i]);
        out.placements[i] = sums[i].by_motion(&parent);
        let moved = after_translation(model, at, (i, &parent), (u, v, a));
        for (place, k) in model.joint_dofs(i).enumerate() {
            // What carries the axis, and what is not carried by it.
            let free = matches!(link.joint.kind, JointKind::Free);
            let (carrier, base) = match place {
                0..3 if free => (&parent, &moved),
                _ if free => (&moved, &fields[i]),
                _ => (&parent, &fields[i]),
            };
            let column = &at.columns[k];
            out.position[k] = column.dot(&sums[i].by_motion(base));
            let turn = carrier.v.plus(&base.v, T::one()).cross_force(&sums[i].momentum);
            out.velocity[k] = column.dot(&sums[i].velocity.minus(&turn));
            out.acceleration[k] = column.dot(&sums[i].momentum) + link.joint.armature[place] * u[k];
        }
        match link.parent {
            Some(p) => sums[p] = sums[p].plus(&sums[i]),
            None => out.gravity -= sums[i].momentum.force,
        }
    }
    for (i, f) in fields.iter().enumerate() {
        pull_inertia(model, at, i, f, &mut out);
    }
    out
}

/// Motions of the frame behind the translations of a free joint; of another joint those of its parent.
fn after_translation<T: Scalar>(
    model: &ArticulatedModel<T>,
    at: &TreeKinematics<T>,
    (i, parent): (usize, &Fields<T>),
    (u, v, a): (&[T], &[T], &[T]),
) -> Fields<T> {
    let mut out = *parent;
    if matches!(model.links()[i].joint.kind, JointKind::Free) {
        for k in model.joint_dofs(i).take(3) {
            let column = &at.columns[k];
            out.u = out.u.plus(column, u[k]);
            out.v = out.v.plus(column, v[k]);
            out.a = out.a.plus(column, a[k]).plus(&parent.v.cross(column), v[k]);
        }
    }
    out
}

/// `P = m (u·A − n·V) + ω_U·J ω_A − ω_N·J ω_V` of a link, `N = V × U`, velocities at the centre of mass.
fn pull_inertia<T: Scalar>(
    model: &ArticulatedModel<T>,
    at: &TreeKinematics<T>,
    i: usize,
    f: &Fields<T>,
    out: &mut InverseBar<T>,
) {
    let (arm, r) = (at.arm(&at.centers[i]), &at.links[i].rotation);
    let cross = f.v.cross(&f.u);
    let [u, a, n, v] = [&f.u, &f.a, &cross, &f.v].map(|x| (x.at(&arm), x.angular));
    out.masses.push(u.0.dot(&a.0) - n.0.dot(&v.0));
    let by_center = a.0.cross(&u.1) + u.0.cross(&a.1) - v.0.cross(&n.1) - n.0.cross(&v.1);
    let mass = model.links()[i].inertia.mass;
    out.centers.push(mat3::apply_transposed(r, &scale(&by_center, mass)));
    let [u, a, n, v] = [u.1, a.1, n.1, v.1].map(|x| mat3::apply_transposed(r, &x));
    out.inertias.push(Matrix3::from_fn(|j, k| u[j] * a[k] - n[j] * v[k]));
}

#[cfg(test)]
mod tests {
    use super::super::dynamics_derivatives::{
        TreeParameter, TreePoint, inverse_by_parameters, inverse_derivatives,
    };
    use super::super::test_models::{configuration, tree, values, vector};
    use super::super::{Load, inverse_dynamics, mass_matrix};
    use super::*;

    fn close(found: f64, expected: f64, what: &str) {
        assert!(
            (found - expected).abs() < 1e-11 * expected.abs().max(10.0),
            "{what}: {found} {expected}"
        );
    }

    #[test]
    fn pullback_is_the_transpose_of_the_derivatives_by_jets() {
        let model = tree();
        let n = model.dofs();
        let (q, v, a) = (configuration(&model, 1), values(n, 2), values(n, 3));
        let (u, load) = (values(n, 4), Load::gravity(vector(9) * 5.0));
        let at = TreeKinematics::new(&model, &q);
        let bar = pull_inverse_dynamics(&model, &at, (&v, &a), &u, &load.gravity);
        let point = TreePoint { model: &model, q: &q, v: &v, load: &load };
        let by = inverse_derivatives(point, &a);
        let h = mass_matrix(&model, &at);
        let test = nalgebra::DVector::from(u.clone());
        for k in 0..n {
            close(bar.position[k], by.by_position.column(k).dot(&test), &format!("q{k}"));
            close(bar.velocity[k], by.by_velocity.column(k).dot(&test), &format!("v{k}"));
            close(bar.acceleration[k], h.column(k).dot(&test), &format!("a{k}"));
        }
        let mut parameters = Vec::new();
        let mut found = Vec::new();
        for (i, link) in model.links().iter().enumerate() {
            parameters.push(TreeParameter::Mass { link: i });
            found.push(bar.masses[i]);
            let base = link.parent.map_or_else(Matrix3::identity, |p| at.links[p].rotation);
            let arm = at.arm(&at.joints[i].position);
            let twist = &bar.placements[i];
            let moment = base.tr_mul(&(twist.moment - arm.cross(&twist.force)));
            let force = base.tr_mul(&twist.force);
            for axis in 0..3 {
                parameters.push(TreeParameter::Center { link: i, axis });
                found.push(bar.centers[i][axis]);
                parameters.push(TreeParameter::JointPosition { link: i, axis });
                found.push(force[axis]);
                parameters.push(TreeParameter::JointRotation { link: i, axis });
                found.push(moment[axis]);
                parameters.push(TreeParameter::Inertia { link: i, row: axis, column: axis });
                found.push(bar.inertias[i][(axis, axis)]);
                let column = (axis + 1) % 3;
                parameters.push(TreeParameter::Inertia { link: i, row: axis, column });
                found.push(bar.inertias[i][(axis, column)] + bar.inertias[i][(column, axis)]);
            }
        }
        for k in 0..n {
            parameters.push(TreeParameter::Armature { dof: k });
            found.push(bar.armature[k]);
        }
        for axis in 0..3 {
            parameters.push(TreeParameter::Gravity { axis });
            found.push(bar.gravity[axis]);
        }
        let exact = inverse_by_parameters(point, &a, &parameters);
        for (k, p) in parameters.iter().enumerate() {
            close(found[k], exact.column(k).dot(&test), &format!("{p:?}"));
        }
    }

    #[test]
    fn pullback_by_offsets_is_that_of_jets() {
        use osculate_math::Jet;
        let model = tree();
        let n = model.dofs();
        let (q, v, a) = (configuration(&model, 1), values(n, 2), values(n, 3));
        let (u, gravity) = (values(n, 4), vector(9) * 5.0);
        let at = TreeKinematics::new(&model, &q);
        let bar = pull_inverse_dynamics(&model, &at, (&v, &a), &u, &gravity);
        let up = |x: &[f64]| x.iter().map(|&x| Jet::<6>::constant(x)).collect::<Vec<_>>();
        for (i, link) in model.links().iter().enumerate() {
            let mut lifted = model.lift::<Jet<6>>();
            let seed = |k: usize| Vector3::from_fn(|c, _| Jet::variable(0.0, k + c));
            let offset = lifted.offset_mut(i);
            *offset = offset.incremented(&seed(0), &seed(3));
            let there = TreeKinematics::new(&lifted, &q.lift());
            let load = Load::gravity(gravity.map(Jet::constant));
            let tau = inverse_dynamics(&lifted, &there, &up(&v), &up(&a), &load);
            let socket = at.links[i].rotation * link.joint.offset.rotation.transpose();
            let arm = at.arm(&at.links[i].position);
            let twist = &bar.offsets[i];
            let found = [
                socket.tr_mul(&twist.force),
                socket.tr_mul(&(twist.moment - arm.cross(&twist.force))),
            ];
            for k in 0..6 {
                let exact: f64 = tau.iter().zip(&u).map(|(t, u)| t.eps[k] * u).sum();
                close(found[k / 3][k % 3], exact, &format!("offset {i} {k}"));
            }
        }
    }
}
