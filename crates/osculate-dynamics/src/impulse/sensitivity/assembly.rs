//! Matrices of the islands of a step.
//!
//! ```text
//! A = R M⁻¹C + diag(γ, 0, α)        of bodies that touch, directly or through others
//! ```

use super::error::ImpulseGradientError;
use super::factor::Factor;
use super::line::{Line, LineSide};
use super::linear::{Friction, LivePair, StepLinear, response};
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
        for island in &mut islands {
            let (unknowns, factor) = (&island.unknowns, &mut island.factor);
            let n = unknowns.len();
            // A symmetric matrix takes to zero only impulses without any effect.
            let slides = self.is_coupled(unknowns);
            let matrix = factor.start(n);
            match self.alone(unknowns) {
                Some(at) => self.write_alone((unknowns, at), matrix),
                None => self.write((unknowns, slides), (matrix, pushed)),
            }
            for (j, &unknown) in unknowns.iter().enumerate() {
                matrix[j * n + j] += diagonal[unknown];
            }
            factor.factorise(!slides);
            if slides && factor.rank() < n && source.on_indeterminate == OnFailure::Stop {
                self.check(source, step, (unknowns, factor))?;
            }
        }
        self.islands = islands;
        Ok(())
    }

    /// First vector of unknowns of the one free body that all rows of an island move.
    fn alone(&self, unknowns: &[usize]) -> Option<usize> {
        let (first, _) = self.rows[*unknowns.first()?].alone()?;
        let own = |line: &Line| line.alone().is_some_and(|(at, _)| at == first);
        unknowns.iter().all(|&i| own(&self.rows[i]) && own(&self.columns[i])).then_some(first)
    }

    /// `R M⁻¹C` of rows that move one free body.
    fn write_alone(&self, (unknowns, at): (&[usize], usize), matrix: &mut [f64]) {
        let (mass, inertia) = &self.inverse[at / 2];
        let n = unknowns.len();
        for (j, &column) in unknowns.iter().enumerate() {
            let Some((_, [l, a])) = self.columns[column].alone() else { continue };
            let (l, a) = (l * *mass, inertia * a);
            for (i, &row) in unknowns.iter().enumerate() {
                if let Some((_, own)) = self.rows[row].alone() {
                    matrix[i * n + j] = own[0].dot(&l) + own[1].dot(&a);
                }
            }
        }
    }

    /// `R M⁻¹C` of any rows, of a symmetric matrix what is on and above the diagonal.
    ///
    /// * `pushed`: zeros, which they are again.
    fn write(
        &self,
        (unknowns, slides): (&[usize], bool),
        (matrix, pushed): (&mut [f64], &mut [Vector3<f64>]),
    ) {
        let n = unknowns.len();
        for (j, &column) in unknowns.iter().enumerate() {
            let answer = self.response(column);
            answer.apply(1.0, pushed);
            let rows = if slides { unknowns } else { &unknowns[..=j] };
            for (i, &row) in rows.iter().enumerate() {
                matrix[i * n + j] = self.rows[row].velocity(pushed);
            }
            answer.clear(pushed);
        }
    }

    /// `M⁻¹` of a column.
    fn response(&self, column: usize) -> Line {
        response(&self.columns[column], &self.inverse, self.tree.as_ref())
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
    fn check(
        &self,
        source: &Source<'_>,
        step: usize,
        (unknowns, factor): (&[usize], &Factor),
    ) -> Result<(), ImpulseGradientError> {
        for null in factor.null_vectors() {
            let mut w = vec![Vector3::zeros(); self.after.len()];
            let (mut parts, mut worst) = (0.0, (0.0, unknowns[0]));
            for (&i, x) in unknowns.iter().zip(&null) {
                self.columns[i].apply(*x, &mut w);
                let part = x.abs() * self.columns[i].dot(&self.response(i)).sqrt();
                parts += part;
                if part > worst.0 {
                    worst = (part, i);
                }
            }
            let mut v = w.clone();
            self.respond(&mut v);
            let energy: f64 = v.iter().zip(&w).map(|(v, w)| v.dot(w)).sum();
            let effect = energy.max(0.0).sqrt() / parts;
            if effect > DETERMINED {
                let scene = source.simulator.scene();
                let name = |side: &LineSide| {
                    let same = |i: &crate::impulse::system::Item| match side {
                        LineSide::Fixed => i.inertia.is_none(),
                        LineSide::Free { at, .. } => i.unknown == Some(*at),
                        LineSide::Tree { .. } => i.link.is_some(),
                    };
                    let body = source.system.items.iter().position(same);
                    body.map_or(String::new(), |b| scene.bodies[b].name.clone())
                };
                let normal = self.normals.iter().find(|n| n.unknown == worst.1);
                let record = &source.trajectory.records[step];
                let bodies = normal.map(|n| record.contacts[n.contact].bodies);
                let [first, second] = match bodies {
                    Some(b) => b.map(|b| scene.bodies[b].name.clone()),
                    None => self.rows[worst.1].sides.each_ref().map(name),
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
}

/// Unknowns of bodies that touch, in ascending order.
///
/// * `free`: how many free bodies there are; a tree comes after them.
fn divide((rows, free): (&[Line], usize), (islands, spare): (&mut Vec<Island>, &mut Vec<Island>)) {
    let place = |side: &LineSide| side.at().map(|at| (at / 2).min(free));
    let mut next = || {
        let mut island = spare.pop().unwrap_or_default();
        island.unknowns.clear();
        island
    };
    // One body on the ground: the most common.
    let mut places = rows.iter().flat_map(|row| &row.sides).filter_map(place);
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
    for row in rows {
        if let [Some(a), Some(b)] = row.sides.each_ref().map(place) {
            let (a, b) = (find(&root, a), find(&root, b));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut roots: Vec<usize> = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let Some(body) = row.sides.iter().find_map(place) else { continue };
        let own = find(&root, body);
        let index = roots.iter().position(|r| *r == own).unwrap_or_else(|| {
            roots.push(own);
            islands.push(next());
            islands.len() - 1
        });
        islands[index].unknowns.push(i);
    }
}
