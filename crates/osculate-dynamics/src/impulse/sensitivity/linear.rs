//! A step at its fixed point: which rows act, and the matrix of their linearisation.
//!
//! ```text
//! unknowns  dr_N of loaded normals, dr_T of sticking pairs, s of sliding pairs:  dr_T = x̂ dρ + t s,  ρ = share Σ r_N
//! rows      normal    J_N dv + γ dr_N         = −e_N          x̂ = r_T/‖r_T‖,  t ⟂ x̂
//!           stick     J_T dv                  = −e_T
//!           slide     t·(J_T dv) + α s        = −t·e_T        α = −slip·x̂/‖r_T‖
//!           spin      n·(dω_a − dω_b)         = −e_S          where it slips no row: dτ = ±r (μ Σ dr_N − Σ d‖r_T‖)
//! dv = dv₀ + M⁻¹C dx,      C: J_Nᵀ + Σ share J_Tᵀx̂ (pairs that share the load),  J_Tᵀ,  J_Tᵀt
//! A = R M⁻¹C + diag(γ, 0, α),      A dx = −e − R dv₀
//! ```
//!
//! `A` is symmetric where nothing slides. Bodies that do not touch, directly or through others, have matrices of their own.

use super::error::ImpulseGradientError;
use super::factor::Factor;
use super::line::Line;
use super::parameters::ImpulseParameters;
use crate::impulse::body::RigidState;
use crate::impulse::build::Builder;
use crate::impulse::settings::ImpulseSettings;
use crate::impulse::simulate::{ImpulseSimulator, ImpulseTrajectory};
use crate::impulse::system::System;
use crate::impulse::tree::Trees;
use crate::{OnFailure, Wrench};
use nalgebra::{Matrix3, Vector2, Vector3};

/// Effect on the velocity of impulses without effect on the rows, below which it counts as none \[–\].
pub(super) const DETERMINED: f64 = 1e-7;

/// A loaded normal.
#[derive(Clone, Debug)]
pub(super) struct LiveNormal {
    /// Which contact of the record.
    pub(super) contact: usize,
    pub(super) point: Vector3<f64>,
    /// `r_N` \[N s\].
    pub(super) impulse: f64,
    /// `u⁻` where it rebounds \[m/s\].
    pub(super) rebound: Option<f64>,
    /// Place of its unknown.
    pub(super) unknown: usize,
}

/// What a friction pair does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Friction {
    /// Two unknowns.
    Stick,
    /// One unknown, across `along` = x̂.
    Slide { along: Vector2<f64> },
    /// Its disk is a point, which it leaves along `along`, or not at all; no unknown.
    Empty { along: Vector2<f64> },
}

/// Where a friction pair acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Contact(usize),
    Anchor(usize),
}

/// A pair of friction rows that has a load.
#[derive(Clone, Debug)]
pub(super) struct LivePair {
    pub(super) place: Place,
    pub(super) bodies: [usize; 2],
    pub(super) point: Vector3<f64>,
    pub(super) normal: Vector3<f64>,
    pub(super) directions: [Vector3<f64>; 2],
    pub(super) lines: [Line; 2],
    /// `r_T` \[N s\].
    pub(super) impulse: Vector2<f64>,
    pub(super) friction: Friction,
    /// `Σ r_N` \[N s\].
    pub(super) load: f64,
    /// Of how many pairs that share the load it is one.
    pub(super) parts: f64,
    /// `β/h` times the displacement is its bias.
    pub(super) displacement: Vector3<f64>,
    /// Place of its first unknown.
    pub(super) unknown: usize,
    /// `|‖A⁻¹b‖ − ρ|/ρ` where it sticks, `α/α + tr A` where it slides: how far it is from the other \[–\].
    pub(super) margin: f64,
}

