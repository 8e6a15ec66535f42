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

    /// The drive of each link's joint at the signal zero, and what of actuators and springs it cannot express.
    pub(super) fn drives(&self) -> (Vec<Option<JointDrive>>, Vec<Note>) {
        let mut notes = Vec::new();
        let mut of_link: Vec<Vec<&Actuator>> = vec![Vec::new(); self.links.len()];
        for actuator in &self.actuators {
            of_link[actuator.link].push(actuator);
        }
        let drives = self.links.iter().zip(&of_link).map(|(l, a)| drive(l, a, &mut notes));
        (drives.collect(), notes)
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

/// Spring and actuators of a joint as one drive: torques `g (k_p (u − g q) − k_v g q̇)` at `u = 0` and `k (q₀ − q)` add up
/// to one of the same form. A limit is one of the whole, so that it can be kept only of one alone.
fn drive(
    link: &ImportedLink,
    actuators: &[&Actuator],
    notes: &mut Vec<Note>,
) -> Option<JointDrive> {
    let parts = actuators.len() + usize::from(link.spring.is_some());
    if parts == 0 && link.effort_limit.is_none() {
        return None;
    }
    let mut out = JointDrive::default();
    let mut moment = 0.0;
    if let Some(spring) = link.spring {
        out.stiffness = spring.stiffness;
        moment = spring.stiffness * spring.rest;
    }
    let mut limit = link.effort_limit;
    for actuator in actuators {
        let square = actuator.gear * actuator.gear;
        let (kp, kv) = match actuator.kind {
            ActuatorKind::Torque { .. } => (0.0, 0.0),
            ActuatorKind::Position { kp, kv } => (kp, kv),
            ActuatorKind::Velocity { kv } => (0.0, kv),
        };
        out.stiffness += kp * square;
        out.damping += kv * square;
        let own = effort_limit(actuator).filter(|l| *l > 0.0);
        limit = least(limit, own);
        if parts > 1 && own.is_some() {
            notes.push(Note {
                line: actuator.line,
                element: format!("actuator '{}'", actuator.name),
                attribute: Some("limit".into()),
                outcome: Outcome::Ignored,
                reason: "the joint has a spring or another drive too, and only the sum has a limit"
                    .into(),
            });
        }
    }
    if out.stiffness > 0.0 {
        out.target = moment / out.stiffness;
    }
    out.effort_limit = if parts > 1 { None } else { limit };
    Some(out)
}

fn least(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
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
    least(force, control)
}
