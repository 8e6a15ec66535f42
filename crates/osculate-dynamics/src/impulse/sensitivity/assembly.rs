//! Matrices of the islands of a step.
//!
//! ```text
//! A = R M⁻¹C + diag(γ, 0, α)        of bodies that touch, directly or through others
//! ```

use super::error::ImpulseGradientError;
use super::factor::Factor;
use super::line::{LineList, Part};
use super::linear::{Friction, LivePair, StepLinear};
use super::source::Source;
use crate::OnFailure;
use nalgebra::Vector3;

/// Effect on the velocity of impulses without effect on the rows, below which it counts as none \[–\].
pub(super) const DETERMINED: f64 = 1e-7;

/// Unknowns of bodies that touch, and the factors of their matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct Island {
    pub(super) unknowns: Vec<usize>,
    pub(super) factor: Factor,
}

impl StepLinear {
    /// Matrices of the islands and their factors.
    ///
    /// * `pushed`: memory.
    pub(super) fn factorise(
        &mut self,
        source: &Source<'_>,
        step: usize,
        (diagonal, pushed): (&[f64], &mut Vec<Vector3<f64>>),
    ) -> Result<(), ImpulseGradientError> {
        pushed.clear();
        pushed.resize(self.after.len(), Vector3::zeros());
        let mut islands = std::mem::take(&mut self.islands);
        divide((&self.rows, self.inverse.len()), (&mut islands, &mut self.spare));
        self.alone = self.find_alone();
        for island in &mut islands {
            let (unknowns, factor) = (&island.unknowns, &mut island.factor);
            let n = unknowns.len();
            // A symmetric matrix takes to zero only impulses without any effect.
            let slides = self.is_coupled(unknowns);
            let matrix = factor.start(n);
            match self.alone {
                Some(at) => self.write_alone((at, slides), diagonal, matrix),
                None => self.write((unknowns, slides), diagonal, (matrix, pushed)),
            }
            factor.factorise(!slides);
            if slides && factor.rank() < n && source.on_indeterminate == OnFailure::Stop {
                self.check(source, step, (unknowns, factor), pushed)?;
            }
        }
        self.islands = islands;
        Ok(())
    }

    /// First unknown of the one free body that all rows move.
    fn find_alone(&self) -> Option<usize> {
        let place = |parts: &[Part; 2]| match parts {
            [own, Part { count: 0, .. }] | [Part { count: 0, .. }, own] => Some(*own),
            _ => None,
        };
        let mut parts = self.rows.parts().map(place);
        let first = parts.next().flatten()?;
        let free = first.count == 2 && first.at / 2 < self.inverse.len();
        (free && parts.all(|p| p == Some(first))).then_some(first.at)
    }

