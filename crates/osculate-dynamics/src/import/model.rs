//! From a description to an articulated model.

use super::description::{Actuator, ActuatorKind, Description, ImportedLink};
use super::error::{ImportError, Problem, Spot};
use super::notes::{Note, Outcome};
use crate::articulated::{
    ArticulatedModel, Attachment, Configuration, JointDrive, Link, LoopClosure, ModelError,
};

/// Most links of a file: every link keeps the joints that move it, so a chain takes memory by the square.
const MOST_LINKS: usize = 5000;

impl Description {
    /// The articulated model, and the configuration in which it is given.
    ///
    /// # Errors
    /// Where a moving joint carries no mass, or a number is outside the range of the model.
    pub fn model(&self) -> Result<(ArticulatedModel, Configuration), ImportError> {
        let drives = self.drives().0;
        let links = self.links.iter().zip(drives).map(|(l, drive)| {
            let mut joint = l.joint.clone();
            joint.laws.drive = drive;
            Link { name: l.name.clone(), parent: l.parent, joint, inertia: l.inertia }
        });
        let closures = self.closures.iter().map(|c| {
            let end = |(link, frame)| Attachment { link, frame };
            LoopClosure::new(&c.name, c.kind, end(c.first), end(c.second))
        });
        let model = ArticulatedModel::new(links.collect(), closures.collect())
            .map_err(|e| self.located(e))?;
        let initial = self.links.iter().map(|l| l.initial).collect();
        let initial = Configuration::of(&model, initial).map_err(|e| self.located(e))?;
        Ok((model, initial))
    }

    /// The drive of each link's joint, and what of the actuators it cannot express.
    pub(super) fn drives(&self) -> (Vec<Option<JointDrive>>, Vec<Note>) {
        let mut notes = Vec::new();
        let mut drives: Vec<Option<JointDrive>> = self.links.iter().map(passive).collect();
        for actuator in &self.actuators {
            let limits = self.links[actuator.link].effort_limit;
            add(&mut drives[actuator.link], actuator, limits, &mut notes);
        }
        (drives, notes)
    }

    /// The same error at the line of what it is about.
    pub(super) fn located(&self, error: ModelError) -> ImportError {
        let link = |name: &str| self.find(name).map(|i| self.links[i].spot.clone());
        let closure =
            |name: &str| self.closures.iter().find(|c| c.name == name).map(|c| c.spot.clone());
        let spot = match &error {
            ModelError::Number { what: "closure", name, .. } => closure(name),
            ModelError::SelfClosure { closure: name } => closure(name),
            ModelError::Number { name, .. } | ModelError::DuplicateName { name, .. } => link(name),
            ModelError::Mass { link: name, .. }
            | ModelError::Law { link: name, .. }
            | ModelError::Massless { link: name, .. } => link(name),
            _ => None,
        };
        let file = || self.links.first().map(|l| l.spot.file.clone()).unwrap_or_default();
        let spot = spot.unwrap_or_else(|| Spot { file: file(), line: 1, element: String::new() });
        ImportError::new(spot, Problem::Model(error))
    }

    /// That every joint that moves carries mass, and that there is a model of all this.
    pub(super) fn check(&self) -> Result<(), ImportError> {
        if let Some(link) = self.links.get(MOST_LINKS) {
            let problem = Problem::Links { found: self.links.len(), most: MOST_LINKS };
            return Err(ImportError::new(link.spot.clone(), problem));
        }
        let mut carried: Vec<f64> = self.links.iter().map(|l| l.inertia.mass).collect();
        for (i, link) in self.links.iter().enumerate().rev() {
            if let Some(p) = link.parent {
                carried[p] += carried[i];
            }
        }
        for (link, mass) in self.links.iter().zip(carried) {
            let kind = &link.joint.kind;
            if kind.dofs() > 0 && mass <= 0.0 {
                let problem = Problem::Massless { link: link.name.clone(), kind: kind.name() };
                return Err(ImportError::new(link.spot.clone(), problem));
            }
        }
        self.model().map(|_| ())
    }
}

/// The spring of a joint as a drive.
fn passive(link: &ImportedLink) -> Option<JointDrive> {
    let spring = link.spring?;
    let JointDrive { effort, damping, target_velocity, .. } = JointDrive::default();
    let (stiffness, target) = (spring.stiffness, spring.rest);
    Some(JointDrive { effort, stiffness, damping, target, target_velocity, effort_limit: None })
}

/// Adds an actuator at the signal zero: torque `g·(k_p (u − g q) − k_v g q̇)`.
fn add(
    drive: &mut Option<JointDrive>,
    actuator: &Actuator,
    joint_limit: Option<f64>,
    notes: &mut Vec<Note>,
) {
    let mut note = |reason: &str| {
        notes.push(Note {
            line: actuator.line,
            element: format!("actuator '{}'", actuator.name),
            attribute: None,
            outcome: Outcome::Ignored,
            reason: reason.into(),
        });
    };
    let square = actuator.gear * actuator.gear;
    let (stiffness, damping) = match actuator.kind {
        ActuatorKind::Torque { .. } => (0.0, 0.0),
        ActuatorKind::Position { kp, kv } => (kp * square, kv * square),
        ActuatorKind::Velocity { kv } => (0.0, kv * square),
    };
    let limit = match (effort_limit(actuator), joint_limit) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let Some(present) = drive else {
        let effort_limit = limit.filter(|l| *l > 0.0);
        *drive = Some(JointDrive { stiffness, damping, effort_limit, ..JointDrive::default() });
        return;
    };
    if limit.is_some() || present.effort_limit.is_some() {
        note("the joint has a spring or another drive, and a limit of the sum is no limit of one");
        return;
    }
    let total = present.stiffness + stiffness;
    if total > 0.0 {
        // The signal is zero: so is the target of what is added.
        present.target *= present.stiffness / total;
    }
    present.stiffness = total;
    present.damping += damping;
}

/// Largest torque at the joint, where the range is the same on both sides.
fn effort_limit(actuator: &Actuator) -> Option<f64> {
    let symmetric = |[a, b]: [f64; 2]| (a + b).abs() <= 1e-12 * b.abs() && b > 0.0;
    let gear = actuator.gear.abs();
    let force = actuator.force_range.filter(|r| symmetric(*r)).map(|r| r[1] * gear);
    let control = match actuator.kind {
        ActuatorKind::Torque { gain } => {
            let range = actuator.control_range.filter(|r| symmetric(*r));
            range.map(|r| (r[1] * gain).abs() * gear)
        }
        _ => None,
    };
    match (force, control) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
