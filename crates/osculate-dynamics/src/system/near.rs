//! Evaluations of an island during one stage solve: lists of the samples of each pair that may touch while the bodies stay near
//! where the lists were made.
//!
//! A list holds the samples with `Φ` below the threshold and a margin. A sample has moved in the collider's axes by at most
//!
//! ```text
//! |δp| ≤ |δc_A| + ‖δR_A‖ ρ_A + |δc_B| + ‖δR_B‖ (|c_A − c_B| + ρ_A)        ρ_A the reach of the samples of A
//! ```
//!
//! so while that times the steepest slope of `Φ` is below the margin, no other sample touches; beyond, the list is made again. Which
//! lists there are changes no bit of a sum: samples that do not touch add nothing, and the others keep their order. Most lists are made at the
//! poses of the first evaluation, so how far bodies are from those is found once an evaluation and not for each of their pairs.

use super::scatter::{scatter, scatter_near};
use super::{PARALLEL, Pair, Part, Stage, System};
use crate::BodyState;
use crate::linalg::BlockMatrix;
use crate::linalg::blocks::BLOCK;
use crate::newton::Linearised;
use nalgebra::{Matrix3, Vector3};
use osculate_contact::assembly::{NearForces, NearSample, PairStage, Wrenches};
use rayon::prelude::*;

/// Margin of a list as a share of the reach of the colliding body.
const MARGIN: f64 = 0.1;

/// Centre and rotation of a body.
type Place = (Vector3<f64>, Matrix3<f64>);

/// Lists of the pairs of an island, in their order. Their memory is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near {
    /// The first `count` are in use.
    lists: Vec<NearPair>,
    count: usize,
    /// Where the bodies were at the first evaluation, by slot, and how far from there they are: `|δc|` \[m\] and `‖δR‖`.
    first: Vec<Place>,
    away: Vec<[f64; 2]>,
}

/// Where the bodies of a pair were when its list was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Made {
    #[default]
    Never,
    /// At the first evaluation.
    First,
    Elsewhere,
}

/// The list of one pair.
#[derive(Clone, Debug, Default)]
struct NearPair {
    made: Made,
    /// Where, if not at the first evaluation. Few pairs have it: it stands apart.
    elsewhere: Option<Box<[Place; 2]>>,
    /// `|c_A − c_B| + ρ_A` there \[m\].
    arm: f64,
    /// A bound of the slope of the field, and of how much it has changed at any sample since \[m\].
    slope: f64,
    changed: f64,
    samples: Vec<NearSample>,
    /// Magnitude of the forces \[N\] and potential \[J\] of the last linearisation.
    sums: [f64; 2],
}

/// Which bodies of a part have moved, and memory for what that changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    /// By slot.
    pub(crate) moved: Vec<bool>,
    changed: Vec<bool>,
    unknown: Vec<Option<usize>>,
    rows: Vec<bool>,
    fresh: Vec<f64>,
}

impl Near {
    /// Starts anew, with lists that were never made.
    pub(crate) fn prepare(&mut self, pairs: usize) {
        if self.lists.len() < pairs {
            self.lists.resize_with(pairs, NearPair::default);
        }
        self.count = pairs;
        self.lists[..pairs].iter_mut().for_each(NearPair::forget);
        self.first.clear();
    }

    /// Lends the lists of some pairs, between the bodies of some slots.
    pub(crate) fn lend(&mut self, pairs: &[usize], slots: &[usize], to: &mut Self) {
        to.lists.clear();
        to.lists.extend(pairs.iter().map(|&i| std::mem::take(&mut self.lists[i])));
        to.count = pairs.len();
        to.first.clear();
        to.first.extend(slots.iter().map(|&s| self.first[s]));
    }

    /// Takes back the lists that were lent.
    pub(crate) fn take_back(&mut self, pairs: &[usize], from: &mut Self) {
        for (&i, list) in pairs.iter().zip(from.lists.drain(..)) {
            self.lists[i] = list;
        }
    }

    /// Finds how far bodies are from where they were first.
    fn follow(&mut self, now: &[BodyState]) {
        if self.first.is_empty() {
            self.first.extend(now.iter().map(place));
        }
        self.away.clear();
        self.away.extend(self.first.iter().zip(now).map(|(at, now)| away(at, now)));
    }

