//! What acts inside the joints during a stage: inertia of rotors, friction, limits, drives, applied forces.
//!
//! ```text
//! v = (q ⊖ q⁰)/Δt
//! r = I_a (v − v⁰)/Δt − (friction + limits + drive) − effort
//! ```
//!
//! The laws are those of [`JointLaws`]. Friction of a spherical joint is on the norm of its velocity; a free joint has it of its
//! translation and of its rotation.

use super::state::{pull_difference, stage_rates, turns};
use super::{JointStage, Reduction};
use crate::articulated::{CoordinateStage, Joint, JointKind, JointLaws};
use nalgebra::Matrix3;
use osculate_math::{Jet, Scalar, so3};
use std::ops::Range;

/// Degrees of freedom of a joint at most.
const MOST: usize = 6;

/// How many numbers the laws of a joint have; see [`NUMBERS`].
pub(crate) const NUMBER_COUNT: usize = 21;

/// Names and units of the numbers of a joint, in their flat order: those of a rotation.
pub(crate) const NUMBERS: [(&str, &str, &str); NUMBER_COUNT] = [
    ("armature_0", "kg m²", "kg"),
    ("armature_1", "kg m²", "kg"),
    ("armature_2", "kg m²", "kg"),
    ("armature_3", "kg m²", "kg m²"),
    ("armature_4", "kg m²", "kg m²"),
    ("armature_5", "kg m²", "kg m²"),
    ("damping", "N m s/rad", "N s/m"),
    ("friction", "N m", "N"),
    ("stiction", "N m", "N"),
    ("stribeck_speed", "rad/s", "m/s"),
    ("falloff_speed", "rad/s", "m/s"),
    ("lower", "rad", "m"),
    ("upper", "rad", "m"),
    ("limit_stiffness", "N m/rad", "N/m"),
    ("limit_damping", "N m s/rad", "N s/m"),
    ("effort", "N m", "N"),
    ("k_p", "N m/rad", "N/m"),
    ("k_d", "N m s/rad", "N s/m"),
    ("target", "rad", "m"),
    ("target_velocity", "rad/s", "m/s"),
    ("effort_limit", "N m", "N"),
];

/// Where the target of a drive stands.
pub(crate) const TARGET: usize = 18;

/// The numbers of a joint; those that it does not have are zero.
pub(crate) fn numbers<T: Scalar>(joint: &Joint<T>) -> [T; NUMBER_COUNT] {
    let o = T::zero();
    let (a, f) = (joint.armature, joint.laws.friction);
    let l = joint.laws.limits.map_or([o; 4], |l| [l.lower, l.upper, l.stiffness, l.damping]);
    let d = joint.laws.drive.map_or([o; 6], |d| {
        let limit = d.effort_limit.unwrap_or(o);
        [d.effort, d.stiffness, d.damping, d.target, d.target_velocity, limit]
    });
    let f = [f.viscous, f.coulomb, f.stiction_extra, f.stribeck_speed, f.falloff_speed];
    let mut out = [o; NUMBER_COUNT];
    out[..6].copy_from_slice(&a);
    out[6..11].copy_from_slice(&f);
    out[11..15].copy_from_slice(&l);
    out[15..].copy_from_slice(&d);
    out
}

/// The number `i` of laws and armature, if the joint has it.
pub(crate) fn number_mut<'a, T>(
    armature: &'a mut [T],
    laws: &'a mut JointLaws<T>,
    i: usize,
) -> Option<&'a mut T> {
    let JointLaws { friction, limits, drive } = laws;
    match i {
        0..6 => armature.get_mut(i),
        6 => Some(&mut friction.viscous),
        7 => Some(&mut friction.coulomb),
        8 => Some(&mut friction.stiction_extra),
        9 => Some(&mut friction.stribeck_speed),
        10 => Some(&mut friction.falloff_speed),
        11 => limits.as_mut().map(|l| &mut l.lower),
        12 => limits.as_mut().map(|l| &mut l.upper),
        13 => limits.as_mut().map(|l| &mut l.stiffness),
        14 => limits.as_mut().map(|l| &mut l.damping),
        15 => drive.as_mut().map(|d| &mut d.effort),
        16 => drive.as_mut().map(|d| &mut d.stiffness),
        17 => drive.as_mut().map(|d| &mut d.damping),
        18 => drive.as_mut().map(|d| &mut d.target),
        19 => drive.as_mut().map(|d| &mut d.target_velocity),
        20 => drive.as_mut().and_then(|d| d.effort_limit.as_mut()),
        _ => None,
    }
}

