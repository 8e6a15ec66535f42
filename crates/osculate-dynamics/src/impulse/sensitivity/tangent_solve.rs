//! The solve of a tangent step, and where it leads.

use super::tangent::Pass;
use crate::impulse::body::RigidState;
use nalgebra::Vector3;
use osculate_math::{Jet, lift};

impl<const M: usize> Pass<'_, M> {
    /// From the velocities at fixed impulses to those at the impulses that follow.
    pub(super) fn solve(&self, v: &mut [Vector3<Jet<M>>], residual: &[Jet<M>]) {
        for k in 0..M {
            let mut change: Vec<Vector3<f64>> = v.iter().map(|v| v.map(|x| x.eps[k])).collect();
            let mut x: Vec<f64> = self
                .linear
                .rows
                .iter()
                .zip(residual)
                .map(|(row, e)| -e.eps[k] - row.velocity(&change))
                .collect();
            self.linear.solve(&mut x);
            let mut pushed = vec![Vector3::zeros(); v.len()];
            for (column, x) in self.linear.columns.iter().zip(&x) {
                column.apply(*x, &mut pushed);
            }
            self.linear.respond(&mut pushed);
            for ((v, own), more) in v.iter_mut().zip(&mut change).zip(&pushed) {
                *own += more;
                for (x, e) in v.iter_mut().zip(own.iter()) {
                    x.eps[k] = *e;
                }
            }
        }
        for (v, after) in v.iter_mut().zip(&self.linear.after) {
            for (x, value) in v.iter_mut().zip(after.iter()) {
                x.re = *value;
            }
        }
    }

    pub(super) fn advanced(&self, v: &[Vector3<Jet<M>>]) -> Vec<RigidState<Jet<M>>> {
        let source = &self.lin.source;
        let h = source.simulator.durations()[self.step];
        let ends = source.trajectory.state(self.step + 1);
        let items = source.system.items.iter().zip(self.state).zip(ends);
        let advance = |((item, state), end): ((&crate::impulse::system::Item, _), &RigidState)| {
            let state: &RigidState<Jet<M>> = state;
            match item.unknown {
                Some(at) => state.advanced(&[v[at], v[at + 1]], h),
                // A prescribed pose is data.
                None if !item.motion.is_empty() => RigidState {
                    center: lift(&end.center),
                    rotation: end.rotation.map(Jet::constant),
                    ..*state
                },
                None => *state,
            }
        };
        items.map(advance).collect()
    }
}