/// Spin friction of a region that does not slide as a whole.
#[derive(Clone, Debug)]
pub(super) struct LiveSpin {
    pub(super) bodies: [usize; 2],
    /// The contact whose normal it has.
    pub(super) contact: usize,
    pub(super) line: Line,
    /// `τ` \[N m s\].
    pub(super) impulse: f64,
    /// Its unknown where it is held, else the sign of `τ`.
    pub(super) state: Result<usize, f64>,
    /// `r` \[m\] and what it multiplies, `μ N − Σ‖r_T‖` \[N s\].
    pub(super) radius: f64,
    pub(super) budget: f64,
    /// How the budget grows with `μ`: `N`, less the part of what slides \[N s\].
    pub(super) by_friction: f64,
}

/// Unknowns of bodies that touch, and the factors of their matrix.
#[derive(Clone, Debug)]
struct Island {
    unknowns: Vec<usize>,
    factor: Factor,
}

/// A step, linearised.
#[derive(Clone, Debug)]
pub(super) struct StepLinear {
    pub(super) normals: Vec<LiveNormal>,
    pub(super) pairs: Vec<LivePair>,
    pub(super) spins: Vec<LiveSpin>,
    /// Row and column of each unknown.
    pub(super) rows: Vec<Line>,
    pub(super) columns: Vec<Line>,
    islands: Vec<Island>,
    /// `1/m` and `I⁻¹` in the world of each moving body.
    inverse: Vec<(f64, Matrix3<f64>)>,
    /// Velocities after the step.
    pub(super) after: Vec<Vector3<f64>>,
    /// Velocities of bodies that follow prescribed poses.
    pub(super) prescribed: Vec<[Vector3<f64>; 2]>,
    /// Distances of contacts from a change of state, see [`super::switches`].
    pub(super) openings: Vec<(usize, f64)>,
}

/// What steps are linearised from.
pub(super) struct Source<'a> {
    pub(super) simulator: &'a ImpulseSimulator,
    pub(super) parameters: &'a ImpulseParameters,
    pub(super) trajectory: &'a ImpulseTrajectory,
    pub(super) system: System,
    pub(super) settings: ImpulseSettings,
    pub(super) on_indeterminate: OnFailure,
}

impl Source<'_> {
    pub(super) fn wrench(&self, step: usize, body: usize) -> Wrench {
        let dynamic = self.system.dynamic();
        let wrenches = &self.parameters.scene.wrenches;
        wrenches.get(step * dynamic + body).copied().unwrap_or_else(Wrench::zero)
    }

    /// Velocities at the start of a step and without contact.
    fn velocities(&self, step: usize) -> Result<[Vec<Vector3<f64>>; 2], ImpulseGradientError> {
        let h = self.simulator.durations()[step];
        let (mut start, mut free) = (Vec::new(), Vec::new());
        for (item, state) in self.system.items.iter().zip(self.trajectory.state(step)) {
            let (Some(inertia), Some(at)) = (&item.inertia, item.unknown) else { continue };
            let wrench = self.wrench(step, at / 2);
            let gravity = if item.has_gravity { self.system.gravity } else { Vector3::zeros() };
            let forces = [wrench.force + gravity * inertia.mass, wrench.torque];
            let gyroscopic = self.settings.gyroscopic;
            let v = inertia.free_velocity(state, &forces, h, gyroscopic);
            start.extend([state.velocity, state.angular_velocity]);
            free.extend(
                v.map_err(|e| ImpulseGradientError::TurnsTooFast { step, angle: e.angle })?,
            );
        }
        Ok([start, free])
    }

    /// Linearises a step.
    pub(super) fn linearise(&self, step: usize) -> Result<StepLinear, ImpulseGradientError> {
        let record = &self.trajectory.records[step];
        let stats = &record.stats;
        if !stats.converged {
            let (residual, tolerance) = (stats.residual, stats.tolerance);
            return Err(ImpulseGradientError::NotConverged { step, residual, tolerance });
        }
        let states = self.trajectory.state(step);
        let duration = self.simulator.durations()[step];
        let [start, free] = self.velocities(step)?;
        let inverse = self.system.inverse_inertia(states);
        let prescribed = self.system.prescribed(states, step, duration);
        let trees = Trees::default();
        let builder = Builder {
            system: &self.system,
            settings: &self.settings,
            states,
            inverse: &inverse,
            prescribed: &prescribed,
            trees: (&trees, &[]),
            velocities: [&start, &free],
            duration,
        };
        let masses = self.system.items.iter().zip(&inverse);
        let mut linear = StepLinear {
            normals: Vec::with_capacity(record.contacts.len()),
            pairs: Vec::with_capacity(record.contacts.len()),
            spins: Vec::new(),
            rows: Vec::with_capacity(3 * record.contacts.len()),
            columns: Vec::with_capacity(3 * record.contacts.len()),
            islands: Vec::new(),
            inverse: masses.filter_map(|(i, w)| i.inertia.map(|m| (m.mass.recip(), *w))).collect(),
            after: after(&self.system, self.trajectory.state(step + 1)),
            prescribed: Vec::new(),
            openings: Vec::new(),
        };
        let mut diagonal = Vec::with_capacity(3 * record.contacts.len());
        linear.collect((&builder, record, step), &mut diagonal)?;
        linear.prescribed = prescribed;
        linear.factorise(self, step, &diagonal)?;
        Ok(linear)
    }
}

