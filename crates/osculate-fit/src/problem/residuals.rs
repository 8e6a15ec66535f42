//! Residuals of one toss, their Jacobian, and the parameters of a roll-out.

use super::channel::Numbers;
use super::segments::{Segments, push_continuity};
use super::typed::Typed;
use crate::contact_model::{ContactModel, ModelError};
use crate::least_squares::BlockResiduals;
use crate::robust::Robust;
use nalgebra::{DMatrix, DVector};
use osculate_dynamics::impulse::RigidState;
use osculate_dynamics::{Kinematics, OnFailure, Parameters};
use osculate_math::{Jet, Scalar};

/// Roll-outs of the segments of a toss with their numbers.
type Rolled<S> = Vec<(<S as ContactModel>::Parameters<f64>, <S as ContactModel>::Trajectory)>;

impl<S: ContactModel> Typed<S> {
    /// The parameters of a segment; `seed(i)` adds derivatives to shared (first) and own parameters.
    pub(super) fn at<T: Scalar>(
        &self,
        simulator: &S,
        shared: &[f64],
        own: &[f64],
        seed: impl Fn(usize) -> T,
    ) -> S::Parameters<T> {
        let scene = Parameters::of(simulator.scene());
        let mut p = S::lift::<T>(&simulator.all_parameters(scene));
        for (i, &u) in shared.iter().enumerate() {
            let q = &self.parameters[i];
            for &index in std::iter::once(&self.indices[i]).chain(&self.tied[i]) {
                let moved = T::from(q.to_value(u) - self.base_value(index)) + seed(i) * q.slope(u);
                // Clock offsets are numbers of the channels, not of the roll-out.
                if index < self.of_layout {
                    S::add(&self.layout, &mut p, index, moved);
                }
            }
        }
        for (k, ((index, _), &l)) in self.own.iter().zip(own).enumerate() {
            S::add(&self.layout, &mut p, *index, T::from(l) + seed(shared.len() + k));
        }
        p
    }

    /// Residuals of one segment in the scalar of a path.
    fn residuals<T: Scalar>(
        &self,
        segments: &Segments<S>,
        segment: usize,
        bodies: impl Fn(usize, usize) -> Kinematics<T>,
        (p, offset): (&Parameters<T>, impl Fn(usize) -> T),
        out: &mut Vec<T>,
    ) {
        let (toss, robust) = (&segments.toss, self.weights.robust.as_ref());
        let first = segments.cuts[segment];
        if self.stretch.channels.is_empty() {
            // A frame shared by two segments belongs to the later one.
            let last = segments.cuts[segment + 1];
            for frame in (first..last).filter(|&f| toss.observed[f]) {
                let y = bodies((frame - first) * self.stretch.substeps, self.stretch.body);
                let mut r = self.frame(segments, frame, &y.position, &y.rotation);
                r.chunks_mut(3).for_each(|r| Robust::apply(robust, r));
                out.extend(r);
            }
            return;
        }
        let ends = segments.simulators[segment].times();
        let channels = &self.stretch.channels;
        let numbers: Vec<Numbers<T>> =
            channels.iter().map(|c| c.numbers(&self.stretch.scene, p)).collect();
        let weights: Vec<f64> = (0..channels.len()).map(|c| self.weight_of(segments, c)).collect();
        for record in self.records(segments, segment) {
            let c = record.channel;
            let Some(sample) = toss.series[c][record.frame] else { continue };
            let by = (toss.times.as_slice(), ends.as_slice());
            let off = self.misfit(by, (record, &sample), &bodies, (&numbers[c], offset(c)));
            let begin = out.len();
            out.extend(channels[c].axes.iter().map(|&k| off[k] * weights[c]));
            Robust::apply(robust, &mut out[begin..]);
        }
    }