    /// Magnitude of all forces \[N\] and their potential \[J\].
    fn sums(&self) -> [f64; 2] {
        self.lists[..self.count]
            .iter()
            .fold([0.0; 2], |[m, p], list| [m + list.sums[0], p + list.sums[1]])
    }
}

fn place(now: &BodyState) -> Place {
    (now.center, now.rotation)
}

/// `|δc|` \[m\] and `‖δR‖`.
fn away(at: &Place, now: &BodyState) -> [f64; 2] {
    [(now.center - at.0).norm(), (now.rotation - at.1).norm()]
}

impl NearPair {
    fn forget(&mut self) {
        let Self { samples, elsewhere, .. } = std::mem::take(self);
        (self.samples, self.elsewhere) = (samples, elsewhere);
        self.samples.clear();
    }

    /// A bound of how far any sample has moved in the collider's axes since the list was made \[m\].
    fn moved(&self, reach: f64, from_first: [&[f64; 2]; 2], now: [&BodyState; 2]) -> f64 {
        let [[a, turn_a], [b, turn_b]] = match (self.made, &self.elsewhere) {
            (Made::First, _) => from_first.map(|away| *away),
            (Made::Elsewhere, Some(at)) => [away(&at[0], now[0]), away(&at[1], now[1])],
            _ => return f64::INFINITY,
        };
        a + turn_a * reach + b + turn_b * self.arm
    }

    /// Makes the list at the present poses.
    fn make(&mut self, stage: &PairStage<'_>, reach: f64, now: [&BodyState; 2]) {
        let margin = MARGIN * reach;
        self.samples.clear();
        if stage.may_be_near(reach, margin) {
            stage.find_near(margin, &mut self.samples);
        }
        // A little more than the slope, for rounding.
        self.slope = 1.001 * stage.collider.steepest();
        self.changed = 0.0;
        self.arm = (now[0].center - now[1].center).norm() + reach;
        if self.made == Made::Never {
            self.made = Made::First;
        } else {
            self.made = Made::Elsewhere;
            **self.elsewhere.get_or_insert_default() = now.map(place);
        }
    }
}