/// Velocities of the moving bodies.
fn after(system: &System, states: &[RigidState]) -> Vec<Vector3<f64>> {
    let moving = system.items.iter().zip(states).filter(|(i, _)| i.unknown.is_some());
    moving.flat_map(|(_, s)| [s.velocity, s.angular_velocity]).collect()
}

impl StepLinear {
    /// `M⁻¹ w`, in place.
    pub(super) fn respond(&self, w: &mut [Vector3<f64>]) {
        for (pair, (mass, inertia)) in w.chunks_exact_mut(2).zip(&self.inverse) {
            pair[0] *= *mass;
            pair[1] = inertia * pair[1];
        }
    }

    fn response(&self, line: &Line) -> Line {
        let mut out = *line;
        for (at, [l, a]) in out.at.iter().zip(&mut out.jacobian) {
            if let Some(at) = at {
                let (mass, inertia) = &self.inverse[at / 2];
                *l *= *mass;
                *a = inertia * *a;
            }
        }
        out
    }

    /// Matrices of the islands and their factors.
    fn factorise(
        &mut self,
        source: &Source<'_>,
        step: usize,
        diagonal: &[f64],
    ) -> Result<(), ImpulseGradientError> {
        let responses: Vec<Line> = self.columns.iter().map(|c| self.response(c)).collect();
        let mut pushed = vec![Vector3::zeros(); 2 * self.inverse.len()];
        for unknowns in islands(&self.rows, self.inverse.len()) {
            let n = unknowns.len();
            let mut matrix = vec![0.0; n * n];
            for (j, &column) in unknowns.iter().enumerate() {
                responses[column].apply(1.0, &mut pushed);
                for (i, &row) in unknowns.iter().enumerate() {
                    matrix[i * n + j] = self.rows[row].velocity(&pushed);
                }
                responses[column].clear(&mut pushed);
                matrix[j * n + j] += diagonal[column];
            }
            // A symmetric matrix takes to zero only impulses without any effect.
            let slides = self.is_coupled(&unknowns);
            let factor = Factor::new(matrix, n, !slides);
            if slides && factor.rank() < n && source.on_indeterminate == OnFailure::Stop {
                self.check(source, step, (&unknowns, &factor, &responses))?;
            }
            self.islands.push(Island { unknowns, factor });
        }
        Ok(())
    }

    /// Whether a pair slides whose load is among the unknowns.
    fn is_coupled(&self, unknowns: &[usize]) -> bool {
        let slides = |p: &&LivePair| !matches!(p.friction, Friction::Stick);
        let pairs = self.pairs.iter().filter(slides).map(|p| p.lines[0].at);
        let spins = self.spins.iter().filter(|s| s.state.is_err()).map(|s| s.line.at);
        pairs.chain(spins).any(|at| {
            unknowns.iter().any(|&i| self.rows[i].at.iter().any(|a| a.is_some() && at.contains(a)))
        })
    }

