//! From contacts to rows.

use super::body::RigidState;
use super::propagation::Propagation;
use super::row::{Row, Side, jacobian, response};
use super::rows::{Bias, FrictionPair, Group, NormalRow, Rows, tangents};
use super::settings::{FrictionPoint, ImpulseSettings, Torsion};
use super::spin::{Angular, EllipticRows, SpinRow};
use super::surface::SurfaceRows;
use super::system::System;
use super::tree::{Trees, padded};
use crate::articulated::immediate::TreeResponse;
use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};
use osculate_contact::impulse::{Condim, normal};
use osculate_geometry::manifold::{Contact, ContactPoint};

/// A contact of a step, evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) bodies: [usize; 2],
    pub(crate) contact: Contact,
    pub(crate) point: ContactPoint,
}

/// What rows are made from.
pub(crate) struct Builder<'a> {
    pub(crate) system: &'a System,
    pub(crate) settings: &'a ImpulseSettings,
    pub(crate) states: &'a [RigidState],
    pub(crate) inverse: &'a [Matrix3<f64>],
    /// Velocities of bodies that follow prescribed poses, linear and angular.
    pub(crate) prescribed: &'a [[Vector3<f64>; 2]],
    /// Trees and how they answer.
    pub(crate) trees: (&'a Trees, &'a [TreeResponse<'a>]),
    /// Links that are bodies of their own.
    pub(crate) propagation: Option<&'a Propagation>,
    /// Velocities at the start of the step and without contact.
    pub(crate) velocities: [&'a [Vector3<f64>]; 2],
    /// Duration of the step \[s\].
    pub(crate) duration: f64,
}

/// Gap at which a contact counts as closed \[m\].
pub(super) const CLOSED: f64 = 1e-6;

impl Builder<'_> {
    /// A row along a direction at a point of the world; its velocity is that of the first body against the second.
    pub(crate) fn row(
        &self,
        bodies: [usize; 2],
        point: &Vector3<f64>,
        direction: &Vector3<f64>,
    ) -> Row {
        self.row_between(bodies, [point; 2], direction)
    }

    /// The same at a point of each body.
    fn row_between(
        &self,
        bodies: [usize; 2],
        points: [&Vector3<f64>; 2],
        direction: &Vector3<f64>,
    ) -> Row {
        let mut drift = 0.0;
        let links = bodies.map(|b| self.system.items[b].link);
        if let [Some([tree, first]), Some([same, second])] = links
            && tree == same
        {
            let side = self.tree_side(tree, |response| {
                let second = response.jacobian(second, points[1], &-direction);
                added(response.jacobian(first, points[0], direction), &second)
            });
            return Row { sides: [side, Side::Fixed], drift };
        }
        let mut side = |body: usize, point: &Vector3<f64>, d: Vector3<f64>| {
            let arm = point - self.states[body].center;
            let rows = jacobian(&d, &arm);
            let item = &self.system.items[body];
            if let Some(side) = self.propagation.and_then(|p| p.side(body, rows)) {
                return side;
            }
            if let Some([tree, link]) = item.link {
                return self.tree_side(tree, |response| response.jacobian(link, point, &d));
            }
            match (item.unknown, &item.inertia) {
                (Some(at), Some(inertia)) => {
                    let response = response(inertia, &self.inverse[body], &rows);
                    Side::Free { at, jacobian: rows, response }
                }
                _ => {
                    let [v, w] = &self.prescribed[body];
                    drift += rows[0].dot(v) + rows[1].dot(w);
                    Side::Fixed
                }
            }
        };
        let [p, q] = points;
        let sides = [side(bodies[0], p, *direction), side(bodies[1], q, -direction)];
        Row { sides, drift }
    }

    /// A row of relative angular velocity about a direction.
    pub(crate) fn angular(&self, bodies: [usize; 2], direction: &Vector3<f64>) -> Row {
        let mut drift = 0.0;
        let links = bodies.map(|b| self.system.items[b].link);
        if let [Some([tree, first]), Some([same, second])] = links
            && tree == same
        {
            let side = self.tree_side(tree, |response| {
                let second = response.angular_jacobian(second, &-direction);
                added(response.angular_jacobian(first, direction), &second)
            });
            return Row { sides: [side, Side::Fixed], drift };
        }
        let mut side = |body: usize, d: Vector3<f64>| {
            let item = &self.system.items[body];
            let rows = [Vector3::zeros(), d];
            if let Some(side) = self.propagation.and_then(|p| p.side(body, rows)) {
                return side;
            }
            if let Some([tree, link]) = item.link {
                return self.tree_side(tree, |response| response.angular_jacobian(link, &d));
            }
            match item.unknown {
                Some(at) => {
                    let response = [Vector3::zeros(), self.inverse[body] * d];
                    Side::Free { at, jacobian: [Vector3::zeros(), d], response }
                }
                None => {
                    drift += d.dot(&self.prescribed[body][1]);
                    Side::Fixed
                }
            }
        };
        let sides = [side(bodies[0], *direction), side(bodies[1], -direction)];
        Row { sides, drift }
    }

    /// A row in the velocities of a tree.
    fn tree_side(&self, tree: usize, jacobian: impl FnOnce(&TreeResponse<'_>) -> Vec<f64>) -> Side {
        let (at, response) = (self.trees.0.list[tree].at(), &self.trees.1[tree]);
        let row = response.row(jacobian(response));
        Side::Tree { at, jacobian: padded(&row.jacobian), response: padded(&row.response) }
    }

    /// Two tangential rows at a point of each body.
    pub(crate) fn friction(
        &self,
        bodies: [usize; 2],
        points: [&Vector3<f64>; 2],
        normal: &Vector3<f64>,
        share: f64,
    ) -> FrictionPair {
        let directions = tangents(normal);
        let rows = directions.map(|d| self.row_between(bodies, points, &d));
        let across = rows[0].coupling(&rows[1]);
        let [first, second] = rows.each_ref().map(|r| r.coupling(r));
        FrictionPair {
            rows,
            directions,
            block: Matrix2::new(first, across, across, second),
            bias: Vector2::zeros(),
            impulse: Vector2::zeros(),
            share,
        }
    }

    /// The normal row of a contact. Forces act at the middle of the two points, so that they are opposite in every
    /// moment too.
    pub(crate) fn normal(&self, touch: &Touch, index: usize) -> NormalRow {
        let ContactPoint { normal, gap, .. } = touch.point;
        let row = self.row(touch.bodies, &touch.middle(), &normal);
        let law = self.settings.normal.row(gap, self.duration);
        let kind = if gap > 0.0 { Bias::Lasting } else { Bias::Overlap };
        let (bias, kind, rebounds) = match self.rebound(touch, &row) {
            Some(rebound) => (rebound, Bias::Lasting, true),
            None => (law.bias, kind, false),
        };
        let weight = row.coupling(&row);
        let soft = gap <= CLOSED && !rebounds;
        let part = if soft { self.settings.regularization } else { 0.0 };
        NormalRow {
            row,
            bias,
            kind,
            rebounds,
            compliance: law.softness + part * weight,
            weight,
            impulse: 0.0,
            contact: index,
        }
    }

    /// Whether a contact is near enough for friction.
    pub(crate) fn has_friction(&self, touch: &Touch) -> bool {
        touch.point.gap <= self.settings.friction_gap
    }

    /// `e u⁻` where the contact closes fast enough, and within the step.
    pub(crate) fn rebound(&self, touch: &Touch, row: &Row) -> Option<f64> {
        let restitution = self.system.restitution(touch.bodies);
        let [start, free] = self.velocities.map(|v| row.velocity(v));
        let closes = touch.point.gap <= CLOSED || touch.point.gap + self.duration * free <= CLOSED;
        if !closes || restitution <= 0.0 {
            return None;
        }
        normal::rebound(restitution, start, self.settings.restitution_threshold)
    }

    /// Point friction: every contact has its own normal and its own pair.
    pub(crate) fn point_friction(&self, touches: &[Touch], rows: &mut Rows) {
        for (index, touch) in touches.iter().enumerate() {
            self.point(touch, index, rows);
        }
    }

    /// A group of one contact with its own friction.
    pub(crate) fn point(&self, touch: &Touch, index: usize, rows: &mut Rows) {
        let (bodies, n) = (touch.bodies, &touch.point.normal);
        let share = self.system.friction(bodies, self.settings);
        let (first, start) = (rows.normals.len(), rows.pairs.len());
        rows.normals.push(self.normal(touch, index));
        let (condim, spin, roll) = self.system.condim(bodies);
        let mut angular = Angular::None;
        if condim != Condim::Frictionless && self.has_friction(touch) {
            let middle = touch.middle();
            let points = match self.settings.friction_point {
                FrictionPoint::Middle => [&middle; 2],
                FrictionPoint::Own => [&touch.point.point_a, &touch.point.point_b],
            };
            let pair = self.friction(bodies, points, n, share);
            angular = match condim {
                Condim::Spinning | Condim::Rolling => {
                    let law = (condim, [share, spin, roll]);
                    Angular::Elliptic(Box::new(EllipticRows::new(self, bodies, (n, &pair), law)))
                }
                _ => self.spin(bodies, n, touch.point.gap, (share, Some(&pair))),
            };
            rows.pairs.push(pair);
        }
        let pairs = start..rows.pairs.len();
        rows.push(Group { normals: first..first + 1, pairs, angular, point: true });
    }

    /// The spin row of a region, where a surface has a torsional radius.
    ///
    /// * `gap`: smallest gap of the region \[m\].
    /// * `pair`: its sliding rows, where it has one pair.
    pub(crate) fn spin(
        &self,
        bodies: [usize; 2],
        n: &Vector3<f64>,
        gap: f64,
        (friction, pair): (f64, Option<&FrictionPair>),
    ) -> Angular {
        let radius = self.system.spin_radius(bodies, gap);
        if radius <= 0.0 {
            return Angular::None;
        }
        match (self.settings.torsion, pair) {
            (Torsion::Ellipsoid, Some(pair)) => {
                let law = (Condim::Spinning, [friction, friction * radius, 0.0]);
                Angular::Elliptic(Box::new(EllipticRows::new(self, bodies, (n, pair), law)))
            }
            (Torsion::LimitSurface, Some(pair)) => {
                Angular::Surface(Box::new(SurfaceRows::new(self, bodies, (n, pair), radius)))
            }
            _ => Angular::Spin(Box::new(SpinRow::new(self, bodies, n, (friction, radius)))),
        }
    }
}

fn added(mut a: Vec<f64>, b: &[f64]) -> Vec<f64> {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}

impl Touch {
    /// The middle of the two points \[m\].
    pub(crate) fn middle(&self) -> Vector3<f64> {
        (self.point.point_a + self.point.point_b) * 0.5
    }
}
