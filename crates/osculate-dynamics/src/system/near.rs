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

/// Lists of the pairs of an island, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near(Vec<NearPair>);

/// The list of one pair.
#[derive(Clone, Debug, Default)]
struct NearPair {
    /// Centres and rotations of the two bodies where the list was made.
    at: Option<[(Vector3<f64>, Matrix3<f64>); 2]>,
    /// A bound of the slope of the field, and of how much it has changed at any sample since \[m\].
    slope: f64,
    changed: f64,
    samples: Vec<NearSample>,
    /// Magnitude of the forces \[N\] and potential \[J\] of the last linearisation.
    sums: [f64; 2],
}

impl Near {
    pub(crate) fn of(pairs: usize) -> Self {
        Self(vec![NearPair::default(); pairs])
    }

    /// Takes the lists of some pairs.
    pub(crate) fn take(&mut self, pairs: &[usize]) -> Self {
        Self(pairs.iter().map(|&i| std::mem::take(&mut self.0[i])).collect())
    }

    /// Puts lists back where they were taken.
    pub(crate) fn put_back(&mut self, pairs: &[usize], lists: Self) {
        for (&i, list) in pairs.iter().zip(lists.0) {
            self.0[i] = list;
        }
    }

    /// Magnitude of all forces \[N\] and their potential \[J\].
    fn sums(&self) -> [f64; 2] {
        self.0.iter().fold([0.0; 2], |[m, p], list| [m + list.sums[0], p + list.sums[1]])
    }
}

impl NearPair {
    /// A bound of how far any sample has moved in the collider's axes since the list was made \[m\].
    fn moved(&self, reach: f64, now: [&BodyState; 2]) -> f64 {
        let Some(at) = &self.at else { return f64::INFINITY };
        let moved = |k: usize| {
            let turn = now[k].rotation - at[k].1;
            ((now[k].center - at[k].0).norm(), turn.norm())
        };
        let ((a, turn_a), (b, turn_b)) = (moved(0), moved(1));
        let arm = (at[0].0 - at[1].0).norm() + reach;
        a + turn_a * reach + b + turn_b * arm
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
        self.at = Some(now.map(|y| (y.center, y.rotation)));
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
        let one = |(pair, list): (&Pair<f64>, &mut NearPair), made: &mut R| {
            if !part.has_unknowns(pair) {
                return false;
            }
            let (reach, now) = (self.bodies[pair.a].reach, pair.slots.map(|s| &stage.now[s]));
            list.changed = list.slope * list.moved(reach, now);
            let holds = list.at.is_some() && list.changed < MARGIN * reach;
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
            for (pair, list) in part.pairs.iter().zip(&mut near.0) {
                if one((pair, list), &mut made) {
                    take(pair, &made);
                }
            }
        } else {
            let all = part.pairs.par_iter().zip(&mut near.0).with_min_len(PARALLEL / 8);
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
        for (pair, list) in part.pairs.iter().zip(&mut near.0) {
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
    /// * `moved`: by slot.
    pub(crate) fn linearise_again(
        &self,
        part: &Part<'_, f64>,
        stage: &Stage<'_, f64>,
        (near, moved): (&mut Near, &[bool]),
        r: &mut [f64],
        k: &mut BlockMatrix<f64>,
    ) -> Linearised {
        let mut changed = moved.to_vec();
        for pair in part.pairs {
            let [a, b] = pair.slots;
            if moved[a] || moved[b] {
                (changed[a], changed[b]) = (true, true);
            }
        }
        let unknown = part.unknown.iter().zip(&changed);
        let unknown: Vec<_> = unknown.map(|(at, changed)| at.filter(|_| *changed)).collect();
        let mut rows = vec![false; k.diagonal.len()];
        let mut fresh = vec![0.0; r.len()];
        let scale = self.inertial_residual(part, stage, &mut fresh);
        for &at in unknown.iter().flatten() {
            r[at..at + BLOCK].copy_from_slice(&fresh[at..at + BLOCK]);
            rows[at / BLOCK] = true;
        }
        k.clear_among(&rows);
        let some = Part { unknown: &unknown, ..*part };
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
mod tests {
    use super::*;
    use crate::{Body, Parameters, RotationUpdate, Scene};
    use osculate_contact::{ContactLaw, DissipationSchedule};
    use osculate_geometry::collider::Collider;
    use osculate_geometry::mass::MassProperties;
    use osculate_geometry::mesh::TriangleMesh;
    use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
    use osculate_math::{se3::Pose, so3};

    /// A row of cubes that overlap a little with each other and the ground.
    fn row(count: usize) -> Scene {
        let half = Vector3::repeat(0.05);
        let mut ground = Body::fixed("ground");
        ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
        let mut bodies = vec![ground];
        for i in 0..count {
            let mass = MassProperties::cuboid(0.37, &half).unwrap();
            let mut cube = Body::dynamic(format!("cube_{i}"), mass);
            let position = Vector3::new(0.0995 * i as f64, 0.0, 0.0498);
            let rotation = so3::exp(&Vector3::new(0.0, 0.002 * i as f64, 0.01));
            cube.pose = Pose { position, rotation };
            let mesh = TriangleMesh::cuboid(&half).unwrap();
            cube.samples = Some(SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3));
            cube.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
            bodies.push(cube);
        }
        Scene::new(Vector3::new(0.0, 0.0, -9.81), bodies).unwrap()
    }

    fn stage<'a>(now: &'a [BodyState], start: &'a [BodyState]) -> Stage<'a, f64> {
        Stage { now, start, base: start, duration: 5e-3, wrenches: &[], joints: None }
    }

    #[test]
    fn rows_written_again_have_the_bits_of_all_written_at_once() {
        for schedule in DissipationSchedule::ALL {
            let scene = row(9);
            let law = ContactLaw { schedule, ..ContactLaw::default() };
            let p = Parameters::of(&scene);
            let system = System::new(&scene, (law, RotationUpdate::RateTensor), &p).unwrap();
            let start: Vec<BodyState> =
                scene.bodies.iter().map(|b| BodyState::at_rest(b.pose)).collect();
            let mut now = start.clone();
            system.with_whole(&stage(&start, &start), |part| {
                let n = part.unknowns;
                let (mut r, mut k) = (vec![0.0; n], BlockMatrix::default());
                k.reset(n / BLOCK, part.edges);
                let mut near = Near::of(part.pairs.len());
                system.linearise_near(part, &stage(&now, &start), &mut near, &mut r, &mut k);
                // One cube a little, one out of reach of what it touched.
                now[4].center += Vector3::new(2e-4, 0.0, -1e-4);
                now[8].center += Vector3::new(0.3, 0.0, 0.4);
                let moved: Vec<bool> = (0..now.len()).map(|i| i == 4 || i == 8).collect();
                let again = system.linearise_again(
                    part,
                    &stage(&now, &start),
                    (&mut near, &moved),
                    &mut r,
                    &mut k,
                );
                let (mut r_all, mut k_all) = (vec![0.0; n], BlockMatrix::default());
                k_all.reset(n / BLOCK, part.edges);
                let mut near = Near::of(part.pairs.len());
                let all = system.linearise_near(
                    part,
                    &stage(&now, &start),
                    &mut near,
                    &mut r_all,
                    &mut k_all,
                );
                assert_eq!((again.scale, again.potential), (all.scale, all.potential));
                assert_eq!(r, r_all);
                assert_eq!((k.diagonal, k.off), (k_all.diagonal, k_all.off));
            });
        }
    }
}
