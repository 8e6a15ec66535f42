//! Rows of a step as lines: only what a linearisation needs of them, without the answers of the bodies.

use super::line::{Line, LineBuf, LineList, Part};
use super::linear::mobility;
use super::tree::TreeStep;
use crate::articulated::ArticulatedModel;
use crate::impulse::body::RigidState;
use crate::impulse::row::jacobian;
use crate::impulse::settings::ImpulseSettings;
use crate::impulse::system::System;
use nalgebra::{Matrix3, Vector3};

/// Where the bodies are at the start of a step.
pub(super) struct Lines<'a> {
    pub(super) system: &'a System,
    pub(super) settings: &'a ImpulseSettings,
    pub(super) states: &'a [RigidState],
    /// Velocities of bodies that follow prescribed poses; empty where there is none.
    pub(super) prescribed: &'a [[Vector3<f64>; 2]],
    /// `1/m` and `I⁻¹` in the world of each free body.
    pub(super) inverse: &'a [(f64, Matrix3<f64>)],
    pub(super) tree: Option<(&'a ArticulatedModel, &'a TreeStep)>,
    pub(super) duration: f64,
}

/// A covector on the velocities of a body: on that of a point, and on the angular velocity.
type Covector = [Vector3<f64>; 2];

/// The parts of a row, and the velocity that prescribed motion brings.
type Written = ([Part; 2], f64);

impl Lines<'_> {
    /// The row of a direction at a point: of the first body against the second, and the velocity that prescribed motion brings.
    pub(super) fn line(
        &self,
        bodies: [usize; 2],
        point: &Vector3<f64>,
        direction: &Vector3<f64>,
    ) -> (LineBuf, f64) {
        self.alone(bodies, point, [*direction, Vector3::zeros()])
    }

    /// The row of a relative angular velocity.
    pub(super) fn angular(&self, bodies: [usize; 2], direction: &Vector3<f64>) -> (LineBuf, f64) {
        self.alone(bodies, &Vector3::zeros(), [Vector3::zeros(), *direction])
    }

    fn alone(
        &self,
        bodies: [usize; 2],
        point: &Vector3<f64>,
        covector: Covector,
    ) -> (LineBuf, f64) {
        let mut entries = Vec::new();
        let (parts, drift) = self.write(bodies, point, covector, &mut entries);
        (LineBuf { parts, entries }, drift)
    }

    /// Adds the row of a direction at a point to others; returns the velocity that prescribed motion brings.
    pub(super) fn push(
        &self,
        list: &mut LineList,
        bodies: [usize; 2],
        point: &Vector3<f64>,
        direction: &Vector3<f64>,
    ) -> f64 {
        let covector = [*direction, Vector3::zeros()];
        list.push_with(|entries| self.write(bodies, point, covector, entries))
    }

    /// Appends the entries of a row.
    fn write(
        &self,
        bodies: [usize; 2],
        point: &Vector3<f64>,
        covector: Covector,
        out: &mut Vec<Vector3<f64>>,
    ) -> Written {
        let negative = covector.map(|x| -x);
        let links = bodies.map(|b| self.system.items[b].link);
        if let ([Some([_, first]), Some([_, second])], Some(tree)) = (links, self.tree) {
            let part = append_tree(tree, out);
            let from = out.len() - part.count;
            let own = &mut out[from..];
            add_link(tree, (first, point, &covector), own);
            add_link(tree, (second, point, &negative), own);
            return ([part, Part::default()], 0.0);
        }
        let (first, drift) = self.write_side(bodies[0], point, covector, out);
        let (second, more) = self.write_side(bodies[1], point, negative, out);
        ([first, second], drift + more)
    }

    fn write_side(
        &self,
        body: usize,
        point: &Vector3<f64>,
        covector: Covector,
        out: &mut Vec<Vector3<f64>>,
    ) -> (Part, f64) {
        let item = &self.system.items[body];
        if let (Some([_, link]), Some(tree)) = (item.link, self.tree) {
            let part = append_tree(tree, out);
            let own = out.len() - part.count;
            add_link(tree, (link, point, &covector), &mut out[own..]);
            return (part, 0.0);
        }
        let rows = || {
            let [l, a] = jacobian(&covector[0], &(point - self.states[body].center));
            [l, a + covector[1]]
        };
        match (item.unknown, self.prescribed.get(body)) {
            (Some(at), _) => {
                out.extend_from_slice(&rows());
                (Part { at, count: 2 }, 0.0)
            }
            (None, Some([v, w])) => {
                let [l, a] = rows();
                (Part::default(), l.dot(v) + a.dot(w))
            }
            (None, None) => (Part::default(), 0.0),
        }
    }

    /// `J M⁻¹Jᵀ` of a row.
    pub(super) fn mobility(&self, line: Line<'_>) -> f64 {
        mobility(line, (self.inverse, self.tree.map(|t| t.1)))
    }

    /// Velocity along a direction at a point at the start of the step \[m/s\].
    pub(super) fn approach(
        &self,
        bodies: [usize; 2],
        point: &Vector3<f64>,
        direction: &Vector3<f64>,
    ) -> f64 {
        let [a, b] = bodies.map(|body| {
            let state = &self.states[body];
            let moves = self.system.items[body].inertia.is_some();
            let still = [Vector3::zeros(); 2];
            let [v, w] = match moves {
                true => [state.velocity, state.angular_velocity],
                false => self.prescribed.get(body).copied().unwrap_or(still),
            };
            v + w.cross(&(point - state.center))
        });
        direction.dot(&(a - b))
    }
}

/// Appends zeros for the entries of a tree.
fn append_tree((_, tree): (&ArticulatedModel, &TreeStep), out: &mut Vec<Vector3<f64>>) -> Part {
    let count = tree.after.len().div_ceil(3);
    out.resize(out.len() + count, Vector3::zeros());
    Part { at: tree.at, count }
}

/// Adds the entries of a covector on a link.
fn add_link(
    (model, tree): (&ArticulatedModel, &TreeStep),
    (link, point, [linear, angular]): (usize, &Vector3<f64>, &Covector),
    out: &mut [Vector3<f64>],
) {
    let at = &tree.kinematics;
    for &k in model.support(link) {
        let own = linear.dot(&at.point_column(k, point)) + angular.dot(&at.columns[k].angular);
        out[k / 3][k % 3] += own;
    }
}