/// Motion of a joint during a stage.
#[derive(Clone, Copy, Debug)]
struct Motion<T> {
    /// Coordinate of a joint that has one, at the end and at the start; else zero.
    position: [T; 2],
    /// Velocity of the stage and at its start.
    rate: [T; MOST],
    start_rate: [T; MOST],
}

impl<T: Scalar> Motion<T> {
    fn coordinate(&self, duration: f64) -> CoordinateStage<T> {
        CoordinateStage { position: self.position[0], start: self.position[1], duration }
    }

    fn lift<U: Scalar>(&self, f: impl Fn(T) -> U) -> Motion<U> {
        Motion {
            position: self.position.map(&f),
            rate: self.rate.map(&f),
            start_rate: self.start_rate.map(&f),
        }
    }
}

/// Numbers of one joint with those of the step.
#[derive(Clone, Copy, Debug)]
struct Terms<T> {
    dofs: usize,
    free: bool,
    armature: [T; MOST],
    laws: JointLaws<T>,
}

/// Generalised force of the joint's laws and rotors \[N m or N\], as it stands in the residual.
fn residual<T: Scalar>(terms: &Terms<T>, x: &Motion<T>, duration: f64) -> [T; MOST] {
    let mut r = [T::zero(); MOST];
    for (k, r) in r.iter_mut().enumerate().take(terms.dofs) {
        *r = terms.armature[k] * (x.rate[k] - x.start_rate[k]) / duration;
    }
    for part in terms.parts() {
        let square = x.rate[part.clone()].iter().fold(T::zero(), |sum, &v| sum + v * v);
        let resistance = terms.laws.friction.resistance(square);
        for k in part {
            r[k] += x.rate[k] * resistance;
        }
    }
    if let Some(limits) = &terms.laws.limits {
        r[0] -= limits.force(&x.coordinate(duration));
    }
    if let Some(drive) = &terms.laws.drive {
        r[0] -= drive.force(x.position[0], x.rate[0]);
    }
    r
}

/// Incremental potential of the laws and rotors of a joint \[J\], without applied forces. Rotors of a joint with several axes
/// have none on its rotations: see [`Reduction::joints_have_potential`].
fn potential<T: Scalar>(terms: &Terms<T>, x: &Motion<T>, duration: f64) -> T {
    let mut sum = T::zero();
    for k in 0..terms.dofs {
        let gained = x.rate[k] - x.start_rate[k];
        sum += terms.armature[k] * gained * gained * 0.5;
    }
    for part in terms.parts() {
        let square = x.rate[part].iter().fold(T::zero(), |sum, &v| sum + v * v);
        sum += terms.laws.friction.dissipation(square) * duration;
    }
    if let Some(limits) = &terms.laws.limits {
        sum += limits.potential(&x.coordinate(duration));
    }
    if let Some(drive) = &terms.laws.drive {
        sum += drive.potential(&x.coordinate(duration));
    }
    sum
}

/// Cotangents of what the joints are made of.
#[derive(Clone, Debug)]
pub(crate) struct TermsBar<T> {
    /// By the numbers of each joint.
    pub(crate) numbers: Vec<[T; NUMBER_COUNT]>,
    /// By the forces and targets of each step.
    pub(crate) efforts: Vec<T>,
    pub(crate) targets: Vec<T>,
}

impl<T: Scalar> Reduction<T> {
    fn terms(&self, link: usize, stage: &JointStage<'_, T>) -> Terms<T> {
        let joint = &self.model.links()[link].joint;
        let mut laws = joint.laws;
        let first = self.model.joint_dofs(link).start;
        if let (Some(drive), Some(&target)) = (&mut laws.drive, stage.targets.get(first)) {
            drive.target = target;
        }
        let free = matches!(joint.kind, JointKind::Free);
        Terms { dofs: joint.kind.dofs(), free, armature: joint.armature, laws }
    }

