//! Joint coordinates as state and as parameters.

use super::Articulation;
use crate::SceneError;
use crate::articulated::{ArticulatedModel, Configuration, JointPosition};
use nalgebra::{Matrix3, Vector3};
use osculate_math::{Scalar, mat3, so3};

/// Positions and velocities of all joints.
#[derive(Clone, Debug, PartialEq)]
pub struct JointState<T = f64> {
    /// Positions, in the order of the links of the model.
    pub configuration: Configuration<T>,
    /// Velocity of each degree of freedom \[rad/s or m/s\], in the joint frame.
    pub rates: Vec<T>,
}

/// The numbers of the joints of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct ArticulationParameters<T = f64> {
    /// Joints and closures. Mass properties of links are those of their bodies; what stands here is not read.
    pub model: ArticulatedModel<T>,
    /// Positions and velocities at the start.
    pub initial: JointState<T>,
    /// Generalised forces, `efforts[step * dofs + k]` \[N m or N\]; empty for none.
    pub efforts: Vec<T>,
    /// Targets of drives, `targets[step * dofs + k]` \[rad or m\]; empty for the constant ones of the drives.
    pub targets: Vec<T>,
}

/// Cotangent of a [`JointState`]: of increments of the positions, and of the velocities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JointBar<T> {
    pub(crate) position: Vec<T>,
    pub(crate) rate: Vec<T>,
}

impl ArticulationParameters {
    /// The numbers of an articulation, without efforts and targets of steps.
    pub(crate) fn of(articulation: &Articulation) -> Self {
        Self {
            model: articulation.model().clone(),
            initial: articulation.initial.clone(),
            efforts: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// The same numbers as constants of another scalar.
    pub(crate) fn lift<T: Scalar>(&self) -> ArticulationParameters<T> {
        ArticulationParameters {
            model: self.model.lift(),
            initial: self.initial.lift(),
            efforts: self.efforts.iter().map(|&x| T::from(x)).collect(),
            targets: self.targets.iter().map(|&x| T::from(x)).collect(),
        }
    }
}

impl<T: Scalar> ArticulationParameters<T> {
    /// Checks that the numbers are those of an articulation.
    pub(crate) fn check(&self, of: &Articulation) -> Result<(), SceneError> {
        let counts = [
            ("links of the parameters", self.model.links().len(), of.bodies().len()),
            ("degrees of freedom of the parameters", self.model.dofs(), of.model().dofs()),
            ("initial joint positions", self.initial.configuration.dofs(), of.model().dofs()),
            ("initial joint velocities", self.initial.rates.len(), of.model().dofs()),
        ];
        for (what, found, expected) in counts {
            if found != expected {
                return Err(SceneError::Count { what, found, expected });
            }
        }
        Ok(())
    }

    /// Checks that what is given for each step is given for every degree of freedom of each.
    pub(crate) fn check_steps(&self, steps: usize) -> Result<(), SceneError> {
        let expected = steps * self.model.dofs();
        for (what, found) in
            [("joint efforts", self.efforts.len()), ("joint targets", self.targets.len())]
        {
            if found != 0 && found != expected {
                return Err(SceneError::Count { what, found, expected });
            }
        }
        Ok(())
    }
}

impl JointState {
    /// The same state as constants of another scalar.
    pub(crate) fn lift<T: Scalar>(&self) -> JointState<T> {
        JointState {
            configuration: self.configuration.lift(),
            rates: self.rates.iter().map(|&x| T::from(x)).collect(),
        }
    }
}

impl<T: Scalar> JointState<T> {
    /// `C(base; w_j, y_j)`: positions through logarithms, velocities linearly.
    pub(crate) fn combine<'a>(
        base: &Self,
        terms: impl Iterator<Item = (f64, &'a Self)> + Clone,
    ) -> Self {
        let positions = terms.clone().map(|(w, y)| (w, &y.configuration));
        let configuration = base.configuration.combined(positions);
        let mut rates = base.rates.clone();
        for (w, y) in terms {
            for (k, rate) in rates.iter_mut().enumerate() {
                *rate += (y.rates[k] - base.rates[k]) * w;
            }
        }
        Self { configuration, rates }
    }

    /// Pullback of [`JointState::combine`].
    pub(crate) fn pull_combine<'a>(
        base: &Self,
        terms: impl Iterator<Item = (f64, &'a Self)> + Clone,
        bar: &JointBar<T>,
        base_bar: &mut JointBar<T>,
        mut emit: impl FnMut(usize, &JointBar<T>),
    ) {
        let positions = terms.clone().map(|(w, y)| (w, &y.configuration));
        let (own, each) = base.configuration.pull_combined(positions, &bar.position);
        let mut rate = bar.rate.clone();
        for ((j, (w, _)), position) in terms.enumerate().zip(each) {
            let by: Vec<T> = bar.rate.iter().map(|&x| x * w).collect();
            rate.iter_mut().zip(&by).for_each(|(r, x)| *r -= *x);
            emit(j, &JointBar { position, rate: by });
        }
        base_bar.add(&JointBar { position: own, rate });
    }

    /// Velocities of a stage that leads from `start` here: `v = (q ⊖ q⁰)/Δt`.
    pub(crate) fn set_stage_rates(&mut self, start: &Self, duration: f64) {
        self.rates = stage_rates(&self.configuration, &start.configuration, duration);
    }

    /// Moves cotangents of the stage's velocities to the positions they were made from.
    pub(crate) fn pull_stage_rates(
        &self,
        start: &Self,
        duration: f64,
        bar: &mut JointBar<T>,
        start_bar: &mut JointBar<T>,
    ) {
        let by: Vec<T> = bar.rate.iter().map(|&x| x / duration).collect();
        bar.rate.fill(T::zero());
        let (now, start) = (&self.configuration, &start.configuration);
        pull_difference(now, start, &by, (&mut bar.position, &mut start_bar.position));
    }
}

impl<T: Scalar> JointBar<T> {
    pub(crate) fn zero(dofs: usize) -> Self {
        Self { position: vec![T::zero(); dofs], rate: vec![T::zero(); dofs] }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let add = |to: &mut [T], from: &[T]| to.iter_mut().zip(from).for_each(|(x, y)| *x += *y);
        add(&mut self.position, &other.position);
        add(&mut self.rate, &other.rate);
    }
}

/// `(q ⊖ q⁰)/Δt`.
pub(super) fn stage_rates<T: Scalar>(
    now: &Configuration<T>,
    start: &Configuration<T>,
    duration: f64,
) -> Vec<T> {
    now.difference(start).iter().map(|&x| x / duration).collect()
}

/// First degree of freedom of the rotation of each joint that has one, with `log(R R⁰ᵀ)`.
pub(super) fn turns<'a, T: Scalar>(
    now: &'a Configuration<T>,
    start: &'a Configuration<T>,
) -> impl Iterator<Item = (usize, Vector3<T>)> + 'a {
    let mut at = 0;
    now.joints().iter().zip(start.joints()).filter_map(move |(q, o)| {
        let first = at;
        at += q.dofs();
        let turn = |r: &Matrix3<T>, o: &Matrix3<T>| so3::log(&mat3::mul_transposed(r, o));
        match (q, o) {
            (JointPosition::Rotation(r), JointPosition::Rotation(o)) => Some((first, turn(r, o))),
            (JointPosition::Pose(x), JointPosition::Pose(o)) => {
                Some((first + 3, turn(&x.rotation, &o.rotation)))
            }
            _ => None,
        }
    })
}

