//! Where the links of a tree are and how they move with each degree of freedom.

use super::joint::compose;
use super::model::ArticulatedModel;
use super::{Configuration, JointKind, JointPosition, SpatialForce, Twist};
use nalgebra::{DMatrix, Matrix3, Vector3};
use osculate_math::se3::Pose;
use osculate_math::{Scalar, mat3, norm::scale, real};

/// Poses and motion columns of a tree at one configuration.
///
/// Twists are about the world point `reference`: the position of the first link, so that numbers stay small far away
/// from the origin. It is a constant of every derivative, and differs between configurations.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeKinematics<T = f64> {
    /// The point that twists refer to \[m\], world.
    pub reference: Vector3<f64>,
    /// World pose of each link's frame.
    pub links: Vec<Pose<T>>,
    /// Centre of mass of each link \[m\], world.
    pub centers: Vec<Vector3<T>>,
    /// World pose of each link's joint frame, before the motion of the joint.
    pub joints: Vec<Pose<T>>,
    /// `S_k`: the twist of everything that degree of freedom `k` moves, at unit speed.
    pub columns: Vec<Twist<T>>,
}

impl<T: Scalar> TreeKinematics<T> {
    /// Of a model at a configuration of it.
    pub fn new(model: &ArticulatedModel<T>, q: &Configuration<T>) -> Self {
        let n = model.links().len();
        let mut out = Self {
            reference: Vector3::zeros(),
            links: Vec::with_capacity(n),
            centers: Vec::with_capacity(n),
            joints: Vec::with_capacity(n),
            columns: Vec::with_capacity(model.dofs()),
        };
        for (link, position) in model.links().iter().zip(q.joints()) {
            let joint = match link.parent {
                Some(p) => compose(&out.links[p], &link.joint.placement),
                None => link.joint.placement,
            };
            let moved = compose(&joint, &link.joint.kind.motion(position));
            let pose = compose(&moved, &link.joint.offset);
            if out.links.is_empty() {
                out.reference = real(&pose.position);
            }
            out.push_columns(&joint, &link.joint.kind, position);
            out.centers.push(pose.position + mat3::apply(&pose.rotation, &link.inertia.center));
            out.links.push(pose);
            out.joints.push(joint);
        }
        out
    }

    /// `point` seen from the reference.
    #[inline]
    pub fn arm(&self, point: &Vector3<T>) -> Vector3<T> {
        point - self.reference.map(T::from)
    }

    fn push_columns(&mut self, joint: &Pose<T>, kind: &JointKind<T>, position: &JointPosition<T>) {
        let axis = |k: usize| joint.rotation.column(k).into_owned();
        let arm = self.arm(&joint.position);
        let translation = |linear| Twist { angular: Vector3::zeros(), linear };
        match kind {
            JointKind::Free => {
                let p = match position {
                    JointPosition::Pose(x) => mat3::apply(&joint.rotation, &x.position),
                    _ => Vector3::zeros(),
                };
                self.columns.extend((0..3).map(|k| translation(axis(k))));
                self.columns.extend((0..3).map(|k| Twist::rotation(axis(k), &(arm + p))));
            }
            JointKind::Spherical => {
                self.columns.extend((0..3).map(|k| Twist::rotation(axis(k), &arm)));
            }
            JointKind::Revolute { axis } => {
                self.columns.push(Twist::rotation(mat3::apply(&joint.rotation, axis), &arm));
            }
            JointKind::Prismatic { axis } => {
                self.columns.push(translation(mat3::apply(&joint.rotation, axis)));
            }
            JointKind::Fixed => {}
        }
    }

    /// Velocity of the material point `point` \[m, world\] at unit speed of degree of freedom `k`, as if its link
    /// were moved by `k`.
    #[inline]
    pub fn point_column(&self, k: usize, point: &Vector3<T>) -> Vector3<T> {
        self.columns[k].at(&self.arm(point))
    }

    /// Column `k` at the centre of mass of link `i`: `(velocity of the centre, angular velocity)`.
    ///
    /// Together with [`ArticulatedModel::support`] this is the 6 × n Jacobian of the link, which has no other
    /// columns.
    #[inline]
    pub fn center_column(&self, i: usize, k: usize) -> (Vector3<T>, Vector3<T>) {
        (self.point_column(k, &self.centers[i]), self.columns[k].angular)
    }

    /// `∂S_k/∂q_j` along the increment of `j`: `ad(S_j) S_k` where `j` carries the axis of `k`, else zero.
    ///
    /// This is the derivative of the column, taken one after the other; for two axes of one spherical joint the
    /// increments do not commute, and the second derivative of the pose along `exp(δ) R` is the symmetric half.
    pub fn column_derivative(&self, model: &ArticulatedModel<T>, k: usize, j: usize) -> Twist<T> {
        if model.carries(j, k) { self.columns[j].cross(&self.columns[k]) } else { Twist::zero() }
    }

