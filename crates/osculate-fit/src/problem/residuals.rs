//! Residuals of one toss, their Jacobian, and the parameters of a roll-out.

use super::Problem;
use super::segments::{Segments, push_continuity};
use crate::least_squares::BlockResiduals;
use nalgebra::{DMatrix, DVector, Vector3};
use osculate_dynamics::sensitivity::tangent;
use osculate_dynamics::{BodyState, Parameters, RunError, Simulator, Trajectory};
use osculate_math::{Jet, Scalar};

impl Problem {
    /// The parameters of a segment; `seed(i)` adds derivatives to shared (first) and own parameters.
    pub(super) fn at<T: Scalar>(
        &self,
        simulator: &Simulator,
        shared: &[f64],
        own: &[f64],
        seed: impl Fn(usize) -> T,
    ) -> Parameters<T> {
        let mut p = simulator.parameters().lift::<T>();
        for (i, &u) in shared.iter().enumerate() {
            let q = &self.parameters[i];
            let moved = T::from(q.to_value(u) - self.base_values[i]) + seed(i) * q.slope(u);
            self.layout.add(&mut p, self.indices[i], moved);
        }
        for (k, ((index, _), &l)) in self.own.iter().zip(own).enumerate() {
            self.layout.add(&mut p, *index, T::from(l) + seed(shared.len() + k));
        }
        p
    }

    /// Residuals of one segment in the scalar of a path.
    fn residuals<T: Scalar>(
        &self,
        segments: &Segments,
        segment: usize,
        state: impl Fn(usize) -> BodyState<T>,
        center: &Vector3<T>,
        out: &mut Vec<T>,
    ) {
        let toss = &segments.toss;
        let first = segments.cuts[segment];
        // A frame shared by two segments belongs to the later one.
        let last = segments.cuts[segment + 1];
        for frame in (first..last).filter(|&f| toss.observed[f]) {
            let y = state((frame - first) * self.model.substeps).kinematics(center);
            out.extend(self.frame(segments, frame, &y.position, &y.rotation));
        }
    }

    /// Residuals of a toss in jets along `M` directions starting at `first` (shared, then own of each segment).
    fn block_in_jets<const M: usize>(
        &self,
        segments: &Segments,
        trajectories: &[Trajectory],
        (shared, own): (&[f64], &[f64]),
        first: usize,
    ) -> Result<Vec<Jet<M>>, RunError> {
        let (n, body, per) = (shared.len(), self.model.body, self.own.len());
        let mut out = Vec::new();
        let mut ends: Vec<BodyState<Jet<M>>> = Vec::new();
        let mut starts: Vec<BodyState<Jet<M>>> = Vec::new();
        for (s, simulator) in segments.simulators.iter().enumerate() {
            let seed = |i: usize| {
                let column = if i < n { i } else { i + s * per };
                match column.checked_sub(first) {
                    Some(d) if d < M => Jet::<M>::variable(0.0, d),
                    _ => Jet::<M>::constant(0.0),
                }
            };
            let p = self.at::<Jet<M>>(simulator, shared, &own[s * per..(s + 1) * per], seed);
            let path = tangent::path(simulator, &trajectories[s], &p)?;
            let center = p.bodies[body].center;
            self.residuals(segments, s, |k| path.state(k)[body], &center, &mut out);
            starts.push(path.state(0)[body]);
            ends.push(path.state(simulator.steps())[body]);
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
        push_continuity(&starts, &ends, &mut out);
        Ok(out)
    }

    fn push_priors<T: Scalar>(
        &self,
        own: &[f64],
        segments: &Segments,
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

    pub(super) fn block(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, RunError> {
        let (segments, body, per) = (&self.tosses[block], self.model.body, self.own.len());
        let (mut values, mut trajectories) = (Vec::new(), Vec::new());
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (s, simulator) in segments.simulators.iter().enumerate() {
            let p = self.at::<f64>(simulator, shared, &own[s * per..(s + 1) * per], |_| 0.0);
            let trajectory = simulator.run(&p)?;
            let center = p.bodies[body].center;
            self.residuals(segments, s, |k| trajectory.path.state(k)[body], &center, &mut values);
            starts.push(trajectory.path.state(0)[body]);
            ends.push(trajectory.path.state(simulator.steps())[body]);
            trajectories.push(trajectory);
        }
        self.push_priors(own, segments, |k| own[k], &mut values);
        push_continuity(&starts, &ends, &mut values);
        let (rows, n) = (values.len(), shared.len());
        let mut all = DMatrix::zeros(if jacobian { rows } else { 0 }, n + own.len());
        if jacobian {
            self.fill_jacobian(segments, &trajectories, (shared, own), &mut all)?;
        }
        Ok(BlockResiduals {
            residuals: DVector::from_vec(values),
            shared: all.columns(0, n).into_owned(),
            own: all.columns(n, own.len()).into_owned(),
        })
    }

    fn fill_jacobian(
        &self,
        segments: &Segments,
        trajectories: &[Trajectory],
        at: (&[f64], &[f64]),
        all: &mut DMatrix<f64>,
    ) -> Result<(), RunError> {
        let mut first = 0;
        while first < all.ncols() {
            let left = all.ncols() - first;
            first += match left {
                1 => self.fill::<1>(segments, trajectories, at, first, all)?,
                2 => self.fill::<2>(segments, trajectories, at, first, all)?,
                3 => self.fill::<3>(segments, trajectories, at, first, all)?,
                4 | 5 => self.fill::<4>(segments, trajectories, at, first, all)?,
                6 | 7 => self.fill::<6>(segments, trajectories, at, first, all)?,
                _ => self.fill::<8>(segments, trajectories, at, first, all)?,
            };
        }
        Ok(())
    }

    fn fill<const M: usize>(
        &self,
        segments: &Segments,
        trajectories: &[Trajectory],
        at: (&[f64], &[f64]),
        first: usize,
        all: &mut DMatrix<f64>,
    ) -> Result<usize, RunError> {
        let jets = self.block_in_jets::<M>(segments, trajectories, at, first)?;
        for (row, jet) in jets.iter().enumerate() {
            for (d, e) in jet.eps.iter().enumerate() {
                all[(row, first + d)] = *e;
            }
        }
        Ok(M)
    }
}