/// Pullback of `q ⊖ q⁰`: `δφ = Jl⁻¹ δ − Jl⁻ᵀ δ⁰` of rotations, `δ − δ⁰` of the rest.
pub(super) fn pull_difference<T: Scalar>(
    now: &Configuration<T>,
    start: &Configuration<T>,
    by: &[T],
    (bar, start_bar): (&mut [T], &mut [T]),
) {
    let mut shares = [by.to_vec(), by.to_vec()];
    for (at, turn) in turns(now, start) {
        let inverse = so3::left_jacobian_inverse(&turn);
        let own = Vector3::new(by[at], by[at + 1], by[at + 2]);
        let pulled = [mat3::apply_transposed(&inverse, &own), mat3::apply(&inverse, &own)];
        for (share, x) in shares.iter_mut().zip(pulled) {
            share[at..at + 3].copy_from_slice(x.as_slice());
        }
    }
    for k in 0..by.len() {
        bar[k] += shares[0][k];
        start_bar[k] -= shares[1][k];
    }
}

/// Pullback of `q ⊕ δ`: by increments of `q` and by `δ`; `δout = exp(δ) δ_q + Jl(δ) dδ` of rotations, their sum of the rest.
pub(crate) fn pull_incremented<T: Scalar>(
    q: &Configuration<T>,
    delta: &[T],
    bar: &[T],
) -> (Vec<T>, Vec<T>) {
    let (mut by_position, mut by_delta) = (bar.to_vec(), bar.to_vec());
    let mut at = 0;
    for joint in q.joints() {
        let first = match joint {
            JointPosition::Rotation(_) => Some(at),
            JointPosition::Pose(_) => Some(at + 3),
            _ => None,
        };
        if let Some(k) = first {
            let of = |x: &[T]| Vector3::new(x[k], x[k + 1], x[k + 2]);
            let (turn, own) = (of(delta), of(bar));
            let back = mat3::apply_transposed(&so3::exp(&turn), &own);
            by_position[k..k + 3].copy_from_slice(back.as_slice());
            let moved = mat3::apply_transposed(&so3::left_jacobian(&turn), &own);
            by_delta[k..k + 3].copy_from_slice(moved.as_slice());
        }
        at += joint.dofs();
    }
    (by_position, by_delta)
}
