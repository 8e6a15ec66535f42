//! What the velocities of a tree do while its joints move and nothing acts: Coriolis and gyroscopic forces that do no work.
//!
//! ```text
//! q⁺ = q ⊕ h v,   H(q⁺) a + c(q⁺, v) = 0,   v° = v + h a,   v⁺ = s v°
//! s² = (v·H(q) v + 2 W)/(v°·H(q⁺) v°),      W = h/2 Σ w_i·(V_i(q⁺, v) − V_i(q, v))
//! ```
//!
//! Gravity acts on the momentum at `q` and on the way from `q` to `q⁺`: `W` is what its power `w_i·V_i` of the start leaves out, by the trapezoidal
//! rule. Then `½ v⁺·H(q⁺) v⁺ = ½ v·H(q) v + W`: without weight the energy is kept to rounding, whatever the step. In the metric
//! `H(q⁺)` the gradient of the energy is the velocity itself, so that `s` is the orthogonal projection on the surface of that energy (Hairer, Lubich,
//! Wanner, *Geometric Numerical Integration*, 2006, IV.4); `s − 1 = O(h²)`. Trees of a forest have an `s` each.

use super::dynamics::{Load, bias, inverse_dynamics, mass_matrix};
use super::error::ModelError;
use super::inverse_pull::{InverseBar, pull_inverse_dynamics};
use super::kinematics::TreeKinematics;
use super::mass_factor::MassFactor;
use super::model::ArticulatedModel;
use nalgebra::Vector3;
use osculate_math::{Scalar, norm::scale};

/// Least part of the kinetic energy that the weight leaves; below it a step is too long for the motion it takes.
const LEAST: f64 = 0.25;

/// A way of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<'a, T = f64> {
    pub(crate) model: &'a ArticulatedModel<T>,
    /// At `q` and at `q⁺`.
    pub(crate) ends: [&'a TreeKinematics<T>; 2],
    /// `v`, one a degree of freedom.
    pub(crate) v: &'a [T],
    /// `w_i` \[N\], world, one a link.
    pub(crate) weights: &'a [Vector3<T>],
    /// `h` \[s\].
    pub(crate) duration: f64,
}

/// Velocities at the end of a way, and what they came from.
#[derive(Clone, Debug)]
pub(crate) struct Drift<T = f64> {
    /// `v⁺`.
    pub(crate) after: Vec<T>,
    acceleration: Vec<T>,
    /// `v°`.
    unscaled: Vec<T>,
    /// Of the tree of each link, at its root.
    trees: Vec<TreeScale<T>>,
    factor: MassFactor<T>,
}

#[derive(Clone, Copy, Debug)]
struct TreeScale<T> {
    s: T,
    /// `v°·H(q⁺) v°`.
    unscaled: T,
    /// Whether the weight leaves less than it may.
    held: bool,
}

/// Derivatives of `v̄·v⁺`.
#[derive(Clone, Debug)]
pub(crate) struct DriftBar {
    /// By `v`.
    pub(crate) velocity: Vec<f64>,
    /// By what inverse dynamics depend on, but velocities and accelerations: at `q`, at `q⁺`.
    pub(crate) inverse: [Vec<InverseBar>; 2],
    /// Forces whose power `f_i·V_i(v)` at `q` and at `q⁺` is to be pulled.
    pub(crate) forces: [Vec<Vector3<f64>>; 2],
    /// By the weights.
    pub(crate) weights: Vec<Vector3<f64>>,
}

/// Root of the tree of each link.
fn roots<T: Scalar>(model: &ArticulatedModel<T>) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::with_capacity(model.links().len());
    for (i, link) in model.links().iter().enumerate() {
        out.push(link.parent.map_or(i, |p| out[p]));
    }
    out
}

impl<T: Scalar> Way<'_, T> {
    /// `H v` at one end.
    fn momentum(&self, at: &TreeKinematics<T>, v: &[T]) -> Vec<T> {
        let still = vec![T::zero(); v.len()];
        inverse_dynamics(self.model, at, &still, v, &Load::gravity(Vector3::zeros()))
    }

    /// `v·H v` of each tree, at its root.
    fn energies(&self, at: &TreeKinematics<T>, v: &[T], roots: &[usize]) -> Vec<T> {
        let mut out = vec![T::zero(); roots.len()];
        for (k, p) in self.momentum(at, v).into_iter().enumerate() {
            out[roots[self.model.link_of(k)]] += p * v[k];
        }
        out
    }

    /// `h/2 (V_i(q⁺, v) − V_i(q, v))` of the centres of mass.
    fn bends(&self) -> Vec<Vector3<T>> {
        let [start, end] = self.ends.map(|at| at.center_velocities(self.model, self.v));
        start
            .iter()
            .zip(&end)
            .map(|(a, b)| (b.0 - a.0).map(|x| x * (0.5 * self.duration)))
            .collect()
    }

    /// `v⁺`.
    ///
    /// # Errors
    /// Where the mass matrix at the end is not positive definite.
    pub(crate) fn drift(&self) -> Result<Drift<T>, ModelError> {
        let [start, end] = self.ends;
        let roots = roots(self.model);
        let factor = MassFactor::new(self.model, mass_matrix(self.model, end))?;
        let mut a = bias(self.model, end, self.v, &Load::gravity(Vector3::zeros()));
        factor.solve(&mut a);
        a.iter_mut().for_each(|a| *a = -*a);
        let unscaled: Vec<T> =
            self.v.iter().zip(&a).map(|(v, a)| *v + *a * self.duration).collect();
        let mut kept = self.energies(start, self.v, &roots);
        let least: Vec<T> = kept.iter().map(|e| *e * LEAST).collect();
        for ((bend, weight), &root) in self.bends().iter().zip(self.weights).zip(&roots) {
            kept[root] += bend.dot(weight) * 2.0;
        }
        let found = self.energies(end, &unscaled, &roots);
        let of = |((kept, least), found): ((&T, &T), &T)| {
            let held = *kept < *least;
            let ratio = if held { *least } else { *kept } / *found;
            // A tree at rest stays so, with the derivative of its velocity the identity.
            let moves = ratio > 0.0 && ratio.re().is_finite();
            TreeScale { s: if moves { ratio.sqrt() } else { T::one() }, unscaled: *found, held }
        };
        let trees: Vec<TreeScale<T>> = kept.iter().zip(&least).zip(&found).map(of).collect();
        let scaled = |(k, v): (usize, &T)| trees[roots[self.model.link_of(k)]].s * *v;
        let after = unscaled.iter().enumerate().map(scaled).collect();
        Ok(Drift { after, acceleration: a, unscaled, trees, factor })
    }
}

