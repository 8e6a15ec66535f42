//! In which order rows are swept: one after the other, or in stages whose parts share no velocity.
//!
//! ```text
//! serial                  groups, joints
//! colored                 groups of colour 0, 1, …; joints
//! with propagation        contacts inside trees | pull | all others (in colours or not) | push through the trees | joints | pull
//! ```
//!
//! A colour is the smallest that no earlier group of either body has. Parts of a stage are solved at once, each with its own copy of the velocities it
//! acts on, and written back in their order: the bits are the same for any number of threads.

use super::parts::{Part, Partition};
use super::propagation::TreePass;
use super::residual::Worst;
use super::row::{Side, Velocities};
use super::rows::{Group, Rows};
use super::settings::{ImpulseSettings, SolveMode};
use super::solve::{self, ImpulseStats, Phase, Solver};
use super::stall::Manner;
use nalgebra::Vector3;
use osculate_contact::impulse::ImpulseError;
use rayon::prelude::*;
use std::ops::Range;

/// Parts that one thread takes at least.
const AT_ONCE: usize = 16;

enum Stage {
    /// Parts that share no velocity.
    Parts(Range<usize>),
    /// Impulses on links go through their trees.
    Push,
    /// Links get the velocities of their trees.
    Pull,
}

struct Schedule<'a> {
    v: &'a mut Velocities,
    parts: Vec<Part>,
    stages: Vec<Stage>,
    partition: Partition,
    passes: Vec<TreePass>,
}

/// Sweeps in the order that the settings say until the residual is within the tolerance.
///
/// # Errors
/// Where an impulse law refuses its input.
pub(crate) fn solve(
    rows: &mut Rows,
    v: &mut Velocities,
    settings: &ImpulseSettings,
    scale: f64,
) -> Result<ImpulseStats, ImpulseError> {
    if is_plain(rows, settings) {
        return solve::solve(rows, v, settings, scale);
    }
    let mut schedule = Schedule::new(rows, v, settings.solve_mode);
    let stats = schedule.solve(settings, scale);
    schedule.finish(rows);
    stats
}

/// Sweeps in which overlaps are no bias, in the order that the settings say.
///
/// # Errors
/// Where an impulse law refuses its input.
pub(crate) fn settle(
    rows: &mut Rows,
    v: &mut Velocities,
    settings: &ImpulseSettings,
) -> Result<(), ImpulseError> {
    if is_plain(rows, settings) {
        return solve::settle(rows, v, settings);
    }
    let mut schedule = Schedule::new(rows, v, settings.solve_mode);
    let settled = schedule.settle(settings);
    schedule.finish(rows);
    settled
}

/// Whether rows are swept one after the other as they are.
fn is_plain(rows: &Rows, settings: &ImpulseSettings) -> bool {
    settings.solve_mode == SolveMode::Serial && rows.passes.is_empty()
}

/// The colour of each group, among those of its class.
fn colours(rows: &Rows, classes: &[usize], unknowns: usize) -> Vec<usize> {
    let mut taken: [Vec<Vec<bool>>; 2] = std::array::from_fn(|_| vec![Vec::new(); unknowns]);
    let mut colour = |(group, &class): (&Group, &usize)| {
        let own = rows.places(group);
        let taken = &mut taken[class];
        let is_free = |c: &usize| {
            own.iter().flatten().all(|&at| !taken[at].get(*c).copied().unwrap_or(false))
        };
        let found = (0..).find(is_free).unwrap_or(0);
        for at in own.into_iter().flatten() {
            if taken[at].len() <= found {
                taken[at].resize(found + 1, false);
            }
            taken[at][found] = true;
        }
        found
    };
    rows.groups.iter().zip(classes).map(&mut colour).collect()
}

