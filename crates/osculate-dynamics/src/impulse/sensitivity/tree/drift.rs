//! Pullback of Coriolis and gyroscopic forces that act on the way to the end of a step.

use super::TreeStep;
use super::adjoint::TreeSweep;
use crate::articulated::Way;
use crate::impulse::sensitivity::adjoint::Total;
use crate::impulse::sensitivity::source::Source;
use crate::reduction::Power;
use nalgebra::Vector3;

impl TreeSweep<'_> {
    /// Takes the derivatives by the velocities after a step to those by what they came from: the positions after it are added here, the
    /// velocities of its rows and the positions before it are returned.
    pub(super) fn pull_drift(
        &mut self,
        source: &Source<'_>,
        tree: &TreeStep,
        step: usize,
        total: &mut Total,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let next = source.trajectory.joints(step + 1)?;
        let (reduction, model) = (self.reduction, &self.reduction.model);
        let end = reduction.kinematics(&next.configuration);
        let links = reduction.bodies.iter().zip(model.links());
        let weights: Vec<_> =
            links.map(|(&b, l)| source.system.weight(b, l.inertia.mass)).collect();
        let way = Way {
            model,
            ends: [&tree.kinematics, &end],
            v: &tree.after,
            weights: &weights,
            duration: source.simulator.durations()[step],
        };
        // The step was made with the same mass matrix.
        let drift = way.drift().ok()?;
        let bar = way.pull(&drift, &self.bar.rate);
        for (link, &body) in reduction.bodies.iter().enumerate() {
            if source.system.items[body].has_gravity {
                total.mass[body] += bar.weights[link].dot(&source.system.gravity);
                total.gravity += bar.weights[link] * model.links()[link].inertia.mass;
            }
        }
        let mut start = vec![0.0; tree.after.len()];
        let mut position = std::mem::take(&mut self.bar.position);
        let places = [(&tree.kinematics, &mut start), (&end, &mut position)];
        for (((at, position), inverse), forces) in
            places.into_iter().zip(&bar.inverse).zip(&bar.forces)
        {
            for by in inverse {
                position.iter_mut().zip(&by.position).for_each(|(p, by)| *p += by);
                self.add_inverse(at, by, total);
            }
            let wrenches: Vec<_> = forces.iter().map(|f| (*f, Vector3::zeros())).collect();
            let power = Power { rates: &tree.after, wrenches: &wrenches };
            reduction.pull_motions(at, &[], &[power], (position, &mut self.total));
        }
        self.bar.position = position;
        Some((bar.velocity, start))
    }
}