    /// `R M⁻¹C + D` of rows that all move one free body alone, of a symmetric matrix what is on and above the diagonal.
    fn write_alone<'m>(
        &self,
        (at, slides): (usize, bool),
        diagonal: &[f64],
        matrix: impl Iterator<Item = &'m mut [f64]>,
    ) {
        let (mass, inertia) = &self.inverse[at / 2];
        let columns = self.columns.pairs();
        for (i, ((out, d), row)) in matrix.zip(diagonal).zip(self.rows.pairs()).enumerate() {
            // `M⁻¹` is symmetric.
            let answer = [row[0] * *mass, inertia * row[1]];
            let from = if slides { 0 } else { i };
            for (x, column) in out[from..].iter_mut().zip(&columns[from..]) {
                *x = dot(&answer, column);
            }
            out[i] += d;
        }
    }

    /// `R M⁻¹C + D` of any rows, of a symmetric matrix what is on and above the diagonal.
    ///
    /// * `pushed`: zeros, which they are again.
    fn write<'m>(
        &self,
        (unknowns, slides): (&[usize], bool),
        diagonal: &[f64],
        (matrix, pushed): (impl Iterator<Item = &'m mut [f64]>, &mut [Vector3<f64>]),
    ) {
        for (i, (out, &row)) in matrix.zip(unknowns).enumerate() {
            let line = self.rows.get(row);
            line.apply(1.0, pushed);
            self.respond_parts(&line.parts, pushed);
            let from = if slides { 0 } else { i };
            for (x, &column) in out[from..].iter_mut().zip(&unknowns[from..]) {
                *x = self.columns.get(column).velocity(pushed);
            }
            out[i] += diagonal[row];
            for part in line.parts {
                pushed[part.at..part.at + part.count].fill(Vector3::zeros());
            }
        }
    }

    /// Whether a pair slides whose load is among the unknowns, which ascend.
    fn is_coupled(&self, unknowns: &[usize]) -> bool {
        let slides = |p: &&LivePair| !matches!(p.friction, Friction::Stick);
        let pairs = self.pairs.iter().filter(slides).map(|p| p.normal_unknown);
        let spins = self.spins.iter().filter(|s| s.state.is_err()).map(|s| s.normal_unknown);
        let ellipsoids = self.ellipsoids.iter().filter(|e| e.slides()).map(|e| e.normal_unknown);
        let torsions = self.torsions.iter().filter(|t| t.slides()).map(|t| t.normal_unknown);
        let mut all = pairs.chain(spins).chain(ellipsoids).chain(torsions);
        all.any(|i| unknowns.binary_search(&i).is_ok())
    }

    /// Whether impulses without effect on the rows have none on the velocity.
    ///
    /// * `pushed`: memory of velocities; zeros afterwards.
    fn check(
        &self,
        source: &Source<'_>,
        step: usize,
        (unknowns, factor): (&[usize], &Factor),
        pushed: &mut [Vector3<f64>],
    ) -> Result<(), ImpulseGradientError> {
        let mut failed = None;
        factor.null_vectors(|null| {
            pushed.fill(Vector3::zeros());
            let (mut parts, mut worst) = (0.0, (0.0, unknowns[0]));
            for (&i, x) in unknowns.iter().zip(null) {
                let column = self.columns.get(i);
                column.apply(*x, pushed);
                let part = x.abs() * self.mobility(column).sqrt();
                parts += part;
                if part > worst.0 {
                    worst = (part, i);
                }
            }
            let effect = self.energy(pushed).max(0.0).sqrt() / parts;
            if effect > DETERMINED && failed.is_none() {
                failed = Some((effect, worst.1));
            }
        });
        pushed.fill(Vector3::zeros());
        match failed {
            Some((effect, worst)) => Err(self.indeterminate(source, step, (effect, worst))),
            None => Ok(()),
        }
    }

    /// That the motion depends on the impulse of an unknown.
    fn indeterminate(
        &self,
        source: &Source<'_>,
        step: usize,
        (effect, worst): (f64, usize),
    ) -> ImpulseGradientError {
        let scene = source.simulator.scene();
        let name = |part: Part| {
            let same = |i: &crate::impulse::system::Item| match part.place() {
                None => i.inertia.is_none(),
                Some(at) if at / 2 < self.inverse.len() => i.unknown == Some(at),
                Some(_) => i.link.is_some(),
            };
            let body = source.system.items.iter().position(same);
            body.map_or(String::new(), |b| scene.bodies[b].name.clone())
        };
        let normal = self.normals.iter().find(|n| n.unknown == worst);
        let record = &source.trajectory.records[step];
        let [first, second] = match normal.map(|n| record.contacts[n.contact].bodies) {
            Some(b) => b.map(|b| scene.bodies[b].name.clone()),
            None => self.rows.get(worst).parts.map(name),
        };
        let allowed = DETERMINED;
        ImpulseGradientError::Indeterminate { step, first, second, effect, allowed }
    }
}

/// `J J'ᵀ` of a free body, with the even and the odd entries apart.
#[inline]
fn dot([a, b]: &[Vector3<f64>; 2], [c, d]: &[Vector3<f64>; 2]) -> f64 {
    let (even, odd) = (a.x * c.x + a.z * c.z + b.y * d.y, a.y * c.y + b.x * d.x + b.z * d.z);
    even + odd
}

/// Unknowns of bodies that touch, in ascending order.
///
/// * `free`: how many free bodies there are; a tree comes after them.
fn divide(
    (rows, free): (&LineList, usize),
    (islands, spare): (&mut Vec<Island>, &mut Vec<Island>),
) {
    let place = |part: &Part| part.place().map(|at| (at / 2).min(free));
    let mut next = || {
        let mut island = spare.pop().unwrap_or_default();
        island.unknowns.clear();
        island
    };
    // One body on the ground: the most common.
    let mut places = rows.parts().flatten().filter_map(place);
    let first = places.next();
    if places.all(|p| Some(p) == first) {
        if !rows.is_empty() {
            let mut island = next();
            island.unknowns.extend(0..rows.len());
            islands.push(island);
        }
        return;
    }
    let mut root: Vec<usize> = (0..=free).collect();
    fn find(root: &[usize], mut i: usize) -> usize {
        while root[i] != i {
            i = root[i];
        }
        i
    }
    for parts in rows.parts() {
        if let [Some(a), Some(b)] = parts.each_ref().map(place) {
            let (a, b) = (find(&root, a), find(&root, b));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut roots: Vec<usize> = Vec::new();
    for (i, parts) in rows.parts().enumerate() {
        let Some(body) = parts.iter().find_map(place) else { continue };
        let own = find(&root, body);
        let index = roots.iter().position(|r| *r == own).unwrap_or_else(|| {
            roots.push(own);
            islands.push(next());
            islands.len() - 1
        });
        islands[index].unknowns.push(i);
    }
}