impl System<'_, f64> {
    /// Calls `make` with every pair that has samples on its list, with the list brought up to date, and `take` with what it makes, in the
    /// order of the pairs for any number of threads.
    fn each_near<R: Default + Send>(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        near: &mut Near,
        make: impl Fn(&PairStage<'_>, &mut NearPair, &mut R) + Send + Sync,
        mut take: impl FnMut(&Pair<f64>, &R),
    ) {
        near.follow(stage.now);
        let (lists, away) = (&mut near.lists[..near.count], &near.away);
        let one = |(pair, list): (&Pair<f64>, &mut NearPair), made: &mut R| {
            if !part.has_unknowns(pair) {
                return false;
            }
            let (reach, now) = (self.bodies[pair.a].reach, pair.slots.map(|s| &stage.now[s]));
            list.changed = list.slope * list.moved(reach, pair.slots.map(|s| &away[s]), now);
            let holds = list.made != Made::Never && list.changed < MARGIN * reach;
            if holds && list.samples.is_empty() {
                return false;
            }
            let Some(p) = self.pair_anywhere(pair, stage) else { return false };
            if !holds {
                list.make(&p, reach, now);
            }
            let any = !list.samples.is_empty();
            if any {
                make(&p, list, made);
            }
            any
        };
        if part.pairs.len() < PARALLEL || rayon::current_num_threads() == 1 {
            // One place for what is made of any pair: it is large.
            let mut made = R::default();
            for (pair, list) in part.pairs.iter().zip(lists) {
                if one((pair, list), &mut made) {
                    take(pair, &made);
                }
            }
        } else {
            let all = part.pairs.par_iter().zip(lists).with_min_len(PARALLEL / 8);
            let one = |of| {
                let mut made = R::default();
                one(of, &mut made).then_some(made)
            };
            let made: Vec<Option<R>> = all.map(one).collect();
            for (pair, made) in part.pairs.iter().zip(made) {
                if let Some(made) = made {
                    take(pair, &made);
                }
            }
        }
    }

    /// Writes residual and Jacobian, as [`System::residual_and_jacobian`] does; tells the potential too.
    pub(crate) fn linearise_near(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        near: &mut Near,
        r: &mut [f64],
        k: &mut BlockMatrix<f64>,
    ) -> Linearised {
        let scale = self.inertial_residual(part, stage, r);
        k.clear();
        self.add_near(part, stage, near, r, k);
        self.summed(part, stage, near, scale)
    }

    /// What [`System::linearise_near`] told of a part where the lists were linearised last, whether as this part or within another.
    pub(crate) fn known_near(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        near: &Near,
        memory: &mut Vec<f64>,
    ) -> Linearised {
        memory.clear();
        memory.resize(part.unknowns, 0.0);
        let inertial = self.inertial_residual(part, stage, memory);
        self.summed(part, stage, near, inertial)
    }

    /// Adds the Jacobian of inertia, and forces of the lists with their Jacobian.
    fn add_near(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        near: &mut Near,
        r: &mut [f64],
        k: &mut BlockMatrix<f64>,
    ) {
        self.inertial_jacobian(part, stage, k);
        for (pair, list) in part.pairs.iter().zip(&mut near.lists[..near.count]) {
            if part.has_unknowns(pair) {
                list.sums = [0.0; 2];
            }
        }
        let force = |p: &PairStage<'_>, list: &mut NearPair, found: &mut NearForces| {
            p.near_forces(&list.samples, list.changed, found);
            list.sums = [found.wrenches.magnitude, found.potential];
        };
        self.each_near(part, stage, near, force, |pair, found: &NearForces| {
            if found.wrenches.magnitude > 0.0 {
                scatter(part, pair, stage, &found.wrenches, r);
                scatter_near(part, pair, stage, found, k);
            }
        });
    }

    /// What a linearisation tells, from the sums of the lists.
    ///
    /// * `inertial`: scale of inertia, gravity and applied forces \[N\].
    fn summed(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        near: &Near,
        inertial: f64,
    ) -> Linearised {
        let [magnitude, potential] = near.sums();
        let has = self.has_potential(stage);
        let potential = has.then(|| potential + self.inertial_potential(part, stage));
        Linearised { scale: inertial + magnitude, potential }
    }

    /// [`System::linearise_near`] where only some bodies have moved since the last time: writes the rows that this changes, with the bits
    /// that all would have.
    ///
    /// * `again`: which have, by slot.
    pub(crate) fn linearise_again(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        (near, again): (&mut Near, &mut Again),
        r: &mut [f64],
        k: &mut BlockMatrix<f64>,
    ) -> Linearised {
        let Again { moved, changed, unknown, rows, fresh } = again;
        changed.clone_from(moved);
        for pair in part.pairs {
            let [a, b] = pair.slots;
            if moved[a] || moved[b] {
                (changed[a], changed[b]) = (true, true);
            }
        }
        unknown.clear();
        let slots = part.unknown.iter().zip(&*changed);
        unknown.extend(slots.map(|(at, changed)| at.filter(|_| *changed)));
        rows.clear();
        rows.resize(k.diagonal.len(), false);
        fresh.clear();
        fresh.resize(r.len(), 0.0);
        let scale = self.inertial_residual(part, stage, fresh);
        for &at in unknown.iter().flatten() {
            r[at..at + BLOCK].copy_from_slice(&fresh[at..at + BLOCK]);
            rows[at / BLOCK] = true;
        }
        k.clear_among(rows);
        let some = Part { unknown, ..*part };
        self.add_near(&some, stage, near, r, k);
        self.summed(part, stage, near, scale)
    }

    /// [`System::residual`] by the lists.
    pub(crate) fn residual_near(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        near: &mut Near,
        r: &mut [f64],
    ) {
        self.inertial_residual(part, stage, r);
        let force = |p: &PairStage<'_>, list: &mut NearPair, wrenches: &mut Wrenches| {
            *wrenches = Wrenches::default();
            p.add_forces_of(&list.samples, wrenches);
        };
        self.each_near(part, stage, near, force, |pair, wrenches| {
            scatter(part, pair, stage, wrenches, r);
        });
    }

    /// [`System::potential`] by the lists.
    pub(crate) fn potential_near(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        near: &mut Near,
    ) -> Option<f64> {
        if !self.has_potential(stage) {
            return None;
        }
        let mut sum = 0.0;
        let energy = |p: &PairStage<'_>, list: &mut NearPair, energy: &mut f64| {
            *energy = p.potential_of(&list.samples);
        };
        self.each_near(part, stage, near, energy, |_, energy| sum += energy);
        Some(sum + self.inertial_potential(part, stage))
    }
}

#[cfg(test)]
#[path = "near_tests.rs"]
mod tests;