    fn motion(&self, link: usize, stage: &JointStage<'_, T>, rates: &[T]) -> Motion<T> {
        let own = self.model.joint_dofs(link);
        let of =
            |all: &[T]| std::array::from_fn(|k| *all[own.clone()].get(k).unwrap_or(&T::zero()));
        let scalar = |q: &crate::articulated::Configuration<T>| {
            q.joints()[link].scalar().unwrap_or_else(T::zero)
        };
        Motion {
            position: [scalar(stage.now), scalar(&stage.start.configuration)],
            rate: of(rates),
            start_rate: of(&stage.start.rates),
        }
    }

    /// Calls `f` with each joint that moves.
    fn for_each_joint(
        &self,
        stage: &JointStage<'_, T>,
        duration: f64,
        mut f: impl FnMut(usize, &Terms<T>, &Motion<T>),
    ) {
        let rates = stage_rates(stage.now, &stage.start.configuration, duration);
        for link in 0..self.model.links().len() {
            if !self.model.joint_dofs(link).is_empty() {
                f(link, &self.terms(link, stage), &self.motion(link, stage, &rates));
            }
        }
    }

    /// Generalised forces of the joints, as they stand in the residual.
    pub(super) fn joint_residual(&self, stage: &JointStage<'_, T>, duration: f64) -> Vec<T> {
        let mut out = vec![T::zero(); self.model.dofs()];
        self.for_each_joint(stage, duration, |link, terms, motion| {
            let r = residual(terms, motion, duration);
            for (k, at) in self.model.joint_dofs(link).enumerate() {
                out[at] = r[k];
            }
        });
        for (r, effort) in out.iter_mut().zip(stage.efforts) {
            *r -= *effort;
        }
        out
    }

    /// Whether the forces of the joints are the gradient of a potential: not where a rotor or an applied force acts on a
    /// rotation about several axes.
    pub(super) fn joints_have_potential(&self, stage: &JointStage<'_, T>) -> bool {
        let turns = |link: usize| match self.model.links()[link].joint.kind {
            JointKind::Free => 3..6,
            JointKind::Spherical => 0..3,
            _ => 0..0,
        };
        let zero = |x: &T| x.re().abs() <= 0.0;
        (0..self.model.links().len()).all(|link| {
            let first = self.model.joint_dofs(link).start;
            let armature = &self.model.links()[link].joint.armature;
            turns(link).all(|k| zero(&armature[k]) && stage.efforts.get(first + k).is_none_or(zero))
        })
    }

    /// Their incremental potential \[J\].
    pub(super) fn joint_potential(&self, stage: &JointStage<'_, T>, duration: f64) -> T {
        let mut sum = T::zero();
        self.for_each_joint(stage, duration, |_, terms, motion| {
            sum += potential(terms, motion, duration);
        });
        let moved = stage.now.difference(&stage.start.configuration);
        stage.efforts.iter().zip(moved).fold(sum, |sum, (e, x)| sum - *e * x)
    }

    /// Adds their derivative by increments of the positions.
    pub(super) fn add_joint_matrix(
        &self,
        stage: &JointStage<'_, T>,
        duration: f64,
        mut add: impl FnMut(usize, usize, T),
    ) {
        let mut inverse = vec![None; self.model.dofs()];
        for (at, turn) in turns(stage.now, &stage.start.configuration) {
            inverse[at] = Some(so3::left_jacobian_inverse(&turn));
        }
        self.for_each_joint(stage, duration, |link, terms, motion| {
            let mut seeded = motion.lift(Jet::<7, T>::constant);
            seeded.position[0].eps[0] = T::one();
            (0..MOST).for_each(|k| seeded.rate[k].eps[1 + k] = T::one());
            let r = residual(&terms.lift(Jet::constant), &seeded, duration);
            let own = self.model.joint_dofs(link);
            let turn = |k: usize| own.clone().rev().find(|&at| at <= k && inverse[at].is_some());
            for (i, row) in own.clone().enumerate() {
                for (j, column) in own.clone().enumerate() {
                    let mut sum = r[i].eps[1 + j];
                    // v = (q ⊖ q⁰)/Δt, and δ(q ⊖ q⁰) = Jl⁻¹ δ of rotations.
                    if let Some((first, m)) = turn(column).and_then(|at| Some((at, inverse[at]?))) {
                        let m: Matrix3<T> = m;
                        let shift = first - own.start;
                        sum = (0..3).fold(T::zero(), |s, k| {
                            s + r[i].eps[1 + shift + k] * m[(k, column - first)]
                        });
                    }
                    let position = if own.len() == 1 { r[i].eps[0] } else { T::zero() };
                    add(row, column, sum / duration + position);
                }
            }
        });
    }

