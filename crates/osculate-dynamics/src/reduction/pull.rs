//! The adjoint of forward kinematics: cotangents of poses and of powers, to joint coordinates, placements and centres of mass.
//!
//! A placement has six increments, each a twist `S` that carries the joint, its axis and everything beyond. With cotangents
//! `x̄` of the poses and the power `P = Σ w_i·(J_i u)`,
//!
//! ```text
//! x̄·∂x + ∂P = S·Σ [x̄_i + (U_i − U_p) ×* w_i + at(f_i × ω_i)],   U_i = Σ S_k u_k, over the links beyond; U_p of the parent
//! ```
//!
//! so that one sum over each subtree gives all of them. An offset carries the link and what is beyond, not the own axis: `U_p`
//! is then that of the link itself.

use super::closure::ClosureBar;
use super::joint_terms::{NUMBER_COUNT, TermsBar};
use super::{Pair, Reduction};
use crate::articulated::{JointKind, SpatialForce, TreeKinematics, Twist};
use crate::state::StateBar;
use crate::system::Stage;
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Scalar, mat3};

/// Cotangents of everything that articulated bodies are made of, beside the numbers of their bodies.
#[derive(Clone, Debug)]
pub(crate) struct TreeBar<T> {
    /// By position and rotation (an increment on the left) of each joint's frame in its parent.
    pub(crate) placements: Vec<[T; 6]>,
    /// By those of each link's frame in the moved joint frame.
    pub(crate) offsets: Vec<[T; 6]>,
    /// By the centre of mass of each link, link axes.
    pub(crate) centers: Vec<Vector3<T>>,
    pub(crate) terms: TermsBar<T>,
    pub(crate) closures: Vec<ClosureBar<T>>,
}

impl<T: Scalar> TreeBar<T> {
    /// * `efforts`, `targets`: how many there are.
    pub(crate) fn zero(reduction: &Reduction<T>, efforts: usize, targets: usize) -> Self {
        let n = reduction.bodies.len();
        Self {
            placements: vec![[T::zero(); 6]; n],
            offsets: vec![[T::zero(); 6]; n],
            centers: vec![Vector3::zeros(); n],
            terms: TermsBar {
                numbers: vec![[T::zero(); NUMBER_COUNT]; n],
                efforts: vec![T::zero(); efforts],
                targets: vec![T::zero(); targets],
            },
            closures: vec![ClosureBar::zero(); reduction.model.closures().len()],
        }
    }
}

/// The motion of what carries a frame and does not move along, of the power with that index, from the motions of all links.
type Base<'a, T> = dyn Fn(usize, &[Twist<T>]) -> Twist<T> + 'a;

/// A power `Σ w_i·(J_i u)`.
#[derive(Clone, Copy)]
pub(crate) struct Power<'a, T> {
    /// Velocity of each degree of freedom.
    pub(crate) rates: &'a [T],
    /// Force and torque at the centre of mass of each link.
    pub(crate) wrenches: &'a [Pair<T>],
}

/// Adds a force and its moment about a point, seen from a frame.
fn add_to<T: Scalar>(
    bar: &mut [T; 6],
    frame: &Matrix3<T>,
    arm: &Vector3<T>,
    force: &SpatialForce<T>,
) {
    let moment = force.moment - arm.cross(&force.force);
    let (f, m) =
        (mat3::apply_transposed(frame, &force.force), mat3::apply_transposed(frame, &moment));
    for k in 0..3 {
        bar[k] += f[k];
        bar[3 + k] += m[k];
    }
}

