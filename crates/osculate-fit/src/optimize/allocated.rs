//! What a file refers to: a scene with room for the numbers that controls move.

use super::file::OptimizeFile;
use crate::contact_model::Entry;
use osculate_dynamics::file::BuiltScene;
use osculate_dynamics::{Parameters, Scene, Wrench};
use std::collections::HashMap;

/// A scene with room for the numbers that controls move, under whichever model.
pub(super) struct Allocated<'a> {
    pub(super) scene: &'a Scene,
    /// Of the steps \[s\].
    pub(super) durations: &'a [f64],
    /// Bodies, gravity and what acts in steps.
    pub(super) numbers: &'a Parameters,
    /// Paths and units of all numbers.
    pub(super) entries: &'a [Entry],
    /// Their values.
    pub(super) values: Vec<f64>,
    /// Index of every path.
    pub(super) places: HashMap<String, usize>,
}

/// The numbers of a scene, with room for those that controls move.
pub(super) fn with_room(
    built: &BuiltScene,
    file: &OptimizeFile,
    (scene, steps): (&Scene, usize),
) -> Parameters {
    let mut parameters = built.parameters.clone();
    if file.controls.iter().any(|c| c.actor.is_some()) && parameters.wrenches.is_empty() {
        parameters.wrenches = vec![Wrench::zero(); steps * scene.dynamic_bodies().count()];
    }
    let joint = |target: bool| {
        let joints = file.controls.iter().filter(|c| c.joint.is_some());
        joints.into_iter().any(|c| (c.component == "target") == target)
    };
    if let Some(p) = &mut parameters.articulation {
        let dofs = p.model.dofs();
        if joint(false) && p.efforts.is_empty() {
            p.efforts = vec![0.0; steps * dofs];
        }
        if joint(true) && p.targets.is_empty() {
            let drive = |k: usize| p.model.links()[p.model.link_of(k)].joint.laws.drive;
            let own: Vec<f64> = (0..dofs).map(|k| drive(k).map_or(0.0, |d| d.target)).collect();
            p.targets = own.repeat(steps);
        }
    }
    parameters
}

impl Allocated<'_> {
    /// What a control of a step can be.
    pub(super) fn controls(&self, step: usize) -> Vec<&str> {
        let (inside, last) = (format!(".wrench.{step}."), format!(".{step}"));
        let paths = self.entries.iter().map(|e| e.path.as_str());
        let joint = |p: &str| p.starts_with("joint.") && p.ends_with(&last);
        paths.filter(|p| p.contains(&inside) || joint(p)).take(24).collect()
    }
}
