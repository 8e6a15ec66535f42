//! A tree in jets.

use super::balance::Balance;
use super::{RowState, TreeStep};
use crate::articulated::immediate::{RowNumbers, RowSource, spring_row};
use crate::articulated::{ArticulatedModel, Load, ModelError, TreeKinematics, Way, closure_rows};
use crate::impulse::Coriolis;
use crate::impulse::body::RigidState;
use crate::impulse::sensitivity::ImpulseParameters;
use crate::impulse::sensitivity::source::Source;
use crate::reduction::Reduction;
use crate::{ArticulationParameters, JointState, Wrench};
use nalgebra::Vector3;
use osculate_math::{Jet, norm::scale};

type Pair<T> = (Vector3<T>, Vector3<T>);

/// The joints of a path in jets.
pub(in super::super) struct TreePath<'a, const M: usize> {
    reduction: Reduction<Jet<M>>,
    given: &'a ArticulationParameters<Jet<M>>,
    pub(in super::super) state: JointState<Jet<M>>,
    coriolis: Coriolis,
    /// One a link.
    weights: Vec<Vector3<Jet<M>>>,
}

/// The tree at the start of a step in jets.
pub(in super::super) struct TreePass<'a, const M: usize> {
    path: &'a TreePath<'a, M>,
    step: &'a TreeStep,
    index: usize,
    kinematics: TreeKinematics<Jet<M>>,
    after: Vec<Jet<M>>,
    /// Velocities of Coriolis and gyroscopic forces before contacts.
    moving: Vec<Jet<M>>,
    /// Velocities of the links at `v⁺`.
    pub(in super::super) links: Vec<Pair<Jet<M>>>,
}

impl<'a, const M: usize> TreePath<'a, M> {
    pub(in super::super) fn new(
        source: &Source<'_>,
        parameters: &'a ImpulseParameters<Jet<M>>,
    ) -> Option<Self> {
        let given = parameters.scene.articulation.as_ref()?;
        let reduction = Reduction::new(source.simulator.scene(), &parameters.scene, &[])?;
        let weight = |(link, &body): (usize, &usize)| {
            let mass = reduction.model.links()[link].inertia.mass;
            let falls = source.system.items[body].has_gravity;
            scale(&parameters.scene.gravity, if falls { mass } else { Jet::constant(0.0) })
        };
        let weights = reduction.bodies.iter().enumerate().map(weight).collect();
        let (state, coriolis) = (given.initial.clone(), source.settings.coriolis);
        Some(Self { reduction, given, state, coriolis, weights })
    }

    /// Writes the states of the links.
    pub(in super::super) fn place(&self, states: &mut [RigidState<Jet<M>>]) {
        let at = self.reduction.kinematics(&self.state.configuration);
        let moving = at.center_velocities(&self.reduction.model, &self.state.rates);
        for (link, (&body, (velocity, angular_velocity))) in
            self.reduction.bodies.iter().zip(moving).enumerate()
        {
            let rotation = at.links[link].rotation;
            let center = at.centers[link];
            states[body] = RigidState { center, rotation, velocity, angular_velocity };
        }
    }

    pub(in super::super) fn pass<'b>(
        &'b self,
        step: &'b TreeStep,
        index: usize,
    ) -> TreePass<'b, M> {
        let kinematics = self.reduction.kinematics(&self.state.configuration);
        let after: Vec<_> = step.after.iter().map(|&v| Jet::constant(v)).collect();
        let links = kinematics.center_velocities(&self.reduction.model, &after);
        let moving = match self.coriolis {
            Coriolis::Explicit => self.state.rates.clone(),
            Coriolis::Conserving => vec![Jet::constant(0.0); after.len()],
        };
        TreePass { path: self, step, index, kinematics, after, moving, links }
    }

    /// Goes on with the velocities that rows found in a step.
    ///
    /// # Errors
    /// Where a mass matrix is not positive definite.
    pub(in super::super) fn advance(
        &mut self,
        after: Vec<Jet<M>>,
        duration: f64,
    ) -> Result<(), ModelError> {
        let delta: Vec<_> = after.iter().map(|v| *v * duration).collect();
        let next = self.state.configuration.incremented(&delta);
        self.state.rates = match self.coriolis {
            Coriolis::Explicit => after,
            Coriolis::Conserving => {
                let model = &self.reduction.model;
                let [start, end] =
                    [&self.state.configuration, &next].map(|q| self.reduction.kinematics(q));
                let (ends, weights) = ([&start, &end], &self.weights);
                Way { model, ends, v: &after, weights, duration }.drift()?.after
            }
        };
        self.state.configuration = next;
        Ok(())
    }
}

