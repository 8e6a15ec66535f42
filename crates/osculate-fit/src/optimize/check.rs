//! From a file to a task. Every error names file, line, field, value and what is allowed.

use super::allocated::{Allocated, with_room};
use super::file::{ControlFile, OptimizeFile, Solver, StageFile};
use super::task::{Loaded, Task};
use super::terms;
use super::variables::{Moved, Turn, Variables};
use crate::contact_model::{ContactModel, Entry};
use crate::experiment::{ExperimentError, Refuse};
use crate::parameter::{FreeParameter, ParameterError, Scale, resolve};
use crate::trust::MOST_GRIDS;
use osculate_dynamics::file::{BuiltScene, SceneFile, Source, steps_between};
use osculate_dynamics::impulse::ImpulseSettings;
use osculate_dynamics::{OnFailure, Scene};
use std::ops::Range;
use std::path::Path;

/// The most decision variables.
const MOST: usize = 100_000;

/// The text that a file was read from, and what there is to refer to.
pub(super) struct Check<'a> {
    pub(super) file: &'a OptimizeFile,
    pub(super) source: Source,
}

impl Refuse for Check<'_> {
    fn source(&self) -> &Source {
        &self.source
    }
}

impl Check<'_> {
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
        self.count("augmented.rounds", file.augmented.rounds, 1..=100)?;
        self.count("multistart.starts", file.multistart.starts, 1..=10_000)?;
        self.count("baselines.rollouts", file.baselines.rollouts, 1..=10_000_000)?;
        self.positive("baselines.sigma", file.baselines.sigma)?;
        self.count("trust.grids", file.trust.grids, 1..=MOST_GRIDS)?;
        if !(file.trust.change > 0.0 && file.trust.change <= 0.5) {
            return self.refuse("trust.change", file.trust.change, "> 0, at most 0.5");
        }
        Ok(())
    }

    fn stage(&self, at: &str, stage: &StageFile) -> Result<(), ExperimentError> {
        self.count(&format!("{at}.iterations"), stage.iterations, 1..=1_000_000)?;
        let least = if stage.solver == Solver::BasinHopping { 1 } else { 2 };
        self.count(&format!("{at}.samples"), stage.samples, least..=100_000)?;
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
        let hybrid = stage.solver == Solver::Hybrid;
        let drawn = hybrid || stage.solver == Solver::BasinHopping;
        let spread = drawn || stage.solver == Solver::CmaEs;
        if stage.second_order && stage.solver != Solver::GaussNewton {
            let allowed = "only beside solver = \"gauss-newton\"";
            return self.refuse(&format!("{at}.second_order"), true, allowed);
        }
        let (sigma, rate) = (stage.sigma - default.sigma, stage.rate - default.rate);
        for (field, own, changed, solvers) in [
            ("sigma", spread, sigma.abs() > 0.0, "\"hybrid\", \"basin-hopping\" or \"cma-es\""),
            ("samples", drawn, stage.samples != default.samples, "\"hybrid\" or \"basin-hopping\""),
            ("rate", hybrid, rate.abs() > 0.0, "\"hybrid\""),
        ] {
            if changed && !own {
                let allowed = format!("only beside solver = {solvers}");
                return self.refuse(&format!("{at}.{field}"), field, allowed);
            }
        }
        Ok(())
    }

    fn variables(&self, scene: &Allocated<'_>) -> Result<Variables, ExperimentError> {
        let mut variables = Variables::default();
        if !self.file.variables.is_empty() {
            let indices = resolve(scene.entries, &self.file.variables)
                .map_err(|source| self.variable(source))?;
            for (i, (free, index)) in self.file.variables.iter().zip(indices).enumerate() {
                if free.profile_only || free.step.is_some() {
                    let field = if free.profile_only { "profile_only" } else { "step" };
                    let allowed = "absent: it belongs to fits";
                    return self.refuse(&format!("variable[{i}].{field}"), field, allowed);
                }
                let turn = self.turn(i, index, scene, &variables)?;
                variables.add_parameter(free.clone(), (index, scene.values[index]), turn);
            }
        }
        for (i, control) in self.file.controls.iter().enumerate() {
            self.control(&format!("control[{i}]"), (i, control), scene, &mut variables)?;
        }
        if variables.len() > MOST {
            let found = format!("{} numbers", variables.len());
            return self.refuse("control", found, format!("at most {MOST}"));
        }
        Ok(variables)
    }

    /// Whether a parameter turns a frame. Rotations of a joint's coordinates move together with others in their own way: one of them
    /// can be free.
    fn turn(
        &self,
        i: usize,
        index: usize,
        scene: &Allocated<'_>,
        variables: &Variables,
    ) -> Result<Option<Turn>, ExperimentError> {
        let path = &scene.entries[index].path;
        let axis =
            ["rotation_x", "rotation_y", "rotation_z"].iter().position(|a| path.ends_with(a));
        if let Some(axis) = axis {
            return Ok(Some(Turn { first: index - axis, axis }));
        }
        let joint = |path: &str| path.rsplit_once(".q_").map(|(joint, _)| joint.to_owned());
        let Some(own) = joint(path).filter(|_| scene.entries[index].unit == "rad") else {
            return Ok(None);
        };
        let other = variables.moved.iter().map(|m| &scene.entries[m.index]);
        if let Some(other) =
            other.filter(|e| e.unit == "rad").find(|e| joint(&e.path).as_ref() == Some(&own))
        {
            let found = format!("'{path}' beside '{}'", other.path);
            let allowed = "one rotation of a free or spherical joint";
            return self.refuse(&format!("variable[{i}].path"), found, allowed);
        }
        Ok(None)
    }

    fn control(
        &self,
        at: &str,
        (i, control): (usize, &ControlFile),
        scene: &Allocated<'_>,
        variables: &mut Variables,
    ) -> Result<(), ExperimentError> {
        let field = |name: &str| format!("{at}.{name}");
        if self.file.controls[..i].iter().any(|c| c.name == control.name) {
            return self.refuse(&field("name"), format!("'{}'", control.name), "a name of its own");
        }
        let steps = self.steps(at, (control.steps, control.times), scene.durations)?;
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
            start: control.start,
            ..FreeParameter::new(format!("{}[{k}]", control.name), Scale::Linear, control.range)
        };
        number(0).validate().map_err(|source| self.of_control(at, source))?;
        let bases: Vec<f64> = indices.iter().map(|k| scene.values[*k]).collect();
        let unit = scene.entries[indices[0]].unit;
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

    fn variable(&self, source: ParameterError) -> ExperimentError {
        let listed = |path: &str| self.file.variables.iter().rposition(|p| p.path == path);
        self.parameter("variable", source, |path| (listed(path).unwrap_or(0), None))
    }
}

