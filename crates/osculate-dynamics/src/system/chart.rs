//! Rotation in the chart: its part of the stage residual, and the velocities that contacts see.
//!
//! ```text
//! r_θ  = (L − L⁰)/Δt − τ        L = A ω,  A = R I Rᵀ,  ω = Jl(θ)(θ − θ⁰)/Δt
//! K_θθ = (−[L]× + A [ω]× + A ∂ω/∂δθ)/Δt
//! V_rel = Ẏ_AB of (v, ω) at the end of the stage        Pullback::carried_back
//! ```

use super::{Inertial, Pair, Stage, System, SystemBar};
use crate::RotationUpdate;
use crate::chart::{Turn, pull_momentum, world_inertia};
use crate::state::{BodyState, StateBar};
use nalgebra::{Matrix3, Vector3};
use osculate_contact::DissipationSchedule;
use osculate_contact::assembly::PairGradient;
use osculate_contact::kinematics::{Motion, Pullback};
use osculate_math::so3::{axial, skew};
use osculate_math::{Jet, Scalar, mat3, se3::Pose};

fn turn<T: Scalar>(slot: usize, stage: &Stage<'_, T>) -> Turn<T> {
    let rotations = (&stage.start[slot].rotation, &stage.now[slot].rotation);
    Turn::new(&stage.base[slot].rotation, rotations, stage.duration)
}

/// A body at the end of a stage with its velocities.
fn motion<T: Scalar>(slot: usize, stage: &Stage<'_, T>) -> Motion<T> {
    let (now, start) = (&stage.now[slot], &stage.start[slot]);
    let velocity = (now.center - start.center).map(|x| x / stage.duration);
    Motion { pose: now.pose(), velocity, spin: turn(slot, stage).spin() }
}

