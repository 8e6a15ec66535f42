//! From a file to a task. Every error names file, line, field, value and what is allowed.

use super::file::{ControlFile, OptimizeFile, Solver, StageFile};
use super::task::Task;
use super::terms;
use super::variables::Variables;
use crate::contact_model::ContactModel;
use crate::experiment::ExperimentError;
use crate::parameter::{FreeParameter, ParameterError, Scale, resolve};
use crate::trust::MOST_GRIDS;
use osculate_dynamics::file::{BuiltScene, SceneFile, Source, steps_between};
use osculate_dynamics::{Layout, OnFailure, Parameters, Simulator, Wrench};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

/// The most decision variables.
const MOST: usize = 100_000;

/// The text that a file was read from, and what there is to refer to.
pub(super) struct Check<'a> {
    pub(super) file: &'a OptimizeFile,
    pub(super) source: Source,
}

impl Check<'_> {
    pub(super) fn refuse<T>(
        &self,
        field: &str,
        found: impl ToString,
        allowed: impl Into<String>,
    ) -> Result<T, ExperimentError> {
        Err(ExperimentError::Value {
            place: self.source.place(field),
            found: found.to_string(),
            allowed: allowed.into(),
        })
    }

    pub(super) fn positive(&self, field: &str, found: f64) -> Result<(), ExperimentError> {
        if found.is_finite() && found > 0.0 { Ok(()) } else { self.refuse(field, found, "> 0") }
    }

    fn count(
        &self,
        field: &str,
        found: usize,
        allowed: Range<usize>,
    ) -> Result<(), ExperimentError> {
        if allowed.contains(&found) {
            return Ok(());
        }
        self.refuse(field, found, format!("{} to {}", allowed.start, allowed.end - 1))
    }

    /// The steps that a table names, all of them where it names none.
    pub(super) fn steps(
        &self,
        at: &str,
        (steps, times): (Option<[usize; 2]>, Option<[f64; 2]>),
        durations: &[f64],
    ) -> Result<Range<usize>, ExperimentError> {
        let count = durations.len();
        match (steps, times) {
            (None, None) => Ok(0..count),
            (Some([from, to]), None) if from < to && to <= count => Ok(from..to),
            (Some([from, to]), None) => {
                let allowed = format!("[from, to] with 0 <= from < to <= {count}");
                self.refuse(&format!("{at}.steps"), format!("[{from}, {to}]"), allowed)
            }
            (None, Some(times)) => {
                let found = steps_between(durations, times);
                if times[0] < times[1] && !found.is_empty() {
                    return Ok(found);
                }
                let allowed = "[from, to] with from < to and the middle of a step between them";
                self.refuse(&format!("{at}.times"), format!("{times:?}"), allowed)
            }
            (Some(_), Some(_)) => {
                self.refuse(&format!("{at}.times"), "steps beside times", "one of them")
            }
        }
    }

    /// All that can be said without the scene.
    fn values(&self) -> Result<(), ExperimentError> {
        let file = self.file;
        if file.variables.is_empty() && file.controls.is_empty() {
            return self.refuse("variable", "no variable and no control", "at least one of them");
        }
        if file.objectives.is_empty() {
            return self.refuse("objective", "none", "at least one [[objective]]");
        }
        for (i, stage) in file.stages.iter().enumerate() {
            self.stage(&format!("stage[{i}]"), stage)?;
        }
        if let Some(last) = file.stages.last() {
            for (field, factor) in [("k", last.k), ("epsilon", last.epsilon), ("v_f", last.v_f)] {
                if (factor - 1.0).abs() > 0.0 {
                    let field = format!("stage[{}].{field}", file.stages.len() - 1);
                    return self.refuse(&field, factor, "1 in the last stage: the scene's own");
                }
            }
        }
        self.count("augmented.rounds", file.augmented.rounds, 1..101)?;
        self.count("multistart.starts", file.multistart.starts, 1..10_001)?;
        self.count("baselines.rollouts", file.baselines.rollouts, 1..10_000_001)?;
        self.positive("baselines.sigma", file.baselines.sigma)?;
        self.count("trust.grids", file.trust.grids, 1..MOST_GRIDS + 1)?;
        if !(file.trust.change > 0.0 && file.trust.change <= 0.5) {
            return self.refuse("trust.change", file.trust.change, "> 0, at most 0.5");
        }
        Ok(())
    }

    fn stage(&self, at: &str, stage: &StageFile) -> Result<(), ExperimentError> {
        self.count(&format!("{at}.iterations"), stage.iterations, 1..1_000_001)?;
        self.count(&format!("{at}.samples"), stage.samples, 2..100_001)?;
        for (field, x) in [
            ("k", stage.k),
            ("epsilon", stage.epsilon),
            ("v_f", stage.v_f),
            ("sigma", stage.sigma),
            ("rate", stage.rate),
        ] {
            self.positive(&format!("{at}.{field}"), x)?;
        }
        // A field of another solver would be passed over.
        let default = StageFile::default();
        let sampled = matches!(stage.solver, Solver::Hybrid | Solver::CmaEs);
        let hybrid = stage.solver == Solver::Hybrid;
        for (field, own, changed) in [
            ("sigma", sampled, (stage.sigma - default.sigma).abs() > 0.0),
            ("samples", hybrid, stage.samples != default.samples),
            ("rate", hybrid, (stage.rate - default.rate).abs() > 0.0),
        ] {
            if changed && !own {
                let allowed = if field == "sigma" {
                    "only beside solver = \"hybrid\" or \"cma-es\""
                } else {
                    "only beside solver = \"hybrid\""
                };
                return self.refuse(&format!("{at}.{field}"), field, allowed);
            }
        }
        Ok(())
    }

    fn variables(&self, scene: &Allocated) -> Result<Variables, ExperimentError> {
        let mut variables = Variables::default();
        let values = scene.layout.values(&scene.parameters);
        if !self.file.variables.is_empty() {
            let indices = resolve(&Simulator::entries(&scene.layout), &self.file.variables)
                .map_err(|source| self.parameter(source))?;
            for (i, (free, index)) in self.file.variables.iter().zip(indices).enumerate() {
                if free.profile_only || free.step.is_some() {
                    let field = if free.profile_only { "profile_only" } else { "step" };
                    let allowed = "absent: it belongs to fits";
                    return self.refuse(&format!("variable[{i}].{field}"), field, allowed);
                }
                variables.add_parameter(free.clone(), index, values[index]);
            }
        }
        for (i, control) in self.file.controls.iter().enumerate() {
            self.control(&format!("control[{i}]"), (i, control), scene, (&values, &mut variables))?;
        }
        if variables.len() > MOST {
            let found = format!("{} numbers", variables.len());
            return self.refuse("control", found, format!("at most {MOST}"));
        }
        Ok(variables)
    }

    fn control(
        &self,
        at: &str,
        (i, control): (usize, &ControlFile),
        scene: &Allocated,
        (values, variables): (&[f64], &mut Variables),
    ) -> Result<(), ExperimentError> {
        let field = |name: &str| format!("{at}.{name}");
        if self.file.controls[..i].iter().any(|c| c.name == control.name) {
            return self.refuse(&field("name"), format!("'{}'", control.name), "a name of its own");
        }
        let steps = self.steps(at, (control.steps, control.times), scene.simulator.durations())?;
        let component = &control.component;
        let path = |step: usize| match (&control.actor, &control.joint) {
            (Some(actor), _) => format!("{actor}.wrench.{step}.{component}"),
            (None, joint) => format!("joint.{}.{component}.{step}", joint.as_deref().unwrap_or("")),
        };
        if control.actor.is_some() == control.joint.is_some() {
            return self.refuse(at, "actor and joint, or neither", "one of them");
        }
        let indices: Option<Vec<usize>> =
            steps.clone().map(|s| scene.places.get(&path(s)).copied()).collect();
        let Some(indices) = indices else {
            let known = scene.controls(steps.start).join(", ");
            let found = path(steps.start);
            return self.refuse(
                &field("component"),
                format!("'{found}'"),
                format!("one of {known}"),
            );
        };
        if let Some(k) = indices.iter().position(|k| variables.moved.iter().any(|m| m.index == *k))
        {
            let found = format!("'{}', which something above moves", path(steps.start + k));
            return self.refuse(&field("component"), found, "each number once");
        }
        let degree = control.spline.degree();
        let count = control.knots.unwrap_or(indices.len());
        if count <= degree || count > indices.len() {
            let allowed = format!("{} to {}, the number of steps", degree + 1, indices.len());
            return self.refuse(&field("knots"), count, allowed);
        }
        let degree = if count == indices.len() && control.knots.is_none() { 0 } else { degree };
        let number = |k: usize| FreeParameter {
            path: format!("{}[{k}]", control.name),
            scale: Scale::Linear,
            range: control.range,
            start: control.start,
            step: None,
            profile_only: false,
        };
        number(0).validate().map_err(|source| self.of_control(at, source))?;
        let bases: Vec<f64> = indices.iter().map(|k| values[*k]).collect();
        let unit = scene.layout.entries()[indices[0]].unit;
        let numbers = (0..count).map(number).collect();
        let driven = (steps.start, indices.as_slice(), bases.as_slice());
        variables.add_control((&control.name, unit), driven, numbers, degree);
        Ok(())
    }

    fn of_control(&self, at: &str, source: ParameterError) -> ExperimentError {
        let field = match &source {
            ParameterError::Range { field, .. } => *field,
            _ => "range",
        };
        ExperimentError::Parameter { place: self.source.place(&format!("{at}.{field}")), source }
    }

    fn parameter(&self, source: ParameterError) -> ExperimentError {
        let (path, field) = match &source {
            ParameterError::Unknown { path, .. } | ParameterError::Twice { path } => (path, "path"),
            ParameterError::Range { path, field, .. } => (path, *field),
            ParameterError::Step { path, .. } => (path, "step"),
            ParameterError::None => {
                return ExperimentError::Parameter { place: self.source.place("variable"), source };
            }
        };
        let index = self.file.variables.iter().rposition(|p| p.path == *path).unwrap_or(0);
        let place = self.source.place(&format!("variable[{index}].{field}"));
        ExperimentError::Parameter { place, source }
    }
}