    /// `V_i = Σ S_k v_k`: the twist of each link.
    pub fn twists(&self, model: &ArticulatedModel<T>, v: &[T]) -> Vec<Twist<T>> {
        let mut out: Vec<Twist<T>> = Vec::with_capacity(self.links.len());
        for (i, link) in model.links().iter().enumerate() {
            let start = link.parent.map_or_else(Twist::zero, |p| out[p]);
            out.push(model.joint_dofs(i).fold(start, |sum, k| sum.plus(&self.columns[k], v[k])));
        }
        out
    }

    /// Velocity of the centre of mass \[m/s\] and angular velocity \[rad/s\] of each link, world axes.
    pub fn center_velocities(
        &self,
        model: &ArticulatedModel<T>,
        v: &[T],
    ) -> Vec<(Vector3<T>, Vector3<T>)> {
        let twists = self.twists(model, v);
        twists.iter().zip(&self.centers).map(|(t, c)| (t.at(&self.arm(c)), t.angular)).collect()
    }

    /// `Jᵀ w`: generalised forces of one force and torque a link, at its centre of mass, world axes.
    ///
    /// # Panics
    /// Where there is not one wrench a link.
    pub fn generalised_forces(
        &self,
        model: &ArticulatedModel<T>,
        wrenches: &[(Vector3<T>, Vector3<T>)],
    ) -> Vec<T> {
        assert_eq!(wrenches.len(), self.links.len(), "one wrench a link");
        let mut carried: Vec<SpatialForce<T>> = wrenches
            .iter()
            .zip(&self.centers)
            .map(|((force, torque), c)| SpatialForce::at(*force, *torque, &self.arm(c)))
            .collect();
        self.project(model, &mut carried)
    }

    /// Sums forces over the links that each joint carries and projects them on its columns.
    pub(super) fn project(
        &self,
        model: &ArticulatedModel<T>,
        carried: &mut [SpatialForce<T>],
    ) -> Vec<T> {
        let mut out = vec![T::zero(); model.dofs()];
        for (i, link) in model.links().iter().enumerate().rev() {
            for k in model.joint_dofs(i) {
                out[k] = self.columns[k].dot(&carried[i]);
            }
            if let Some(p) = link.parent {
                carried[p] = carried[p].plus(&carried[i]);
            }
        }
        out
    }

    /// `∂(Jᵀ w)_k/∂q_j` with the wrenches held constant: what the motion of the axes and of the centres of mass
    /// adds to the stiffness of a tree. Not symmetric in general: torques have no potential on rotations.
    ///
    /// Wrenches are forces and torques at the centres of mass, world axes. A force that is held constant moves
    /// along with the centre of mass it acts at.
    ///
    /// # Panics
    /// Where there is not one wrench a link.
    pub fn geometric_stiffness(
        &self,
        model: &ArticulatedModel<T>,
        wrenches: &[(Vector3<T>, Vector3<T>)],
    ) -> DMatrix<T> {
        assert_eq!(wrenches.len(), self.links.len(), "one wrench a link");
        let n = model.dofs();
        let mut out = DMatrix::from_element(n, n, T::zero());
        let mut carried = Vec::with_capacity(wrenches.len());
        let mut spread = Vec::with_capacity(wrenches.len());
        for ((force, torque), c) in wrenches.iter().zip(&self.centers) {
            let arm = self.arm(c);
            carried.push(SpatialForce::at(*force, *torque, &arm));
            spread.push(Matrix3::from_fn(|i, j| force[i] * arm[j]));
        }
        for (i, link) in model.links().iter().enumerate().rev() {
            for k in model.joint_dofs(i) {
                for &j in model.support(i) {
                    out[(k, j)] = self.stiffness_entry(model, (k, j), &carried[i], &spread[i]);
                    if model.link_of(j) != i {
                        out[(j, k)] = self.stiffness_entry(model, (j, k), &carried[i], &spread[i]);
                    }
                }
            }
            if let Some(p) = link.parent {
                carried[p] = carried[p].plus(&carried[i]);
                spread[p] = spread[p] + spread[i];
            }
        }
        out
    }

    /// `Σ w·∂(S_k at the centre)/∂q_j` over the links that both move: the motion of the column, and that of the
    /// centre, `f·(ω_k × (v_j + ω_j × r)) = f·(ω_k × v_j) + ω_j·(f rᵀ) ω_k − (f·r) ω_j·ω_k`.
    fn stiffness_entry(
        &self,
        model: &ArticulatedModel<T>,
        (k, j): (usize, usize),
        carried: &SpatialForce<T>,
        spread: &Matrix3<T>,
    ) -> T {
        let (a, b) = (&self.columns[k], &self.columns[j]);
        let column = self.column_derivative(model, k, j).dot(carried);
        let center = carried.force.dot(&a.angular.cross(&b.linear))
            + b.angular.dot(&mat3::apply(spread, &a.angular))
            - b.angular.dot(&scale(&a.angular, spread.trace()));
        column + center
    }
}

#[cfg(test)]
#[path = "kinematics_tests.rs"]
mod tests;
