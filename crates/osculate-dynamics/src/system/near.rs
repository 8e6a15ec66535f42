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
//! lists there are changes no bit of a sum: samples that do not touch add nothing, and the others keep their order.

use super::{PARALLEL, Pair, Part, Stage, System, scatter, scatter_blocks};
use crate::BodyState;
use crate::linalg::BlockMatrix;
use crate::newton::Linearised;
use nalgebra::{Matrix3, Vector3};
use osculate_contact::assembly::{NearForces, PairStage, Wrenches};
use rayon::prelude::*;

/// Margin of a list as a share of the reach of the colliding body.
const MARGIN: f64 = 0.1;

/// Lists of the pairs of an island, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near(Vec<NearPair>);

/// The list of one pair.
#[derive(Clone, Debug, Default)]
struct NearPair {
    /// Centres and rotations of the two bodies where the list was made.
    at: Option<[(Vector3<f64>, Matrix3<f64>); 2]>,
    /// How far a sample may move \[m\] before the list is made again.
    allowed: f64,
    samples: Vec<u32>,
}

impl Near {
    pub(crate) fn of(pairs: usize) -> Self {
        Self(vec![NearPair::default(); pairs])
    }
}

impl NearPair {
    fn holds(&self, reach: f64, now: [&BodyState; 2]) -> bool {
        let Some(at) = &self.at else { return false };
        let moved = |k: usize| {
            let turn = now[k].rotation - at[k].1;
            ((now[k].center - at[k].0).norm(), turn.norm())
        };
        let ((a, turn_a), (b, turn_b)) = (moved(0), moved(1));
        let arm = (at[0].0 - at[1].0).norm() + reach;
        a + turn_a * reach + b + turn_b * arm < self.allowed
    }

    /// Makes the list at the present poses.
    fn make(&mut self, stage: &PairStage<'_>, reach: f64, now: [&BodyState; 2]) {
        let margin = MARGIN * reach;
        self.samples.clear();
        if stage.may_be_near(reach, margin) {
            stage.find_near(margin, &mut self.samples);
        }
        // A little less than the margin, for rounding.
        self.allowed = 0.999 * margin / stage.collider.steepest();
        self.at = Some(now.map(|y| (y.center, y.rotation)));
    }
}

impl System<'_, f64> {
    /// Calls `make` with every pair that has samples on its list, with the list brought up to date, and `take` with what it makes, in the
    /// order of the pairs for any number of threads.
    fn each_near<R: Send>(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        near: &mut Near,
        make: impl Fn(&Pair<f64>, &PairStage<'_>, &NearPair) -> R + Send + Sync,
        mut take: impl FnMut(&Pair<f64>, R),
    ) {
        let one = |(pair, list): (&Pair<f64>, &mut NearPair)| {
            let (reach, now) = (self.bodies[pair.a].reach, pair.slots.map(|s| &stage.now[s]));
            let holds = list.holds(reach, now);
            if holds && list.samples.is_empty() {
                return None;
            }
            let p = self.pair_anywhere(pair, stage)?;
            if !holds {
                list.make(&p, reach, now);
            }
            (!list.samples.is_empty()).then(|| make(pair, &p, list))
        };
        if part.pairs.len() < PARALLEL || rayon::current_num_threads() == 1 {
            for (pair, list) in part.pairs.iter().zip(&mut near.0) {
                if let Some(made) = one((pair, list)) {
                    take(pair, made);
                }
            }
        } else {
            let all = part.pairs.par_iter().zip(&mut near.0).with_min_len(PARALLEL / 8);
            let made: Vec<Option<R>> = all.map(one).collect();
            for (pair, made) in part.pairs.iter().zip(made) {
                if let Some(made) = made {
                    take(pair, made);
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
        let mut scale = self.inertial_residual(part, stage, r);
        let mut potential = 0.0;
        k.clear();
        self.inertial_jacobian(part, stage, k);
        let force = |pair: &Pair<f64>, p: &PairStage<'_>, list: &NearPair| {
            p.near_forces(&list.samples, pair.moving)
        };
        self.each_near(part, stage, near, force, |pair, found: NearForces| {
            if found.wrenches.magnitude > 0.0 {
                scale += found.wrenches.magnitude;
                potential += found.potential;
                scatter(part, pair, stage, &found.wrenches, r);
                scatter_blocks(part, pair, stage, &found.blocks, k);
            }
        });
        let has = self.has_potential(stage);
        let potential = has.then(|| potential + self.inertial_potential(part, stage));
        Linearised { scale, potential }
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
        let force = |_: &Pair<f64>, p: &PairStage<'_>, list: &NearPair| {
            let mut wrenches = Wrenches::default();
            p.add_forces_of(&list.samples, &mut wrenches);
            wrenches
        };
        self.each_near(part, stage, near, force, |pair, wrenches| {
            scatter(part, pair, stage, &wrenches, r);
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
        let energy =
            |_: &Pair<f64>, p: &PairStage<'_>, list: &NearPair| p.potential_of(&list.samples);
        self.each_near(part, stage, near, energy, |_, energy| sum += energy);
        Some(sum + self.inertial_potential(part, stage))
    }
}