impl<'a> Schedule<'a> {
    fn new(rows: &mut Rows, v: &'a mut Velocities, mode: SolveMode) -> Self {
        let passes = std::mem::take(&mut rows.passes);
        // Contacts inside trees come before those of links that are bodies of their own.
        let class = |group: &Group| {
            let rows = &rows.normals[group.normals.clone()];
            let dense = rows.iter().any(|n| n.row.sides.iter().any(Side::is_tree));
            usize::from(!passes.is_empty() && !dense)
        };
        let classes: Vec<usize> = rows.groups.iter().map(class).collect();
        let count = rows.groups.len();
        let (colours, cells) = match mode {
            SolveMode::Serial => (vec![0; count], vec![0; count]),
            SolveMode::Colored => (colours(rows, &classes, v.len()), (0..count).collect()),
        };
        let key = |g: usize| (classes[g], colours[g], cells[g]);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&g| key(g));
        let mut partition = Partition { groups: vec![0; count], ..Partition::default() };
        let mut stages = Vec::new();
        let mut last = None;
        for &g in &order {
            let (class, colour, cell) = key(g);
            if last.is_none_or(|(a, b, _)| (a, b) != (class, colour)) {
                if last.is_some_and(|(a, ..)| a != class) {
                    stages.push(Stage::Pull);
                }
                stages.push(Stage::Parts(partition.parts..partition.parts));
            }
            if last != Some((class, colour, cell)) {
                partition.parts += 1;
            }
            last = Some((class, colour, cell));
            partition.groups[g] = partition.parts - 1;
            if let Some(Stage::Parts(range)) = stages.last_mut() {
                range.end = partition.parts;
            }
        }
        if !passes.is_empty() {
            stages.push(Stage::Push);
        }
        let joints = partition.parts..partition.parts + rows.joints.len();
        partition.joints = joints.clone().collect();
        partition.parts = joints.end;
        stages.push(Stage::Parts(joints));
        if !passes.is_empty() {
            stages.push(Stage::Pull);
        }
        let parts = partition.split(rows, v.len());
        Self { v, parts, stages, partition, passes }
    }
}

/// Does something with parts that share no velocity; what it found, in their order.
fn at_once<R: Send>(
    parts: &mut [Part],
    v: &Velocities,
    each: impl Fn(&mut Part) -> R + Sync,
) -> Vec<R> {
    let one = |part: &mut Part| {
        part.read(v);
        each(part)
    };
    if parts.len() < 2 * AT_ONCE {
        return parts.iter_mut().map(one).collect();
    }
    parts.par_iter_mut().with_min_len(AT_ONCE).map(one).collect()
}