impl Way<'_> {
    /// Pullback of [`Way::drift`].
    ///
    /// * `bar`: `v̄`, one a degree of freedom.
    pub(crate) fn pull(&self, drift: &Drift, bar: &[f64]) -> DriftBar {
        let [start, end] = self.ends;
        let (roots, n) = (roots(self.model), bar.len());
        let of_dof = |k: usize| roots[self.model.link_of(k)];
        let mut by_scale = vec![0.0; roots.len()];
        for k in 0..n {
            by_scale[of_dof(k)] += bar[k] * drift.unscaled[k];
        }
        // s² e° = e + 2 W:  2 s e° ds = de + 2 dW − s² de°.
        let energy = |(by, tree): (&f64, &TreeScale<f64>)| {
            let moves = tree.unscaled > 0.0;
            if moves { by / (2.0 * tree.s * tree.unscaled) } else { 0.0 }
        };
        let kept: Vec<f64> = by_scale.iter().zip(&drift.trees).map(energy).collect();
        let zero = Vector3::zeros();
        let still = vec![0.0; n];
        // e = v·H v, with both factors: u = v times its weight, and twice the derivative by the acceleration.
        let by_energy = |at: &TreeKinematics, v: &[f64], by: &dyn Fn(usize) -> f64| {
            let u: Vec<f64> = v.iter().enumerate().map(|(k, v)| by(of_dof(k)) * v).collect();
            pull_inverse_dynamics(self.model, at, (&still, v), &u, &zero)
        };
        let found = |root: usize| -kept[root] * drift.trees[root].s * drift.trees[root].s;
        let at_end = by_energy(end, &drift.unscaled, &found);
        let part = |root: usize| kept[root] * if drift.trees[root].held { LEAST } else { 1.0 };
        let at_start = by_energy(start, self.v, &part);
        let mut velocity: Vec<f64> = (0..n)
            .map(|k| drift.trees[of_dof(k)].s * bar[k] + 2.0 * at_end.acceleration[k])
            .collect();
        // v° = v + h a,  H a + c = 0.
        let mut test: Vec<f64> = velocity.iter().map(|v| -self.duration * v).collect();
        drift.factor.solve(&mut test);
        let motion = (self.v, &drift.acceleration[..]);
        let by_motion = pull_inverse_dynamics(self.model, end, motion, &test, &zero);
        for (k, v) in velocity.iter_mut().enumerate() {
            *v += by_motion.velocity[k] + 2.0 * at_start.acceleration[k];
        }
        let weight = |(i, w): (usize, &Vector3<f64>)| {
            let tree = &drift.trees[roots[i]];
            if tree.held { zero } else { scale(w, kept[roots[i]] * self.duration) }
        };
        let ahead: Vec<Vector3<f64>> = self.weights.iter().enumerate().map(weight).collect();
        let behind: Vec<Vector3<f64>> = ahead.iter().map(|f| -f).collect();
        for (at, forces) in [(end, &ahead), (start, &behind)] {
            let wrenches: Vec<_> = forces.iter().map(|f| (*f, zero)).collect();
            let by = at.generalised_forces(self.model, &wrenches);
            velocity.iter_mut().zip(by).for_each(|(v, by)| *v += by);
        }
        let by_weight = |(i, bend): (usize, Vector3<f64>)| {
            let tree = &drift.trees[roots[i]];
            if tree.held { zero } else { bend * (2.0 * kept[roots[i]]) }
        };
        let weights = self.bends().into_iter().enumerate().map(by_weight).collect();
        let inverse = [vec![at_start], vec![at_end, by_motion]];
        DriftBar { velocity, inverse, forces: [behind, ahead], weights }
    }
}

#[cfg(test)]
#[path = "drift_tests.rs"]
mod tests;