/// A scene with room for the numbers that controls move.
pub(super) struct Allocated {
    pub(super) simulator: Simulator,
    pub(super) parameters: Parameters,
    pub(super) layout: Layout,
    /// Index of every path.
    pub(super) places: HashMap<String, usize>,
}

impl Allocated {
    fn new(built: &BuiltScene, file: &OptimizeFile) -> Result<Self, ExperimentError> {
        let mut settings = *built.simulator.settings();
        // One stage that fails must not lose a search; the report counts them.
        settings.newton.on_failure = OnFailure::Continue;
        let scene = built.simulator.scene().clone();
        let mut parameters = built.parameters.clone();
        let steps = built.simulator.steps();
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
        let durations = built.simulator.durations().to_vec();
        let simulator = Simulator::new(scene, settings, durations)
            .map_err(|source| ExperimentError::Body { file: file.scene.clone(), source })?;
        let layout = Layout::new(simulator.scene(), &parameters);
        let entries = layout.entries().iter().enumerate();
        let places = entries.map(|(i, e)| (e.path.clone(), i)).collect();
        Ok(Self { simulator, parameters, layout, places })
    }

    /// What a control of a step can be.
    fn controls(&self, step: usize) -> Vec<&str> {
        let (inside, last) = (format!(".wrench.{step}."), format!(".{step}"));
        let paths = self.layout.entries().iter().map(|e| e.path.as_str());
        let joint = |p: &str| p.starts_with("joint.") && p.ends_with(&last);
        paths.filter(|p| p.contains(&inside) || joint(p)).take(24).collect()
    }
}

/// Reads an optimisation and its scene.
///
/// # Errors
/// Where one of the files is wrong.
pub(super) fn load(path: &Path) -> Result<(OptimizeFile, Task), ExperimentError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ExperimentError::Read { file: path.to_owned(), source })?;
    let file = OptimizeFile::parse(&text, path)?;
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let built = SceneFile::load(folder.join(&file.scene))?;
    built.require_compliant("optimisation through impulses")?;
    let task = build(&file, Source::new(path, &text), &built)?;
    Ok((file, task))
}

/// Checks a file against its scene.
///
/// # Errors
/// Where a value is outside its range, names nothing, or contradicts another.
pub(super) fn build(
    file: &OptimizeFile,
    source: Source,
    built: &BuiltScene,
) -> Result<Task, ExperimentError> {
    let check = Check { file, source };
    check.values()?;
    let scene = Allocated::new(built, file)?;
    let variables = check.variables(&scene)?;
    let rows = terms::rows(&check, &scene, &variables, &built.outcome)?;
    let Allocated { simulator, parameters, layout, .. } = scene;
    Ok(Task { simulator, base: parameters, layout, variables, rows })
}