    /// Adds `∂(r·μ)/∂(start, numbers)` of the joints, with `μ = −λ` one a degree of freedom.
    ///
    /// * `step`: first entry of the step among efforts and targets.
    pub(super) fn pull_joints(
        &self,
        (stage, duration): (&JointStage<'_, T>, f64),
        mu: &[T],
        (start_position, start_rate): (&mut [T], &mut [T]),
        bars: &mut TermsBar<T>,
        step: usize,
    ) {
        let mut by_rate = vec![T::zero(); self.model.dofs()];
        self.for_each_joint(stage, duration, |link, terms, motion| {
            let own = self.model.joint_dofs(link);
            let mut seeded = motion.lift(Jet::<13, T>::constant);
            seeded.position[1].eps[0] = T::one();
            for k in 0..MOST {
                seeded.rate[k].eps[1 + k] = T::one();
                seeded.start_rate[k].eps[7 + k] = T::one();
            }
            let r = residual(&terms.lift(Jet::constant), &seeded, duration);
            for (i, &m) in mu[own.clone()].iter().enumerate() {
                if own.len() == 1 {
                    start_position[own.start] += r[i].eps[0] * m;
                }
                for (k, at) in own.clone().enumerate() {
                    by_rate[at] += r[i].eps[1 + k] * m;
                    start_rate[at] += r[i].eps[7 + k] * m;
                }
            }
            let r = residual(&terms.seeded(), &motion.lift(Jet::constant), duration);
            for (i, &m) in mu[own.clone()].iter().enumerate() {
                for (bar, &by) in bars.numbers[link].iter_mut().zip(&r[i].eps) {
                    *bar += by * m;
                }
                if !stage.targets.is_empty() {
                    bars.targets[step + own.start] += r[i].eps[TARGET] * m;
                    bars.numbers[link][TARGET] -= r[i].eps[TARGET] * m;
                }
            }
        });
        for (k, &m) in mu.iter().enumerate().filter(|_| !stage.efforts.is_empty()) {
            bars.efforts[step + k] -= m;
        }
        // The velocity by the start of the stage; its end is what is solved for.
        by_rate.iter_mut().for_each(|x| *x = *x / duration);
        let mut end = vec![T::zero(); by_rate.len()];
        let start = &stage.start.configuration;
        pull_difference(stage.now, start, &by_rate, (&mut end, start_position));
    }
}

impl<T: Scalar> Terms<T> {
    /// Degrees of freedom whose velocities have one norm.
    fn parts(&self) -> [Range<usize>; 2] {
        if self.free { [0..3, 3..6] } else { [0..self.dofs, 0..0] }
    }

    fn lift<U: Scalar>(&self, f: impl Fn(T) -> U) -> Terms<U> {
        Terms {
            dofs: self.dofs,
            free: self.free,
            armature: self.armature.map(&f),
            laws: self.laws.map(&f),
        }
    }

    /// Every number seeded in its direction.
    fn seeded(&self) -> Terms<Jet<NUMBER_COUNT, T>> {
        let mut out = self.lift(Jet::constant);
        for i in 0..NUMBER_COUNT {
            if let Some(x) = number_mut(&mut out.armature, &mut out.laws, i) {
                x.eps[i] = T::one();
            }
        }
        out
    }
}
