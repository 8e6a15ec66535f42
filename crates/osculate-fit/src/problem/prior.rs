//! What of a recorded start is uncertain, and which numbers of the scene that is.
//!
//! ```text
//! x⁰ = x_recorded ⊕ l,    l ~ N(0, σ²)
//! x   pose and velocities of a free body;  q_0 … q_5 of a free joint of the world and their rates;  q and q̇ of a hinge or slide,
//!     q_0 … q_2 of a spherical joint, turns about its axes, and the rates about them
//! ```

use super::channel::Quantity;
use super::start::{is_link, joints_to};
use super::typed::Stretch;
use super::{ProblemError, Toss};
use crate::contact_model::{ContactModel, Entry, index_of};
use osculate_dynamics::Scene;
use osculate_dynamics::articulated::JointKind;

/// Standard deviations of the prior around the recorded start; `None` keeps that part fixed.
///
/// A prior on a position or rotation stands for the measurement of the first frame, which then has no residual of its own.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct InitialState {
    /// Of the position of a free body, or of one that a free joint moves (m).
    pub position: Option<f64>,
    /// Of its rotation (rad).
    pub rotation: Option<f64>,
    /// Of its velocity (m/s).
    pub velocity: Option<f64>,
    /// Of its angular velocity (rad/s).
    pub angular_velocity: Option<f64>,
    /// Of hinges, slides and spherical joints.
    pub joints: Vec<JointPrior>,
}

/// Standard deviations around the start of a revolute, prismatic or spherical joint.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct JointPrior {
    /// The joint, by the name of the body that it moves.
    pub joint: String,
    /// Of its position (rad, m), of a spherical joint of each of the three turns.
    pub position: Option<f64>,
    /// Of its rate (rad/s, m/s), of a spherical joint of each of the three.
    pub rate: Option<f64>,
}

/// A prior on what a start does not have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{field}: found {found}, allowed: {allowed}")]
pub struct PriorError {
    /// The field of an experiment.
    pub field: String,
    /// What it says.
    pub found: String,
    /// What it may say.
    pub allowed: String,
}

impl InitialState {
    /// Everything of a free body, held together by continuity alone.
    pub(super) const FREE: Self = Self {
        position: Some(f64::INFINITY),
        rotation: Some(f64::INFINITY),
        velocity: Some(f64::INFINITY),
        angular_velocity: Some(f64::INFINITY),
        joints: Vec::new(),
    };

    fn of_body(&self) -> [Option<f64>; 4] {
        [self.position, self.rotation, self.velocity, self.angular_velocity]
    }

    /// Checks that the scene has what is uncertain.
    ///
    /// # Errors
    /// Where a joint has no position and rate, or a joint that is not free moves the tracked body.
    pub fn check(&self, scene: &Scene, body: usize) -> Result<(), PriorError> {
        let link = scene.articulation.as_ref().and_then(|a| {
            let joint = &a.model().links()[a.link_of_body(body)?].joint;
            Some(matches!(joint.kind, JointKind::Free))
        });
        if link == Some(false) && self.of_body().iter().any(Option::is_some) {
            let name = &scene.bodies[body].name;
            return Err(PriorError {
                field: "initial_state".into(),
                found: format!("a pose or velocity of '{name}', which a joint moves"),
                allowed: "initial_state.joints; the others of a free joint or a body without"
                    .into(),
            });
        }
        let known: Vec<&str> = joints(scene).map(|(name, _)| name).collect();
        let unknown = |p: &&JointPrior| !known.contains(&p.joint.as_str());
        match self.joints.iter().find(unknown) {
            None => Ok(()),
            Some(p) => Err(PriorError {
                field: format!("initial_state.joints.{}", p.joint),
                found: format!("'{}'", p.joint),
                allowed: match known.is_empty() {
                    true => "no joints: none is revolute, prismatic or spherical".into(),
                    false => {
                        format!("revolute, prismatic and spherical joints: {}", known.join(", "))
                    }
                },
            }),
        }
    }
}

/// Names of the joints that may have a prior, each with the ends of the paths of its coordinates.
fn joints(scene: &Scene) -> impl Iterator<Item = (&str, &'static [&'static str])> {
    let links = scene.articulation.as_ref().map_or(&[][..], |a| a.model().links());
    links.iter().filter_map(|l| match l.joint.kind {
        JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
            Some((l.name.as_str(), &[""][..]))
        }
        JointKind::Spherical => Some((l.name.as_str(), &["_0", "_1", "_2"][..])),
        JointKind::Free | JointKind::Fixed => None,
    })
}

/// Paths of the three coordinates of position, rotation, velocity and angular velocity of the tracked body.
fn paths(scene: &Scene, body: usize) -> [[String; 3]; 4] {
    let name = &scene.bodies[body].name;
    if is_link(scene, body) {
        return [("q", 0), ("q", 3), ("qdot", 0), ("qdot", 3)]
            .map(|(q, first)| [0, 1, 2].map(|k| format!("joint.{name}.{q}_{}", first + k)));
    }
    ["position", "rotation", "velocity", "angular_velocity"]
        .map(|what| ["x", "y", "z"].map(|axis| format!("{name}.{what}_{axis}")))
}

/// Places of what is uncertain among the numbers of a scene, each with its standard deviation.
pub(super) fn own_parameters(
    entries: &[Entry],
    (scene, body): (&Scene, usize),
    initial: &InitialState,
) -> Vec<(usize, f64)> {
    let mut own = Vec::new();
    let mut push = |path: &str, sigma: f64| {
        own.extend(index_of(entries, path).map(|i| (i, sigma)));
    };
    for (three, sigma) in paths(scene, body).iter().zip(initial.of_body()) {
        let Some(sigma) = sigma else { continue };
        three.iter().for_each(|path| push(path, sigma));
    }
    for JointPrior { joint, position, rate } in &initial.joints {
        let ends = joints(scene).find(|(name, _)| name == joint).map_or(&[][..], |(_, ends)| ends);
        for (q, sigma) in [("q", position), ("qdot", rate)] {
            let Some(sigma) = sigma else { continue };
            ends.iter().for_each(|end| push(&format!("joint.{joint}.{q}{end}"), *sigma));
        }
    }
    own
}

impl<S: ContactModel> Stretch<S> {
    /// Leaves out what the first frame says of what has a prior: that is the measurement already.
    pub(super) fn forget_first(&self, toss: &mut Toss, initial: &InitialState) {
        let measured = |name: &str| {
            let prior = initial.joints.iter().find(|p| p.joint == name);
            prior.is_some_and(|p| p.position.is_some())
        };
        let placed = initial.position.is_some()
            || initial.rotation.is_some()
            || joints_to(&self.scene, self.body).iter().any(|name| measured(name));
        if placed {
            toss.observed.iter_mut().take(1).for_each(|o| *o = false);
        }
        for (c, series) in self.channels.iter().zip(&mut toss.series) {
            let known = match c.quantity {
                Quantity::Position | Quantity::Rotation => placed && c.body == self.body,
                Quantity::JointPosition => measured(&self.scene.bodies[c.body].name),
                _ => false,
            };
            if known {
                series.iter_mut().take(1).for_each(|s| *s = None);
            }
        }
    }
}

impl From<PriorError> for ProblemError {
    fn from(source: PriorError) -> Self {
        Self::Prior(source)
    }
}
