//! The adjoint of one stage: the pullback of `r·λ` to the start of the stage and to everything a [`System`] is made of.

use super::{Inertial, Pair, Stage, System};
use crate::RotationUpdate;
use crate::parameters::Wrench;
use crate::state::StateBar;
use nalgebra::{Matrix3, Vector3};
use osculate_contact::assembly::{PairGradient, PairStage};
use osculate_contact::params::PAIR_PARAMETERS;
use osculate_geometry::collider::{Collider, DIMENSIONS};
use osculate_geometry::quadrature::SampleValues;
use osculate_math::Scalar;
use std::collections::BTreeMap;

impl<T: Scalar> System<'_, T> {
    /// Subtracts `∂(r·λ)/∂(start state, parameters)` from the cotangents: the adjoint of one stage.
    pub(crate) fn pull_residual(
        &self,
        stage: &Stage<'_, T>,
        lambda: &[T],
        (start_bars, base_bars): (&mut [StateBar<T>], &mut [StateBar<T>]),
        bars: &mut SystemBar<T>,
    ) {
        for (i, start_bar) in start_bars.iter_mut().enumerate() {
            if let Some(at) = self.unknown[i] {
                let v = |k: usize| -Vector3::new(lambda[k], lambda[k + 1], lambda[k + 2]);
                self.pull_inertia(i, stage, (&v(at), &v(at + 3)), start_bar, bars);
            }
        }
        self.for_each_pair(stage, |pair, p| {
            self.pull_pair((pair, p), stage, lambda, start_bars, bars);
        });
        if self.rotation == RotationUpdate::Chart {
            self.pull_rates(stage, (start_bars, base_bars), bars);
        }
    }

    fn pull_pair(
        &self,
        (pair, p): (&Pair<T>, &PairStage<'_, T>),
        stage: &Stage<'_, T>,
        lambda: &[T],
        start_bars: &mut [StateBar<T>],
        bars: &mut SystemBar<T>,
    ) {
        let (now, before) = (stage.now[pair.b].rotation, stage.start[pair.b].rotation);
        let test = |body: usize, turn: usize| match self.unknown[body] {
            Some(at) => {
                let k = at + 3 * turn;
                now.transpose() * -Vector3::new(lambda[k], lambda[k + 1], lambda[k + 2])
            }
            None => Vector3::zeros(),
        };
        let mu = [test(pair.a, 0), test(pair.a, 1), test(pair.b, 0), test(pair.b, 1)];
        let mut gradient = PairGradient::default();
        let samples = &mut bars.samples[pair.a];
        let nodes = &mut bars.nodes[pair.b];
        let mut touched = false;
        p.add_gradient(&mu, &mut gradient, |i, x| {
            samples.points[i] += x.point;
            touched = true;
            if let (Some(w), Some(n)) = (samples.weights.get_mut(i), samples.normals.get_mut(i)) {
                *w += x.weight;
                *n += x.normal;
            }
            if let Collider::FreeGrid(grid) = p.collider {
                for (position, field) in x.fields.iter().flatten() {
                    grid.pull_nodes(position, *field, nodes);
                }
            }
        });
        if !touched {
            return;
        }
        let by_params = bars.pairs.entry((pair.a, pair.b)).or_insert([T::zero(); PAIR_PARAMETERS]);
        for (g, x) in by_params.iter_mut().zip(gradient.params) {
            *g += x;
        }
        for (g, x) in bars.dimensions[pair.b].iter_mut().zip(gradient.dimensions) {
            *g += x;
        }
        bars.center[pair.b] += gradient.collider_center;
        let rates = self.has_rates();
        if rates {
            self.pull_carried_back(pair, stage, &gradient, bars);
        }
        for (side, body) in [pair.a, pair.b].into_iter().enumerate() {
            let start = [before * gradient.start[2 * side], before * gradient.start[2 * side + 1]];
            if !rates {
                start_bars[body].center += start[0];
                start_bars[body].rotation += start[1];
            }
            // A body that is not solved for has its present pose as a parameter.
            if self.unknown[body].is_none() {
                bars.pose[body][0] += now * gradient.now[2 * side];
                bars.pose[body][1] += now * gradient.now[2 * side + 1];
            }
        }
    }
}

/// Cotangents of everything a [`System`] is made of.
#[derive(Clone, Debug)]
pub(crate) struct SystemBar<T> {
    /// By the combined parameters of the pairs that touched.
    pub(crate) pairs: BTreeMap<(usize, usize), [T; PAIR_PARAMETERS]>,
    pub(crate) dimensions: Vec<[T; DIMENSIONS]>,
    pub(crate) mass: Vec<T>,
    pub(crate) second_moment: Vec<Matrix3<T>>,
    /// By the centre of mass as the collider sees it (its samples have their own share).
    pub(crate) center: Vec<Vector3<T>>,
    /// By samples relative to the centre of mass; by weights and normals only where the shape is free.
    pub(crate) samples: Vec<SampleValues<T>>,
    /// By the node values of the collider, where they are free.
    pub(crate) nodes: Vec<Vec<T>>,
    /// By the present pose of a static body.
    pub(crate) pose: Vec<[Vector3<T>; 2]>,
    pub(crate) gravity: Vector3<T>,
    pub(crate) wrenches: Vec<Wrench<T>>,
    /// The step being pulled, for the wrenches.
    pub(crate) step: usize,
    /// By velocity and angular velocity of the bodies at the stage being pulled ([`RotationUpdate::Chart`]).
    pub(super) rates: Vec<[Vector3<T>; 2]>,
}

impl<T: Scalar> SystemBar<T> {
    pub(crate) fn zero(system: &System<'_, T>, wrenches: usize) -> Self {
        let (n, o) = (system.bodies.len(), Vector3::zeros());
        let bodies =
            || system.bodies.iter().zip(system.scene.bodies.iter().map(|b| b.shape.is_some()));
        let samples = |n: usize, free: bool| SampleValues {
            points: vec![o; n],
            weights: vec![T::zero(); if free { n } else { 0 }],
            normals: vec![o; if free { n } else { 0 }],
        };
        let nodes = |b: &Inertial<T>| match &b.collider {
            Some(Collider::FreeGrid(grid)) => grid.values().len(),
            _ => 0,
        };
        Self {
            // A small scene has its pairs at once: a sweep of any length allocates the same.
            pairs: system
                .small_pairs()
                .map(|p| ((p.a, p.b), [T::zero(); PAIR_PARAMETERS]))
                .collect(),
            dimensions: vec![[T::zero(); DIMENSIONS]; n],
            mass: vec![T::zero(); n],
            second_moment: vec![Matrix3::zeros(); n],
            center: vec![o; n],
            samples: bodies().map(|(b, free)| samples(b.points.len(), free)).collect(),
            nodes: bodies().map(|(b, _)| vec![T::zero(); nodes(b)]).collect(),
            pose: vec![[o; 2]; n],
            gravity: o,
            wrenches: vec![Wrench::zero(); wrenches],
            step: 0,
            rates: vec![[o; 2]; n],
        }
    }
}