impl Schedule<'_> {
    fn solve(
        &mut self,
        settings: &ImpulseSettings,
        scale: f64,
    ) -> Result<ImpulseStats, ImpulseError> {
        let tolerance = settings.tolerance;
        let contacts = self.parts.iter().map(|p| p.rows.normals.len()).sum();
        let mut stats = ImpulseStats { tolerance, contacts, ..Default::default() };
        let solver = Solver { settings, phase: Phase::Position, manner: Manner::WHOLE };
        while stats.sweeps < settings.sweeps {
            let change = self.sweep(&solver)?;
            stats.sweeps += 1;
            stats.stationary = change <= 0.0;
            let small = |size: f64| size <= tolerance * scale;
            if stats.stationary || (small(change) && small(self.residual(&solver).size)) {
                break;
            }
        }
        let worst = self.residual(&solver);
        stats.judge(&worst, scale);
        Ok(stats)
    }

    fn settle(&mut self, settings: &ImpulseSettings) -> Result<(), ImpulseError> {
        let solver = Solver { settings, phase: Phase::Velocity, manner: Manner::WHOLE };
        for _ in 0..settings.velocity_sweeps {
            if self.sweep(&solver)? <= 0.0 {
                break;
            }
        }
        Ok(())
    }

    /// Puts the rows together again.
    fn finish(self, rows: &mut Rows) {
        self.partition.join(self.parts, rows);
        rows.passes = self.passes;
    }

    fn sweep(&mut self, solver: &Solver<'_>) -> Result<f64, ImpulseError> {
        let mut change = 0.0_f64;
        for stage in &self.stages {
            match stage {
                Stage::Parts(range) => {
                    let parts = &mut self.parts[range.clone()];
                    let solve = |part: &mut Part| solver.sweep(&mut part.rows, &mut part.v);
                    for found in at_once(parts, self.v, solve) {
                        change = change.max(found?);
                    }
                    parts.iter().for_each(|part| part.write(self.v));
                }
                Stage::Push => {
                    let mut wrenches = vec![Vector3::zeros(); self.v.len()];
                    for part in &self.parts {
                        part.rows.add_wrenches(|own| part.of_all(own), &mut wrenches);
                    }
                    self.passes.iter_mut().for_each(|pass| pass.push(&wrenches, self.v));
                }
                Stage::Pull => self.passes.iter().for_each(|pass| pass.pull(self.v)),
            }
        }
        Ok(change)
    }

    fn residual(&mut self, solver: &Solver<'_>) -> Worst {
        let each = |part: &mut Part| solver.residual(&part.rows, &part.v);
        let found = at_once(&mut self.parts, self.v, each);
        // A NaN is the worst of all.
        let worse = |a: Worst, b: Worst| if b.size > a.size || b.size.is_nan() { b } else { a };
        found.into_iter().fold(Worst::default(), worse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impulse::row::Row;
    use crate::impulse::rows::{Bias, NormalRow};
    use crate::impulse::spin::Angular;

    /// One normal a group between bodies that stand at the given places.
    fn rows(pairs: &[[Option<usize>; 2]]) -> Rows {
        let side = |at: Option<usize>| match at {
            Some(at) => {
                let x = [Vector3::x(), Vector3::y() * at as f64];
                Side::Free { at, jacobian: x, response: x }
            }
            None => Side::Fixed,
        };
        let mut rows = Rows::default();
        for (i, pair) in pairs.iter().enumerate() {
            rows.normals.push(NormalRow {
                row: Row { sides: pair.map(side), drift: 0.0 },
                bias: i as f64,
                kind: Bias::Lasting,
                rebounds: false,
                compliance: 0.0,
                weight: 1.0,
                impulse: 0.5 * i as f64,
                contact: i,
            });
            rows.push(Group {
                normals: i..i + 1,
                pairs: 0..0,
                angular: Angular::None,
                point: true,
            });
        }
        rows
    }

    /// A cross of contacts on one plane: bodies 0 to 6, each with the next, some with the plane.
    fn cross() -> Rows {
        let bodies = |a: usize, b: usize| [Some(2 * a), Some(2 * b)];
        let on_plane = |a: usize| [Some(2 * a), None];
        let next = (0..6).map(|i| bodies(i, i + 1));
        let hub = [2, 4, 6].map(|i| bodies(0, i));
        rows(&next.chain(hub).chain((0..7).map(on_plane)).collect::<Vec<_>>())
    }

    #[test]
    fn no_two_groups_of_a_colour_share_a_body_and_every_colour_is_needed_for_its_groups() {
        let rows = cross();
        let classes = vec![0; rows.groups.len()];
        let colours = colours(&rows, &classes, 14);
        let shares = |i: usize, j: usize| {
            let [a, b] = [i, j].map(|k| rows.places(&rows.groups[k]));
            a.iter().flatten().any(|x| b.contains(&Some(*x)))
        };
        for i in 0..colours.len() {
            for j in 0..i {
                assert!(!(shares(i, j) && colours[i] == colours[j]), "{i} {j}");
            }
            for lower in 0..colours[i] {
                assert!(
                    (0..i).any(|j| shares(i, j) && colours[j] == lower),
                    "{i} could be {lower}"
                );
            }
        }
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let mut rows = cross();
        let before = format!("{rows:?}");
        let mut v = vec![Vector3::x(); 14];
        let schedule = Schedule::new(&mut rows, &mut v, SolveMode::Colored);
        assert_eq!(schedule.parts.len(), 16);
        schedule.finish(&mut rows);
        assert_eq!(before, format!("{rows:?}"));
    }
}