impl<T: Scalar> Reduction<T> {
    /// Adds `x̄·∂x + ∂P` by placements, offsets and centres.
    pub(crate) fn pull_frames(
        &self,
        kinematics: &TreeKinematics<T>,
        poses: &[Pair<T>],
        power: Power<'_, T>,
        bars: &mut TreeBar<T>,
    ) {
        let links = self.model.links();
        let twists = kinematics.twists(&self.model, power.rates);
        let none = SpatialForce::zero();
        let (mut carried, mut moved) = (vec![none; links.len()], vec![none; links.len()]);
        for (i, link) in links.iter().enumerate().rev() {
            let (pose, frame) = (&poses[i], &kinematics.links[i]);
            let arm = kinematics.arm(&kinematics.centers[i]);
            let (force, torque) = power.wrenches[i];
            let wrench = SpatialForce::at(force, torque, &arm);
            let at_center = pose.0 + force.cross(&twists[i].angular);
            bars.centers[i] += mat3::apply_transposed(&frame.rotation, &at_center);
            let own = SpatialForce::at(at_center, pose.1, &arm);
            moved[i] = moved[i].plus(&own).plus(&twists[i].cross_force(&wrench));
            carried[i] = carried[i].plus(&wrench);
            let beyond = |base: &Twist<T>| moved[i].minus(&base.cross_force(&carried[i]));
            let base = link.parent.map_or_else(Twist::zero, |p| twists[p]);
            let by = (&beyond(&base), &beyond(&twists[i]));
            self.add_frames(kinematics, i, by, bars);
            if let Some(p) = link.parent {
                moved[p] = moved[p].plus(&moved[i]);
                carried[p] = carried[p].plus(&carried[i]);
            }
        }
    }

    /// As [`Reduction::pull_frames`] of several powers at once, and by joint coordinates.
    ///
    /// * `poses`: one a link, or none.
    pub(crate) fn pull_motions(
        &self,
        kinematics: &TreeKinematics<T>,
        poses: &[Pair<T>],
        powers: &[Power<'_, T>],
        (position, bars): (&mut [T], &mut TreeBar<T>),
    ) {
        let links = self.model.links();
        let none = SpatialForce::zero();
        let mut moved = vec![none; links.len()];
        let mut fields: Vec<_> = powers
            .iter()
            .map(|p| (kinematics.twists(&self.model, p.rates), vec![none; links.len()]))
            .collect();
        for (i, link) in links.iter().enumerate().rev() {
            let arm = kinematics.arm(&kinematics.centers[i]);
            let (mut at_center, torque) =
                poses.get(i).copied().unwrap_or_else(|| (Vector3::zeros(), Vector3::zeros()));
            for (power, (twists, carried)) in powers.iter().zip(&mut fields) {
                let (force, torque) = power.wrenches[i];
                let wrench = SpatialForce::at(force, torque, &arm);
                at_center += force.cross(&twists[i].angular);
                moved[i] = moved[i].plus(&twists[i].cross_force(&wrench));
                carried[i] = carried[i].plus(&wrench);
            }
            let rotation = &kinematics.links[i].rotation;
            bars.centers[i] += mat3::apply_transposed(rotation, &at_center);
            moved[i] = moved[i].plus(&SpatialForce::at(at_center, torque, &arm));
            // What is left where the carriers of a frame do not move along, as motions of the carriers.
            let beyond = |base: &Base<'_, T>| {
                let each = fields.iter().enumerate();
                each.fold(moved[i], |sum, (f, (twists, carried))| {
                    sum.minus(&base(f, twists).cross_force(&carried[i]))
                })
            };
            let parent = |twists: &[Twist<T>]| link.parent.map_or_else(Twist::zero, |p| twists[p]);
            let (whole, own) = (beyond(&|_, t| parent(t)), beyond(&|_, t| t[i]));
            self.add_frames(kinematics, i, (&whole, &own), bars);
            let dofs = self.model.joint_dofs(i);
            let free = matches!(link.joint.kind, JointKind::Free);
            for (place, k) in dofs.clone().enumerate() {
                let by = if free && place < 3 {
                    // Its rotations are carried by its translations.
                    beyond(&|f, t| {
                        dofs.clone().take(3).fold(parent(t), |sum, j| {
                            sum.plus(&kinematics.columns[j], powers[f].rates[j])
                        })
                    })
                } else {
                    own
                };
                position[k] += kinematics.columns[k].dot(&by);
            }
            if let Some(p) = link.parent {
                moved[p] = moved[p].plus(&moved[i]);
                for (_, carried) in &mut fields {
                    carried[p] = carried[p].plus(&carried[i]);
                }
            }
        }
    }