    /// Residuals of a toss in jets along `M` directions starting at `first` (shared, then own of each segment).
    fn block_in_jets<const M: usize>(
        &self,
        segments: &Segments<S>,
        derivatives: &[S::Derivatives<'_>],
        (shared, own): (&[f64], &[f64]),
        first: usize,
    ) -> Result<Vec<Jet<M>>, ModelError> {
        let (n, body, per) = (shared.len(), self.stretch.body, self.own.len());
        let mut out = Vec::new();
        let mut ends: Vec<RigidState<Jet<M>>> = Vec::new();
        let mut starts: Vec<RigidState<Jet<M>>> = Vec::new();
        for (s, simulator) in segments.simulators.iter().enumerate() {
            let seed = |i: usize| {
                let column = if i < n { i } else { i + s * per };
                match column.checked_sub(first) {
                    Some(d) if d < M => Jet::<M>::variable(0.0, d),
                    _ => Jet::<M>::constant(0.0),
                }
            };
            let p = self.at::<Jet<M>>(simulator, shared, &own[s * per..(s + 1) * per], seed);
            let path = S::path(&derivatives[s], &p)?;
            let scene = S::of_scene(&p);
            let state = |k: usize| S::state_on(&path, k, body);
            let bodies =
                |k: usize, i: usize| S::state_on(&path, k, i).kinematics(&scene.bodies[i].center);
            let offset = |c: usize| self.offset(c, shared, seed);
            self.residuals(segments, s, bodies, (scene, offset), &mut out);
            starts.push(state(0));
            ends.push(state(simulator.steps()));
        }
        self.push_priors(
            own,
            segments,
            |k| match (n + k).checked_sub(first) {
                Some(d) if d < M => Jet::<M>::variable(own[k], d),
                _ => Jet::<M>::constant(own[k]),
            },
            &mut out,
        );
        self.push_shared_priors(
            |i| match i.checked_sub(first) {
                Some(d) if d < M => Jet::<M>::variable(shared[i], d),
                _ => Jet::<M>::constant(shared[i]),
            },
            &mut out,
        );
        push_continuity(&starts, &ends, &mut out);
        Ok(out)
    }

    /// `(u − u₀)/(σ √B)` of every prior of a shared parameter: over `B` tosses that is the prior once.
    fn push_shared_priors<T: Scalar>(&self, value: impl Fn(usize) -> T, out: &mut Vec<T>) {
        let share = (self.tosses.len() as f64).sqrt();
        for (i, p) in self.parameters.iter().enumerate() {
            if let Some((at, sigma)) = p.prior_coordinates() {
                out.push((value(i) - at) / (sigma * share));
            }
        }
    }

    fn push_priors<T: Scalar>(
        &self,
        own: &[f64],
        segments: &Segments<S>,
        value: impl Fn(usize) -> T,
        out: &mut Vec<T>,
    ) {
        if segments.simulators.len() > 1 {
            return;
        }
        for (k, _) in own.iter().enumerate() {
            let sigma = self.own[k % self.own.len()].1;
            if sigma.is_finite() {
                out.push(value(k) / sigma);
            }
        }
    }

    pub(super) fn residuals_of(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ModelError> {
        let (segments, body, per) = (&self.tosses[block], self.stretch.body, self.own.len());
        let (mut values, mut rolled) = (Vec::new(), Rolled::<S>::new());
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (s, simulator) in segments.simulators.iter().enumerate() {
            let p = self.at::<f64>(simulator, shared, &own[s * per..(s + 1) * per], |_| 0.0);
            let trajectory = simulator.run(&p)?;
            let scene = S::of_scene(&p);
            let state = |k: usize| S::state(&trajectory, k, body);
            let bodies = |k: usize, i: usize| {
                S::state(&trajectory, k, i).kinematics(&scene.bodies[i].center)
            };
            let offset = |c: usize| self.offset(c, shared, |_| 0.0);
            self.residuals(segments, s, bodies, (scene, offset), &mut values);
            starts.push(state(0));
            ends.push(state(simulator.steps()));
            rolled.push((p, trajectory));
        }
        self.push_priors(own, segments, |k| own[k], &mut values);
        self.push_shared_priors(|i| shared[i], &mut values);
        push_continuity(&starts, &ends, &mut values);
        let (rows, n) = (values.len(), shared.len());
        let mut all = DMatrix::zeros(if jacobian { rows } else { 0 }, n + own.len());
        if jacobian {
            self.fill_jacobian(segments, &rolled, (shared, own), &mut all)?;
        }
        Ok(BlockResiduals {
            residuals: DVector::from_vec(values),
            shared: all.columns(0, n).into_owned(),
            own: all.columns(n, own.len()).into_owned(),
        })
    }

    fn fill_jacobian(
        &self,
        segments: &Segments<S>,
        rolled: &Rolled<S>,
        at: (&[f64], &[f64]),
        all: &mut DMatrix<f64>,
    ) -> Result<(), ModelError> {
        // One step without a derivative for sure must not lose a fit.
        let each = segments.simulators.iter().zip(rolled);
        let derivatives = each
            .map(|(simulator, (p, t))| simulator.linearise(p, t, OnFailure::Continue))
            .collect::<Result<Vec<_>, _>>()?;
        let derivatives = &derivatives;
        let mut first = 0;
        while first < all.ncols() {
            let left = all.ncols() - first;
            first += match left {
                1 | 2 => self.fill::<2>(segments, derivatives, at, first, all)?,
                3 => self.fill::<3>(segments, derivatives, at, first, all)?,
                4 | 5 => self.fill::<4>(segments, derivatives, at, first, all)?,
                _ => self.fill::<8>(segments, derivatives, at, first, all)?,
            };
        }
        Ok(())
    }

    fn fill<const M: usize>(
        &self,
        segments: &Segments<S>,
        derivatives: &[S::Derivatives<'_>],
        at: (&[f64], &[f64]),
        first: usize,
        all: &mut DMatrix<f64>,
    ) -> Result<usize, ModelError> {
        let jets = self.block_in_jets::<M>(segments, derivatives, at, first)?;
        for (row, jet) in jets.iter().enumerate() {
            // The last pass may be wider than what is left.
            for (d, e) in jet.eps.iter().take(all.ncols() - first).enumerate() {
                all[(row, first + d)] = *e;
            }
        }
        Ok(M)
    }
}