/// Reads an optimisation and its scene.
///
/// # Errors
/// Where one of the files is wrong.
pub(super) fn load(path: &Path) -> Result<(OptimizeFile, Loaded), ExperimentError> {
    let text = osculate_dynamics::file::read_text(path)
        .map_err(|source| ExperimentError::Read { file: path.to_owned(), source })?;
    let file = OptimizeFile::parse(&text, path)?;
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let built = SceneFile::load(folder.join(&file.scene))?;
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
) -> Result<Loaded, ExperimentError> {
    let check = Check { file, source };
    check.values()?;
    // One stage or step that fails must not lose a search; the report counts them.
    let on_failure = OnFailure::Continue;
    if let Some(simulator) = &built.impulse {
        check.of_impulses()?;
        let settings = ImpulseSettings { on_failure, ..*simulator.settings() };
        let of = (simulator.scene(), settings, simulator.durations());
        return Ok(Loaded::Impulse(Box::new(check.task(of, built)?)));
    }
    let mut settings = *built.simulator.settings();
    settings.newton.on_failure = on_failure;
    let of = (built.simulator.scene(), settings, built.simulator.durations());
    Ok(Loaded::Compliant(Box::new(check.task(of, built)?)))
}

impl Check<'_> {
    /// Second derivatives by turns of a frame depend on what else turns it: not built.
    fn second_order(
        &self,
        variables: &Variables,
        entries: &[Entry],
    ) -> Result<(), ExperimentError> {
        let Some(i) = self.file.stages.iter().position(|s| s.second_order) else { return Ok(()) };
        let turns = |m: &Moved| m.turn.is_some() || entries[m.index].path.contains(".q_");
        if let Some(m) = variables.moved.iter().find(|m| turns(m)) {
            let found = format!("true beside '{}'", entries[m.index].path);
            let allowed = "variables that turn no frame";
            return self.refuse(&format!("stage[{i}].second_order"), found, allowed);
        }
        Ok(())
    }

    /// Impulses have no k, ε and V_f that a stage could soften, and no second derivatives.
    fn of_impulses(&self) -> Result<(), ExperimentError> {
        for (i, stage) in self.file.stages.iter().enumerate() {
            for (field, factor) in [("k", stage.k), ("epsilon", stage.epsilon), ("v_f", stage.v_f)]
            {
                if (factor - 1.0).abs() > 0.0 {
                    let field = format!("stage[{i}].{field}");
                    return self.refuse(&field, factor, "1 with model = \"impulse\": it has none");
                }
            }
            if stage.second_order {
                let allowed = "false with model = \"impulse\", which has first derivatives only";
                return self.refuse(&format!("stage[{i}].second_order"), true, allowed);
            }
        }
        Ok(())
    }

    fn task<M: ContactModel>(
        &self,
        (scene, settings, durations): (&Scene, M::Settings, &[f64]),
        built: &BuiltScene,
    ) -> Result<Task<M>, ExperimentError> {
        let simulator = M::new(scene.clone(), settings, durations.to_vec())
            .map_err(|source| ExperimentError::Body { file: self.file.scene.clone(), source })?;
        let room = with_room(built, self.file, (scene, durations.len()));
        let base = simulator.all_parameters(room);
        let layout = simulator.layout(&base);
        let entries = M::entries(&layout);
        let places = entries.iter().enumerate().map(|(i, e)| (e.path.clone(), i)).collect();
        let (numbers, values) = (M::of_scene(&base), M::values(&layout, &base));
        let allocated = Allocated { scene, durations, numbers, entries: &entries, values, places };
        let variables = self.variables(&allocated)?;
        self.second_order(&variables, &entries)?;
        let rows = terms::rows(self, &allocated, &variables, &built.outcome)?;
        Ok(Task { simulator, base, layout, entries, variables, rows })
    }
}