    /// Adds derivatives by a twist of the joint frame of a link with all beyond, and of the link itself with all beyond, to those by
    /// its placement and its offset.
    pub(crate) fn add_frames(
        &self,
        kinematics: &TreeKinematics<T>,
        i: usize,
        (placement, offset): (&SpatialForce<T>, &SpatialForce<T>),
        bars: &mut TreeBar<T>,
    ) {
        let (link, frame) = (&self.model.links()[i], &kinematics.links[i]);
        let socket = mat3::mul_transposed(&frame.rotation, &link.joint.offset.rotation);
        let arm = kinematics.arm(&frame.position);
        add_to(&mut bars.offsets[i], &socket, &arm, offset);
        let base = link.parent.map_or_else(Matrix3::identity, |p| kinematics.links[p].rotation);
        let arm = kinematics.arm(&kinematics.joints[i].position);
        add_to(&mut bars.placements[i], &base, &arm, placement);
    }

    /// Takes the cotangents of the links' poses out of those of all bodies and adds them to joint coordinates and frames.
    pub(crate) fn pull_poses(
        &self,
        kinematics: &TreeKinematics<T>,
        states: &mut [StateBar<T>],
        position: &mut [T],
        bars: &mut TreeBar<T>,
    ) {
        let mut poses = Vec::with_capacity(self.bodies.len());
        for &body in &self.bodies {
            let bar = &mut states[body];
            poses.push((bar.center, bar.rotation));
            (bar.center, bar.rotation) = (Vector3::zeros(), Vector3::zeros());
        }
        let forces = kinematics.generalised_forces(&self.model, &poses);
        position.iter_mut().zip(forces).for_each(|(x, f)| *x += f);
        let still = vec![T::zero(); self.model.dofs()];
        let none = vec![(Vector3::zeros(), Vector3::zeros()); self.bodies.len()];
        self.pull_frames(kinematics, &poses, Power { rates: &still, wrenches: &none }, bars);
    }

    /// Adds `∂P` by joint coordinates: `(∂(Jᵀ w)/∂q)ᵀ u`.
    pub(crate) fn pull_power(
        &self,
        kinematics: &TreeKinematics<T>,
        power: Power<'_, T>,
        position: &mut [T],
    ) {
        let turning = kinematics.geometric_stiffness(&self.model, power.wrenches);
        for (j, x) in position.iter_mut().enumerate() {
            for (k, &u) in power.rates.iter().enumerate() {
                *x += turning[(k, j)] * u;
            }
        }
    }

    /// The part of the adjoint of a stage that bodies alone do not have: subtracts `∂(r_q·λ_q)/∂` of what the links' poses, the
    /// columns `J` and the laws of the joints are made of, at fixed joint coordinates.
    ///
    /// * `lambda`: `λ_q` and `J λ_q`.
    /// * `ends`: cotangents of the links' poses at the end of the stage.
    /// * `step`: first entry of the step among efforts and targets.
    pub(crate) fn pull_stage(
        &self,
        stage: &Stage<'_, T>,
        lambda: (&[T], &[T]),
        (ends, force): (Vec<Pair<T>>, StageForce<'_, T>),
        (start_bars, start_position, start_rate): (&mut [StateBar<T>], &mut [T], &mut [T]),
        (bars, step): (&mut TreeBar<T>, usize),
    ) {
        let Some(joints) = &stage.joints else { return };
        let kinematics = self.kinematics(joints.now);
        let rates: Vec<T> = lambda.0[self.first_dof..].iter().map(|&x| -x).collect();
        let by_matrix = force.matrix.transposed_times(lambda.1);
        let by_matrix = self.wrenches(&by_matrix);
        let poses = ends.iter().zip(&by_matrix).map(|(a, b)| (a.0 - b.0, a.1 - b.1));
        let poses: Vec<Pair<T>> = poses.collect();
        let wrenches = self.wrenches(force.residual);
        let power = Power { rates: &rates, wrenches: &wrenches };
        self.pull_frames(&kinematics, &poses, power, bars);
        let duration = stage.duration;
        let start = (start_position, start_rate);
        self.pull_joints((joints, duration), &rates, start, &mut bars.terms, step);
        let at = (bars.closures.as_mut_slice(), bars.centers.as_mut_slice());
        self.pull_closures(stage, lambda.1, start_bars, at);
    }
}

/// Residual and matrix of all bodies at the end of a stage.
#[derive(Clone, Copy)]
pub(crate) struct StageForce<'a, T> {
    pub(crate) residual: &'a [T],
    pub(crate) matrix: &'a super::matrix::LinkMatrix<T>,
}
