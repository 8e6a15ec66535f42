//! From structs to a simulation.

use super::error::FileError;
use super::outcome::SceneOutcome;
use super::schema::{Model, SceneFile};
use super::source::Source;
use super::warning::SceneWarning;
use super::{actor, effort, filter, impulse, joint, outcome, pairs, solver, wrench};
use crate::impulse::ImpulseSimulator;
use crate::{Parameters, Scene, Simulator};
use nalgebra::Vector3;
use osculate_geometry::GeometryError;
use std::cell::RefCell;
use std::fmt::Display;
use std::path::Path;

/// The most actors of a scene.
const MOST_ACTORS: usize = 10_000;

/// The largest magnitude of a number: squares and cubes of it stay finite.
const LARGEST: f64 = 1e90;

/// A scene ready to run.
#[derive(Clone, Debug)]
pub struct BuiltScene {
    /// Scene, settings and time grid of the compliant model.
    pub simulator: Simulator,
    /// The same scene and time grid for the impulse model, where the file asks for it.
    pub impulse: Option<ImpulseSimulator>,
    /// The scene's numbers, with its applied wrenches.
    pub parameters: Parameters,
    /// The scalar that is differentiated.
    pub outcome: SceneOutcome,
    /// What was changed on the way or is doubtful, in the order of the actors.
    pub warnings: Vec<SceneWarning>,
    pub(super) source: Source,
}

impl SceneFile {
    /// Checks every value and makes the simulation.
    ///
    /// * `base_dir`: where relative paths of meshes start, the folder of the scene file.
    ///
    /// # Errors
    /// Where a value is outside its range, names no actor, contradicts another or needs what is not built yet.
    pub fn build(&self, base_dir: &Path) -> Result<BuiltScene, FileError> {
        let warnings = RefCell::default();
        let context = Context { source: &self.source, base_dir, warnings: &warnings };
        let gravity = context.vector("gravity", &self.gravity)?;
        let durations = solver::durations(&context, &self.solver)?;
        let settings = solver::settings(&context, &self.solver)?;
        let count = self.actors.len();
        if !(1..=MOST_ACTORS).contains(&count) {
            return Err(context.value("actor", format!("{count} actors"), "1 to 10 000 actors"));
        }
        let mut bodies = Vec::with_capacity(count);
        for (i, actor) in self.actors.iter().enumerate() {
            actor::check_name(&context, &self.actors, i)?;
            bodies.push(actor::body(&context, actor, &format!("actor[{i}]"), durations.len())?);
        }
        let mut scene =
            Scene::new(gravity, bodies).map_err(|source| context.scene("actor", source))?;
        if self.solver.model == Model::Compliant {
            warn_of_ghosts(&context, &scene);
        }
        scene.articulation = joint::articulation(&context, self, &scene)?;
        filter::apply(&context, self, &mut scene)?;
        scene.overrides = pairs::overrides(&context, &self.pairs, &scene)?;
        let wrenches = wrench::applied(&context, &self.wrenches, &scene, &durations)?;
        let outcome = outcome::terms(&context, &self.outcome, &scene, durations.len())?;
        let mut parameters = Parameters::of(&scene);
        parameters.wrenches = wrenches;
        effort::apply(&context, self, &durations, parameters.articulation.as_mut())?;
        let impulse = match self.solver.model {
            Model::Compliant => None,
            Model::Impulse => Some(impulse::simulator(&context, &self.solver, &scene, &durations)?),
        };
        let simulator = Simulator::new(scene, settings, durations)
            .map_err(|source| context.scene("solver", source))?;
        let (source, warnings) = (self.source.clone(), warnings.into_inner());
        Ok(BuiltScene { simulator, impulse, parameters, outcome, warnings, source })
    }