impl<T: Scalar> System<'_, T> {
    /// Whether contacts see velocities at the end of the stage. `StageStart` needs the positions at its start, where it asks for
    /// the field; its load is that of the stage start, so it is of first order anyway.
    pub(crate) fn has_rates(&self) -> bool {
        self.rotation == RotationUpdate::Chart
            && self.law.schedule != DissipationSchedule::StageStart
    }

    /// `(L − L⁰)/Δt`.
    pub(super) fn chart_torque(
        body: &Inertial<T>,
        slot: usize,
        stage: &Stage<'_, T>,
    ) -> Vector3<T> {
        let a = world_inertia(&stage.now[slot].rotation, &body.inertia);
        let momentum = mat3::apply(&a, &turn(slot, stage).spin());
        (momentum - stage.start[slot].momentum).map(|x| x / stage.duration)
    }

    /// Leaves `−Δt r_θ` where the momentum of each body will be: what `A ω` misses of `L⁰ + Δt τ`.
    pub(crate) fn keep_defect(
        &self,
        unknown: &[Option<usize>],
        duration: f64,
        residual: &[T],
        now: &mut [BodyState<T>],
    ) {
        if self.rotation == RotationUpdate::Chart {
            for (slot, unknown) in unknown.iter().enumerate() {
                if let Some(at) = *unknown {
                    now[slot].momentum = Vector3::from_fn(|i, _| residual[at + 3 + i] * -duration);
                }
            }
        }
    }

    /// Its derivative along `exp(δθ) R`.
    pub(super) fn chart_jacobian(
        body: &Inertial<T>,
        slot: usize,
        stage: &Stage<'_, T>,
    ) -> Matrix3<T> {
        let a = world_inertia(&stage.now[slot].rotation, &body.inertia);
        let turn = turn(slot, stage);
        let spin = turn.spin();
        let by_spin = mat3::mul(&a, &(skew(&spin) + turn.by_increment()));
        (by_spin - skew(&mat3::apply(&a, &spin))).map(|x| x / stage.duration)
    }

    /// Adds `∂(r_θ·μ)` of one body: to the momentum at the start, to `I`, and to its angular velocity.
    pub(super) fn pull_chart_torque(
        &self,
        i: usize,
        stage: &Stage<'_, T>,
        mu: &Vector3<T>,
        start_bar: &mut StateBar<T>,
        bars: &mut SystemBar<T>,
    ) {
        let per_duration = mu.map(|x| x / stage.duration);
        start_bar.momentum -= per_duration;
        let (rotation, spin) = (&stage.now[i].rotation, turn(i, stage).spin());
        let pulled = pull_momentum(rotation, &self.bodies[i].inertia, &spin, &per_duration);
        bars.add_inertia(i, &pulled.inertia);
        bars.rates[i][1] += pulled.vector;
    }

    /// Moves the cotangents of the bodies' velocities to the start of the stage and the base of the step.
    pub(super) fn pull_rates(
        &self,
        stage: &Stage<'_, T>,
        (start_bars, base_bars): (&mut [StateBar<T>], &mut [StateBar<T>]),
        bars: &mut SystemBar<T>,
    ) {
        for (i, rates) in bars.rates.iter_mut().enumerate() {
            let [velocity, spin] = std::mem::replace(rates, [Vector3::zeros(); 2]);
            // A body that is not solved for has velocities by its prescribed motion, which is data.
            if self.unknown[i].is_some() {
                start_bars[i].center -= velocity.map(|x| x / stage.duration);
                let turn = turn(i, stage).pull(&spin);
                start_bars[i].rotation += turn.start;
                base_bars[i].rotation += turn.base;
            }
        }
    }

    /// The stage-start pullback that makes `V_rel` the rate at the end of the stage.
    pub(super) fn carried_back(&self, pair: &Pair<T>, stage: &Stage<'_, T>) -> Pullback<T> {
        let [a, b] = pair.slots;
        let (a, b) = (motion(a, stage), motion(b, stage));
        Pullback::carried_back(&a, &b, self.bodies[pair.b].center, stage.duration)
    }

    /// As [`System::carried_back`], with its derivatives along the increments `c_A, θ_A, c_B, θ_B` in collider axes.
    pub(super) fn carried_back_in_jets(
        &self,
        pair: &Pair<T>,
        stage: &Stage<'_, T>,
    ) -> Pullback<Jet<12, T>> {
        let axes = stage.now[pair.slots[1]].pose();
        let duration = stage.duration;
        // Everything as seen from the collider, where it is now.
        let seeded = |body: usize, slot: usize, first: usize| {
            let motion = motion(slot, stage);
            let v = |k: usize| Vector3::from_fn(|i, _| Jet::<12, T>::variable(T::zero(), k + i));
            let seen =
                |v: &Vector3<T>| mat3::apply_transposed(&axes.rotation, v).map(Jet::constant);
            let turns = if self.unknown[body].is_some() {
                let by = turn(slot, stage).by_increment();
                mat3::mul(&mat3::transposed_mul(&axes.rotation, &by), &axes.rotation)
            } else {
                Matrix3::zeros()
            };
            let rotation =
                mat3::transposed_mul(&axes.rotation, &motion.pose.rotation).map(Jet::constant);
            Motion {
                pose: Pose {
                    position: seen(&(motion.pose.position - axes.position)) + v(first),
                    rotation: rotation + mat3::mul(&skew(&v(first + 3)), &rotation),
                },
                velocity: seen(&motion.velocity) + v(first).map(|x| x / duration),
                spin: seen(&motion.spin) + mat3::apply(&turns.map(Jet::constant), &v(first + 3)),
            }
        };
        let (a, b) = (seeded(pair.a, pair.slots[0], 0), seeded(pair.b, pair.slots[1], 6));
        let center = self.bodies[pair.b].center.map(Jet::constant);
        Pullback::carried_back(&a, &b, center, duration)
    }

    /// From the cotangents of the stage-start pullback `p⁰ = M X + o` to those of the velocities, and of the poses of static bodies.
    pub(super) fn pull_carried_back(
        &self,
        pair: &Pair<T>,
        stage: &Stage<'_, T>,
        gradient: &PairGradient<T>,
        bars: &mut SystemBar<T>,
    ) {
        let motions = [pair.a, pair.b].map(|body| motion(body, stage));
        let [a, b] = &motions;
        let (axes, dt) = (&b.pose.rotation, stage.duration);
        let apart = a.pose.position - b.pose.position;
        let by_offset = mat3::apply(axes, &gradient.start[0]);
        // ⟨M̄, −Δt R_Bᵀ [ω]× R_A⟩ = Δt ω·axial(R_B M̄ R_Aᵀ)
        let by_map = mat3::mul(axes, &gradient.start_map);
        let by_turn = axial(&mat3::mul_transposed(&by_map, &a.pose.rotation)).map(|x| x * dt);
        let pushed = by_offset.map(|x| x * dt);
        bars.rates[pair.a][0] -= pushed;
        bars.rates[pair.a][1] += by_turn;
        bars.rates[pair.b][0] += pushed;
        bars.rates[pair.b][1] += apart.cross(&pushed) - by_turn;
        // The poses of bodies that are solved for are in the matrix of the stage.
        let by_center = by_offset + pushed.cross(&b.spin);
        if self.unknown[pair.a].is_none() {
            let turned = skew(&(a.spin - b.spin).map(|x| x * dt)) + Matrix3::identity();
            let by_rotation = mat3::mul_transposed(&by_map, &a.pose.rotation);
            bars.pose[pair.a][0] += by_center;
            bars.pose[pair.a][1] -= axial(&mat3::mul(&turned, &by_rotation));
        }
        if self.unknown[pair.b].is_none() {
            let from = Pullback::carried_back(a, b, Vector3::zeros(), dt);
            let (offset, map) = (mat3::apply(axes, &from.offset), mat3::mul(axes, &from.rotation));
            bars.pose[pair.b][0] -= by_center;
            bars.pose[pair.b][1] +=
                axial(&mat3::mul_transposed(&by_map, &map)) - offset.cross(&by_offset);
        }
    }
}

impl<T: Scalar> SystemBar<T> {
    /// Adds the cotangent of a body's inertia, `J̄ = tr(Ī) 1 − Ī`.
    pub(crate) fn add_inertia(&mut self, body: usize, inertia: &Matrix3<T>) {
        self.second_moment[body] += Matrix3::from_diagonal_element(inertia.trace()) - inertia;
    }
}