    /// Whether impulses without effect on the rows have none on the velocity.
    fn check(
        &self,
        source: &Source<'_>,
        step: usize,
        (unknowns, factor, responses): (&[usize], &Factor, &[Line]),
    ) -> Result<(), ImpulseGradientError> {
        for null in factor.null_vectors() {
            let mut v = vec![Vector3::zeros(); 2 * self.inverse.len()];
            let mut w = v.clone();
            let (mut parts, mut worst) = (0.0, (0.0, unknowns[0]));
            for (&i, x) in unknowns.iter().zip(&null) {
                responses[i].apply(*x, &mut v);
                self.columns[i].apply(*x, &mut w);
                let part = x.abs() * self.columns[i].dot(&responses[i]).sqrt();
                parts += part;
                if part > worst.0 {
                    worst = (part, i);
                }
            }
            let energy: f64 = v.iter().zip(&w).map(|(v, w)| v.dot(w)).sum();
            let effect = energy.max(0.0).sqrt() / parts;
            if effect > DETERMINED {
                let name = |at: Option<usize>| {
                    let body = source.system.items.iter().position(|i| i.unknown == at);
                    body.map_or(String::new(), |b| source.simulator.scene().bodies[b].name.clone())
                };
                let normal = self.normals.iter().find(|n| n.unknown == worst.1);
                let record = &source.trajectory.records[step];
                let bodies = normal.map(|n| record.contacts[n.contact].bodies);
                let [first, second] = match bodies {
                    Some(b) => b.map(|b| source.simulator.scene().bodies[b].name.clone()),
                    None => self.rows[worst.1].at.map(name),
                };
                let allowed = DETERMINED;
                return Err(ImpulseGradientError::Indeterminate {
                    step,
                    first,
                    second,
                    effect,
                    allowed,
                });
            }
        }
        Ok(())
    }

    /// `x ← A⁻ x`.
    pub(super) fn solve(&self, x: &mut [f64]) {
        self.each_island(x, Factor::solve);
    }

    /// `x ← (A⁻)ᵀ x`.
    pub(super) fn solve_transposed(&self, x: &mut [f64]) {
        self.each_island(x, Factor::solve_transposed);
    }

    fn each_island(&self, x: &mut [f64], solve: impl Fn(&Factor, &mut [f64])) {
        for island in &self.islands {
            let mut part: Vec<f64> = island.unknowns.iter().map(|&i| x[i]).collect();
            solve(&island.factor, &mut part);
            for (&i, y) in island.unknowns.iter().zip(&part) {
                x[i] = *y;
            }
        }
    }

    /// How many rows follow from others.
    pub(super) fn redundant(&self) -> usize {
        self.islands.iter().map(|i| i.unknowns.len() - i.factor.rank()).sum()
    }
}

/// Unknowns of bodies that touch, in ascending order.
fn islands(rows: &[Line], bodies: usize) -> Vec<Vec<usize>> {
    let mut root: Vec<usize> = (0..bodies).collect();
    fn find(root: &[usize], mut i: usize) -> usize {
        while root[i] != i {
            i = root[i];
        }
        i
    }
    for row in rows {
        if let [Some(a), Some(b)] = row.at {
            let (a, b) = (find(&root, a / 2), find(&root, b / 2));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let Some(body) = row.at[0].or(row.at[1]) else { continue };
        let island = find(&root, body / 2);
        match found.iter_mut().find(|(r, _)| *r == island) {
            Some((_, members)) => members.push(i),
            None => found.push((island, vec![i])),
        }
    }
    found.into_iter().map(|(_, members)| members).collect()
}

impl StepLinear {
    /// Largest speed that gravity and the velocities at the start bring to a row without impulses \[m/s\].
    pub(super) fn speed(&self, source: &Source<'_>, step: usize) -> f64 {
        let h = source.simulator.durations()[step];
        let states = source.trajectory.state(step);
        let size = |(item, s): (&crate::impulse::system::Item, &RigidState)| {
            s.velocity.norm() + s.angular_velocity.norm() * item.radius.unwrap_or(0.0)
        };
        let start = source.system.items.iter().zip(states).map(size).fold(0.0, f64::max);
        start + source.system.gravity.norm() * h
    }
}