impl<const M: usize> TreePass<'_, M> {
    fn model(&self) -> &ArticulatedModel<Jet<M>> {
        &self.path.reduction.model
    }

    fn of_step<'b>(&self, all: &'b [Jet<M>]) -> &'b [Jet<M>] {
        let n = self.after.len();
        all.get(self.index * n..(self.index + 1) * n).unwrap_or(&[])
    }

    fn balance(&self, duration: f64) -> Balance<'_, Jet<M>> {
        Balance {
            model: self.model(),
            at: &self.kinematics,
            q: &self.path.state.configuration,
            v: &self.path.state.rates,
            moving: &self.moving,
            after: &self.after,
            efforts: self.of_step(&self.path.given.efforts),
            targets: self.of_step(&self.path.given.targets),
            duration,
        }
    }

    /// `dv₀ = −Ĥ⁻¹ ∂G` along every direction, and residuals of the rows of joints.
    ///
    /// * `impulses`: linear and angular, of contacts, at the centre of mass of each body.
    pub(in super::super) fn change(
        &self,
        source: &Source<'_>,
        parameters: &ImpulseParameters<Jet<M>>,
        impulses: &[[Vector3<Jet<M>>; 2]],
        residual: &mut [Jet<M>],
    ) -> Vec<Jet<M>> {
        let h = source.simulator.durations()[self.index];
        let balance = self.balance(h);
        let gravity = parameters.scene.gravity;
        let dynamic = source.system.dynamic();
        let wrench = |(link, &body): (usize, &usize)| {
            let item = &source.system.items[body];
            let at = item.dynamic.map(|d| self.index * dynamic + d);
            let applied = at.and_then(|at| parameters.scene.wrenches.get(at)).copied();
            let Wrench { mut force, torque } = applied.unwrap_or_else(Wrench::zero);
            if !item.has_gravity {
                force -= scale(&gravity, self.model().links()[link].inertia.mass);
            }
            let [linear, angular] = impulses[body].map(|x| x.map(|x| x / h));
            (force + linear, torque + angular)
        };
        let wrenches = self.path.reduction.bodies.iter().enumerate().map(wrench).collect();
        let mut g = balance.smooth(&Load { gravity, wrenches });
        for live in &self.step.rows {
            let (row, impulse) = balance.row(live);
            if let (Some(row), RowState::Acting(unknown)) = (row, live.state) {
                residual[unknown] = row;
            }
            g[live.dof] -= impulse * live.sign;
        }
        for live in &self.step.blocks {
            let Some(along) = &live.along else { continue };
            let bound = balance.block_bound(live);
            for (k, x) in along.iter().enumerate() {
                g[live.first + k] -= bound * *x;
            }
        }
        self.closures(h, &mut g, residual);
        for direction in 0..M {
            let mut x: Vec<f64> = g.iter().map(|g| -g.eps[direction]).collect();
            self.step.factor.solve(&mut x);
            g.iter_mut().zip(x).for_each(|(g, x)| g.eps[direction] = x);
        }
        g
    }

    fn closures(&self, h: f64, g: &mut [Jet<M>], residual: &mut [Jet<M>]) {
        let each = self.model().closures().iter().map(|closure| {
            let numbers = [closure.stiffness, closure.damping];
            (numbers, closure_rows(self.model(), &self.kinematics, closure))
        });
        let each: Vec<_> = each.collect();
        for live in &self.step.rows {
            let (RowSource::Closure { closure, component }, RowState::Acting(unknown)) =
                (live.source, live.state)
            else {
                continue;
            };
            let (numbers, rows) = &each[closure];
            let row = &rows[component];
            let RowNumbers { bias, compliance } = spring_row(row.gap, *numbers, h);
            let mut sum = bias + compliance * live.impulse;
            for ((j, v), g) in row.jacobian.iter().zip(&self.after).zip(&mut *g) {
                sum += *j * *v;
                *g -= *j * live.impulse;
            }
            residual[unknown] = sum;
        }
    }
}