    /// Reads and builds a scene file; meshes are looked for beside it.
    ///
    /// # Errors
    /// As [`SceneFile::read`] and [`SceneFile::build`].
    pub fn load(path: impl AsRef<Path>) -> Result<BuiltScene, FileError> {
        let path = path.as_ref();
        Self::read(path)?.build(path.parent().unwrap_or(Path::new("")))
    }
}

/// Bodies that fall through everything though they have a collider: no actor has samples to meet it, and they have none
/// themselves. Before filters, which exclude pairs on purpose.
fn warn_of_ghosts(context: &Context<'_>, scene: &Scene) {
    for i in scene.dynamic_bodies() {
        let body = &scene.bodies[i];
        let met = (0..scene.bodies.len()).any(|other| scene.has_roles(other, i));
        if body.collider.is_some() && body.samples.is_none() && !met {
            let message = format!(
                "actor '{}' has a collider but nothing that samples it, and no other actor has samples: it touches \
                 nothing. Give it a shape or samples, or collider = \"none\"",
                body.name
            );
            context.warn(&format!("actor[{i}].collider"), message);
        }
    }
}

/// What every check needs: the text for lines, the folder for meshes, a list for warnings.
pub(super) struct Context<'a> {
    pub(super) source: &'a Source,
    pub(super) base_dir: &'a Path,
    warnings: &'a RefCell<Vec<SceneWarning>>,
}

impl Context<'_> {
    /// Something worth knowing that is no reason to refuse the scene.
    pub(super) fn warn(&self, field: &str, message: String) {
        let warning = SceneWarning { place: self.source.place(field), message };
        self.warnings.borrow_mut().push(warning);
    }

    /// A value that is not allowed.
    pub(super) fn value(
        &self,
        field: &str,
        found: impl Display,
        allowed: impl Into<String>,
    ) -> FileError {
        let (found, allowed) = (found.to_string(), allowed.into());
        FileError::Value { place: self.source.place(field), found, allowed }
    }

    /// A value of which the geometry says why it is not allowed.
    pub(super) fn geometry(
        &self,
        field: &str,
        found: impl Display,
        source: GeometryError,
    ) -> FileError {
        let (found, source) = (found.to_string(), Box::new(source));
        FileError::Geometry { place: self.source.place(field), found, source }
    }

    pub(super) fn scene(&self, field: &str, source: crate::SceneError) -> FileError {
        FileError::Scene { place: self.source.place(field), source: Box::new(source) }
    }

    /// A finite number.
    pub(super) fn number(&self, field: &str, x: f64) -> Result<f64, FileError> {
        if x.abs() <= LARGEST {
            Ok(x)
        } else {
            Err(self.value(field, x, "a finite number, at most 1e90 in magnitude"))
        }
    }

    /// A positive number.
    pub(super) fn positive(&self, field: &str, x: f64, unit: &str) -> Result<f64, FileError> {
        if x > 0.0 && x <= LARGEST {
            Ok(x)
        } else {
            Err(self.value(field, format!("{x} {unit}"), format!("> 0 {unit} and finite")))
        }
    }

    /// Three finite numbers.
    pub(super) fn vector(&self, field: &str, x: &[f64; 3]) -> Result<Vector3<f64>, FileError> {
        self.numbers(field, x)?;
        Ok(Vector3::from(*x))
    }

    /// Finite numbers.
    pub(super) fn numbers(&self, field: &str, x: &[f64]) -> Result<(), FileError> {
        match x.iter().position(|x| x.is_nan() || x.abs() > LARGEST) {
            None => Ok(()),
            Some(i) => self.number(&format!("{field}[{i}]"), x[i]).map(|_| ()),
        }
    }

    /// Index of the actor that a field names.
    pub(super) fn actor(&self, field: &str, name: &str, scene: &Scene) -> Result<usize, FileError> {
        let found = scene.bodies.iter().position(|body| body.name == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
            let known = known.join(", ");
            FileError::UnknownActor { place: self.source.place(field), found: name.into(), known }
        })
    }
}
