//! From a description to a scene file.
//!
//! * Every link becomes an actor with the mass properties of the link, in the link's frame, and a joint.
//! * A geometry becomes a part of its link's actor where it is the only one and lies in its origin; otherwise an actor of
//!   its own, nested in that of the link and fixed to it.
//! * Links without mass that are fixed to others become part of them. Other links without mass, and the actors of
//!   geometries, have [`NEGLIGIBLE`] of the mass of the robot, for an actor needs some.
//! * Geometries of one link never touch each other, nor those of the parent.

mod contact;
mod facets;
mod friction;
mod link;
mod shape;

use super::description::{ContactNumbers, Description, Geometry, compose};
use super::notes::{Note, Outcome};
use crate::articulated::{Attachment, ClosureKind, JointDrive, JointKind, LoopClosure};
use crate::file::{ActorPose, FrameTable, LoopTable, LoopWord, SceneFile, Solver};
use osculate_math::se3::Pose;
use std::collections::BTreeSet;
use std::path::Path;

/// What an actor that needs a mass and has none gets of that of the robot.
pub(super) const NEGLIGIBLE: f64 = 1e-9;
/// Time step where the file gives none \[s\].
const TIME_STEP: f64 = 1e-3;

/// A scene, and what of the robot it does not say as the robot file does.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedScene {
    /// The scene: one second of motion from the position of the file.
    pub file: SceneFile,
    /// What was changed or left out.
    pub notes: Vec<Note>,
}

/// The actor that something of a link belongs to, and the link's frame in it; the world where there is none.
#[derive(Clone, Copy)]
pub(super) struct Host {
    pub(super) link: Option<usize>,
    pub(super) frame: Pose,
}

/// An actor that can touch.
pub(super) struct Toucher {
    /// Name of the actor.
    pub(super) actor: String,
    /// Name of the geometry.
    pub(super) geometry: String,
    /// Line of the geometry.
    pub(super) line: usize,
    /// Its link; `None` for the world.
    pub(super) link: Option<usize>,
    pub(super) contact: ContactNumbers,
}

pub(super) struct Writer<'d> {
    pub(super) robot: &'d Description,
    /// Folder of the scene file.
    pub(super) folder: &'d Path,
    pub(super) hosts: Vec<Host>,
    pub(super) drives: Vec<Option<JointDrive>>,
    /// Actor of each link that is its own host.
    pub(super) actors: Vec<Option<String>>,
    pub(super) touchers: Vec<Toucher>,
    pub(super) file: SceneFile,
    pub(super) notes: Vec<Note>,
    names: BTreeSet<String>,
}

impl Description {
    /// The scene of the robot; `folder` is that of the scene file, for paths of meshes.
    pub fn scene(&self, folder: &Path) -> ImportedScene {
        let mut writer = Writer::new(self, folder);
        for i in 0..self.links.len() {
            writer.name_link(i);
        }
        for i in 0..self.links.len() {
            writer.link(i);
        }
        for (i, link) in self.links.iter().enumerate() {
            let host = writer.hosts[i];
            for geometry in &link.geometries {
                let place = compose(&host.frame, &geometry.pose);
                writer.geometry((Some(i), host.link), geometry, &place);
            }
        }
        for geometry in &self.world {
            writer.geometry((None, None), geometry, &geometry.pose);
        }
        writer.filters();
        writer.pairs();
        writer.loops();
        writer.settings();
        writer.impulse_friction();
        ImportedScene { file: writer.file, notes: writer.notes }
    }
}

impl<'d> Writer<'d> {
    fn new(robot: &'d Description, folder: &'d Path) -> Self {
        let mut hosts: Vec<Host> = Vec::with_capacity(robot.links.len());
        for (i, link) in robot.links.iter().enumerate() {
            let own = Host { link: Some(i), frame: Pose::identity() };
            let fused = link.joint.kind == JointKind::Fixed && link.inertia.mass <= 0.0;
            hosts.push(if fused {
                let around = match link.parent {
                    Some(p) => hosts[p],
                    None => Host { link: None, frame: Pose::identity() },
                };
                let fixed = compose(&link.joint.placement, &link.joint.offset);
                Host { link: around.link, frame: compose(&around.frame, &fixed) }
            } else {
                own
            });
        }
        Self {
            robot,
            folder,
            hosts,
            drives: robot.drives().0,
            actors: vec![None; robot.links.len()],
            touchers: Vec::new(),
            file: SceneFile::default(),
            notes: Vec::new(),
            names: BTreeSet::new(),
        }
    }

    /// A name that actors may have and none has.
    pub(super) fn name(&mut self, wanted: &str) -> String {
        let word = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
        let mut name: String = wanted.chars().map(word).take(80).collect();
        if name.is_empty() {
            name.push('_');
        }
        let base = name.clone();
        let mut count = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{base}_{count}");
            count += 1;
        }
        name
    }

    pub(super) fn note(&mut self, line: usize, element: String, outcome: Outcome, reason: &str) {
        let reason = reason.into();
        self.notes.push(Note { line, element, attribute: None, outcome, reason });
    }

    pub(super) fn note_geometry(&mut self, geometry: &Geometry, outcome: Outcome, reason: &str) {
        let element = match geometry.name.as_str() {
            "" => "a geometry".into(),
            name => format!("geometry '{name}'"),
        };
        self.note(geometry.line, element, outcome, reason);
    }

    fn loops(&mut self) {
        for closure in &self.robot.closures {
            let end = |(link, frame): (Option<usize>, Pose)| {
                let host = link.map(|i| self.hosts[i]);
                let frame = host.map_or(frame, |h| compose(&h.frame, &frame));
                let actor = host.and_then(|h| h.link).and_then(|i| self.actors[i].clone());
                FrameTable { link: actor, frame: ActorPose::from(&frame) }
            };
            let (first, second) = (end(closure.first), end(closure.second));
            let kind = match closure.kind {
                ClosureKind::Ball => LoopWord::Ball,
                ClosureKind::Revolute => LoopWord::Revolute,
                ClosureKind::Fixed => LoopWord::Fixed,
            };
            let numbers = |(link, frame)| Attachment { link, frame };
            let defaults = LoopClosure::new(
                &closure.name,
                closure.kind,
                numbers(closure.first),
                numbers(closure.second),
            );
            if first.link == second.link {
                let reason = "both ends are fixed to the same body";
                let element = closure.spot.element.clone();
                self.note(closure.spot.line, element, Outcome::Ignored, reason);
                continue;
            }
            let (stiffness, damping) = (defaults.stiffness, defaults.damping);
            let name = closure.name.clone();
            self.file.loops.push(LoopTable { name, kind, first, second, stiffness, damping });
        }
    }

    fn settings(&mut self) {
        if let Some(gravity) = self.robot.gravity {
            self.file.gravity = gravity.into();
        }
        let dt = self.robot.timestep.unwrap_or(TIME_STEP);
        // One second, within what a scene may have.
        let steps = (1.0 / dt).round().clamp(1.0, 1e6) as usize;
        self.file.solver = Solver { dt: Some(dt), steps: Some(steps), ..Solver::default() };
    }
}
