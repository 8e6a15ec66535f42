//! Rows of a step as lines: only what a linearisation needs of them, without the answers of the bodies.

use super::line::{Line, LineSide};
use super::linear::response;
use super::tree::TreeStep;
use crate::articulated::ArticulatedModel;
use crate::impulse::body::RigidState;
use crate::impulse::row::jacobian;
use crate::impulse::settings::ImpulseSettings;
use crate::impulse::system::System;
use crate::impulse::tree::padded;
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

impl Lines<'_> {
    /// The row of a direction at a point: of the first body against the second, and the velocity that prescribed motion brings.
    pub(super) fn line(
        &self,
        bodies: [usize; 2],
        point: &Vector3<f64>,
        direction: &Vector3<f64>,
    ) -> (Line, f64) {
        self.row(bodies, point, [*direction, Vector3::zeros()])
    }

    /// The row of a relative angular velocity.
    pub(super) fn angular(&self, bodies: [usize; 2], direction: &Vector3<f64>) -> (Line, f64) {
        self.row(bodies, &Vector3::zeros(), [Vector3::zeros(), *direction])
    }

    fn row(&self, bodies: [usize; 2], point: &Vector3<f64>, covector: Covector) -> (Line, f64) {
        let mut drift = 0.0;
        let links = bodies.map(|b| self.system.items[b].link);
        if let ([Some([_, first]), Some([_, second])], Some(tree)) = (links, self.tree) {
            let mut own = entries(tree, first, point, &covector);
            let other = entries(tree, second, point, &covector.map(|x| -x));
            own.iter_mut().zip(other).for_each(|(a, b)| *a += b);
            let side = LineSide::Tree { at: tree.1.at, jacobian: padded(&own) };
            return (Line { sides: [side, LineSide::Fixed] }, drift);
        }
        let mut side = |body: usize, covector: Covector| {
            let item = &self.system.items[body];
            if let (Some([_, link]), Some(tree)) = (item.link, self.tree) {
                let jacobian = padded(&entries(tree, link, point, &covector));
                return LineSide::Tree { at: tree.1.at, jacobian };
            }
            let mut rows = jacobian(&covector[0], &(point - self.states[body].center));
            rows[1] += covector[1];
            match (item.unknown, self.prescribed.get(body)) {
                (Some(at), _) => return LineSide::Free { at, jacobian: rows },
                (None, Some([v, w])) => drift += rows[0].dot(v) + rows[1].dot(w),
                (None, None) => {}
            }
            LineSide::Fixed
        };
        let sides = [side(bodies[0], covector), side(bodies[1], covector.map(|x| -x))];
        (Line { sides }, drift)
    }

    /// `J M⁻¹Jᵀ` of a row.
    pub(super) fn mobility(&self, line: &Line) -> f64 {
        line.dot(&response(line, self.inverse, self.tree.map(|t| t.1)))
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

/// Entries of a covector on a link.
fn entries(
    (model, tree): (&ArticulatedModel, &TreeStep),
    link: usize,
    point: &Vector3<f64>,
    [linear, angular]: &Covector,
) -> Vec<f64> {
    let at = &tree.kinematics;
    let mut out = vec![0.0; tree.after.len()];
    for &k in model.support(link) {
        out[k] = linear.dot(&at.point_column(k, point)) + angular.dot(&at.columns[k].angular);
    }
    out
}
