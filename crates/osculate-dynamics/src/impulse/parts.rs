//! Rows in parts, each with velocities of its own.
//!
//! A part has its rows in the order that they had before, and only those velocities that they act on. Taking rows apart and
//! putting them together again changes no number.

use super::row::{Row, Side, Velocities};
use super::rows::{FrictionPair, Group, NormalRow, Rows};
use nalgebra::Vector3;

/// The part that each group, each tree's rows of joints and each tree's pass belong to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partition {
    pub(crate) groups: Vec<usize>,
    pub(crate) joints: Vec<usize>,
    pub(crate) passes: Vec<usize>,
    /// How many parts there are.
    pub(crate) parts: usize,
}

/// Rows, and the velocities they act on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub(crate) rows: Rows,
    pub(crate) v: Vec<Vector3<f64>>,
    /// Which velocity of all each is.
    from: Vec<usize>,
}

impl Part {
    /// Takes its velocities from those of all.
    pub(crate) fn read(&mut self, v: &Velocities) {
        self.v.iter_mut().zip(&self.from).for_each(|(own, &i)| *own = v[i]);
    }

    /// Writes its velocities to those of all.
    pub(crate) fn write(&self, v: &mut Velocities) {
        self.v.iter().zip(&self.from).for_each(|(own, &i)| v[i] = *own);
    }

    /// Which velocity of all is that of an own one.
    pub(crate) fn of_all(&self, own: usize) -> usize {
        self.from[own]
    }

    /// Numbers the velocities that its rows act on from 0.
    ///
    /// * `place`: one entry a velocity of all, each `NONE`; left so.
    fn number(&mut self, place: &mut [usize]) {
        let from = &mut self.from;
        self.rows.each_place(|at, length| {
            let first = *at;
            if place[first] == NONE {
                place[first] = from.len();
                from.extend(first..first + length);
            }
            *at = place[first];
        });
        from.iter().for_each(|&i| place[i] = NONE);
        self.v = vec![Vector3::zeros(); self.from.len()];
    }
}

/// No place.
const NONE: usize = usize::MAX;

impl Partition {
    /// Takes rows apart.
    ///
    /// * `unknowns`: how many velocities there are.
    pub(crate) fn split(&self, rows: &mut Rows, unknowns: usize) -> Vec<Part> {
        let mut parts = vec![Part::default(); self.parts];
        let mut counts = vec![[0; 3]; self.parts];
        for (group, &part) in rows.groups.iter().zip(&self.groups) {
            let own = [1, group.normals.len(), group.pairs.len()];
            counts[part].iter_mut().zip(own).for_each(|(all, n)| *all += n);
        }
        for (part, [groups, normals, pairs]) in parts.iter_mut().zip(counts) {
            part.rows.groups.reserve_exact(groups);
            part.rows.normals.reserve_exact(normals);
            part.rows.pairs.reserve_exact(pairs);
        }
        let Rows { normals, pairs, groups, joints, passes } = rows;
        let (mut normals, mut pairs) = (normals.drain(..), pairs.drain(..));
        for (group, &part) in groups.drain(..).zip(&self.groups) {
            parts[part].rows.take(group, &mut normals, &mut pairs);
        }
        for (joints, &part) in joints.drain(..).zip(&self.joints) {
            parts[part].rows.joints.push(joints);
        }
        for (pass, &part) in passes.drain(..).zip(&self.passes) {
            parts[part].rows.passes.push(pass);
        }
        let mut place = vec![NONE; unknowns];
        parts.iter_mut().for_each(|part| part.number(&mut place));
        parts
    }

    /// Puts parts together again in the order that their rows had.
    pub(crate) fn join(&self, parts: Vec<Part>, rows: &mut Rows) {
        let mut each: Vec<_> = parts
            .into_iter()
            .map(|Part { rows: mut own, from, .. }| {
                own.each_place(|at, _| *at = from[*at]);
                let Rows { normals, pairs, groups, joints, passes } = own;
                let contacts = (groups.into_iter(), normals.into_iter(), pairs.into_iter());
                (contacts, joints.into_iter(), passes.into_iter())
            })
            .collect();
        for &part in &self.groups {
            let ((groups, normals, pairs), ..) = &mut each[part];
            if let Some(group) = groups.next() {
                rows.take(group, normals, pairs);
            }
        }
        rows.joints.extend(self.joints.iter().filter_map(|&part| each[part].1.next()));
        rows.passes.extend(self.passes.iter().filter_map(|&part| each[part].2.next()));
    }
}

impl Rows {
    /// Appends a group with the next rows of others.
    fn take(
        &mut self,
        group: Group,
        normals: &mut impl Iterator<Item = NormalRow>,
        pairs: &mut impl Iterator<Item = FrictionPair>,
    ) {
        let (first, start) = (self.normals.len(), self.pairs.len());
        self.normals.extend(normals.take(group.normals.len()));
        self.pairs.extend(pairs.take(group.pairs.len()));
        let (normals, pairs) = (first..self.normals.len(), start..self.pairs.len());
        self.groups.push(Group { normals, pairs, ..group });
    }

    /// Where the velocities stand that a group acts on.
    pub(crate) fn places(&self, group: &Group) -> [Option<usize>; 2] {
        // All rows of a group are between the same two bodies.
        let first = self.normals[group.normals.clone()].first();
        first.map_or([None; 2], |n| n.row.sides.each_ref().map(Side::place))
    }

    /// Shows where the velocities of each side of each row stand, and how many vectors there are.
    fn each_place(&mut self, mut see: impl FnMut(&mut usize, usize)) {
        let mut row = |row: &mut Row| {
            row.sides.iter_mut().filter_map(|s| s.place_mut()).for_each(|(at, n)| see(at, n));
        };
        self.normals.iter_mut().for_each(|n| row(&mut n.row));
        self.pairs.iter_mut().flat_map(|p| &mut p.rows).for_each(&mut row);
        self.groups.iter_mut().flat_map(|g| g.angular.rows_mut()).for_each(&mut row);
        for joints in &mut self.joints {
            let length = joints.length();
            see(&mut joints.at, length);
        }
        self.passes.iter_mut().for_each(|pass| pass.each_place(&mut see));
    }
}
