//! From objectives and constraints of a file to residuals.
//!
//! ```text
//! at one step      z = (m(y_s) − target)/scale
//! running          z = (m(y_s) − target)/(scale √n)        over n steps: the mean of squares
//! effort           z = p_k √(Δt_k/T)/scale                 the mean of squares over time, T the time of all controls
//! contact force    z = (m (v_s − v_{s−1})/Δt − m g − f_s − target)/(scale √n)
//! constraint       z = violation/scale                     constraints.rs
//! ```

use super::allocated::Allocated;
use super::check::Check;
use super::file::{AxisName, ObjectiveFile, ObjectiveKind};
use super::measure::{Measure, Point};
use super::rows::{Row, Rows, Term};
use super::variables::Variables;
use crate::experiment::{ExperimentError, Refuse};
use nalgebra::Vector3;
use osculate_dynamics::file::SceneOutcome;
use osculate_math::so3;

/// Everything a term may refer to.
pub(super) struct Terms<'a> {
    pub(super) check: &'a Check<'a>,
    scene: &'a Allocated<'a>,
    variables: &'a Variables,
    outcome: &'a SceneOutcome,
    pub(super) rows: Vec<Row>,
    pub(super) terms: Vec<Term>,
}

/// The residuals of a file.
pub(super) fn rows(
    check: &Check<'_>,
    scene: &Allocated<'_>,
    variables: &Variables,
    outcome: &SceneOutcome,
) -> Result<Rows, ExperimentError> {
    let (rows, terms) = (Vec::new(), Vec::new());
    let mut all = Terms { check, scene, variables, outcome, rows, terms };
    for (i, objective) in check.file.objectives.iter().enumerate() {
        all.objective(&format!("objective[{i}]"), objective)?;
    }
    for (i, constraint) in check.file.constraints.iter().enumerate() {
        all.constraint(&format!("constraint[{i}]"), constraint)?;
    }
    Ok(Rows::new(all.rows, all.terms, scene.durations.len()))
}

const AXES: [AxisName; 3] = [AxisName::X, AxisName::Y, AxisName::Z];

fn index(axis: AxisName) -> usize {
    AXES.iter().position(|a| *a == axis).unwrap_or(0)
}

fn letter(axis: usize) -> &'static str {
    ["x", "y", "z"][axis]
}

impl Terms<'_> {
    pub(super) fn steps(&self) -> usize {
        self.scene.durations.len()
    }

    pub(super) fn body(&self, field: &str, name: &str) -> Result<usize, ExperimentError> {
        let bodies = &self.scene.scene.bodies;
        if let Some(i) = bodies.iter().position(|b| b.name == name && b.is_dynamic()) {
            return Ok(i);
        }
        let known = bodies.iter().filter(|b| b.is_dynamic()).map(|b| b.name.as_str());
        let allowed = format!("a dynamic actor: {}", known.collect::<Vec<_>>().join(", "));
        self.check.refuse(field, format!("'{name}'"), allowed)
    }

    pub(super) fn axes(
        &self,
        at: &str,
        given: Option<&[AxisName]>,
    ) -> Result<Vec<usize>, ExperimentError> {
        let axes: Vec<usize> = given.unwrap_or(&AXES).iter().map(|a| index(*a)).collect();
        let twice = (1..axes.len()).any(|i| axes[..i].contains(&axes[i]));
        if axes.is_empty() || twice {
            let found = format!("{} axes", axes.len());
            return self.check.refuse(&format!("{at}.axes"), found, "1 to 3 of x, y, z, each once");
        }
        Ok(axes)
    }

    /// States that a term looks at, and what to say of them.
    pub(super) fn states(
        &self,
        at: &str,
        step: Option<usize>,
        given: (Option<[usize; 2]>, Option<[f64; 2]>),
    ) -> Result<(Vec<usize>, bool), ExperimentError> {
        let last = self.steps();
        match (step, given) {
            (None, (None, None)) => Ok((vec![last], false)),
            (Some(step), (None, None)) if step <= last => Ok((vec![step], false)),
            (Some(step), (None, None)) => {
                self.check.refuse(&format!("{at}.step"), step, format!("0 to {last}"))
            }
            (Some(_), _) => {
                let found = "step beside steps or times";
                self.check.refuse(&format!("{at}.step"), found, "one of them")
            }
            (None, given) => {
                let range = self.check.steps(at, given, self.scene.durations)?;
                Ok((range.map(|s| s + 1).collect(), true))
            }
        }
    }

    fn vector(&self, at: &str, given: Option<&[f64]>) -> Result<[f64; 3], ExperimentError> {
        let list = given.unwrap_or(&[0.0; 3]);
        match <[f64; 3]>::try_from(list) {
            Ok(v) if v.iter().all(|x| x.is_finite()) => Ok(v),
            _ => {
                self.check.refuse(&format!("{at}.target"), format!("{list:?}"), "3 finite numbers")
            }
        }
    }

    /// Fields that the kind does not read are refused: they would be passed over.
    fn only(&self, at: &str, o: &ObjectiveFile) -> Result<(), ExperimentError> {
        use ObjectiveKind as K;
        let of_state = !matches!(o.kind, K::Effort | K::Outcome);
        let slip = o.kind == K::NoSlip;
        for (field, given, allowed) in [
            ("actor", o.actor.is_some(), of_state),
            ("target", o.target.is_some(), !matches!(o.kind, K::Effort | K::NoSlip)),
            ("axes", o.axes.is_some(), of_state),
            ("step", o.step.is_some(), of_state),
            ("steps", o.steps.is_some(), of_state),
            ("times", o.times.is_some(), of_state),
            ("point", o.point.is_some(), slip),
            ("against", o.against.is_some(), slip),
            ("controls", o.controls.is_some(), o.kind == K::Effort),
        ] {
            if given && !allowed {
                let kind = format!("absent beside this kind, {:?}", o.kind);
                return self.check.refuse(&format!("{at}.{field}"), field, kind);
            }
        }
        self.check.positive(&format!("{at}.scale"), o.scale)?;
        o.within.map_or(Ok(()), |w| self.check.positive(&format!("{at}.within"), w))
    }

    fn objective(&mut self, at: &str, o: &ObjectiveFile) -> Result<(), ExperimentError> {
        self.only(at, o)?;
        match o.kind {
            ObjectiveKind::Effort => self.effort(at, o),
            ObjectiveKind::Outcome => self.outcome(at, o),
            ObjectiveKind::ContactForce => self.force(at, o),
            _ => self.motion(at, o),
        }
    }

    fn push(&mut self, o: &ObjectiveFile, name: String, unit: &'static str, made: Made) {
        let first = self.rows.len();
        self.rows.extend(made.rows);
        self.terms.push(Term {
            name,
            rows: first..self.rows.len(),
            group: made.group,
            unit_error: made.scale,
            unit,
            within: o.within,
        });
    }

    fn motion(&mut self, at: &str, o: &ObjectiveFile) -> Result<(), ExperimentError> {
        let actor = o.actor.as_deref().unwrap_or_default();
        let body = self.body(&format!("{at}.actor"), actor)?;
        let (states, running) = self.states(at, o.step, (o.steps, o.times))?;
        let axes = self.axes(at, o.axes.as_deref())?;
        let target = self.vector(at, o.target.as_deref())?;
        let scale = if running { o.scale * (states.len() as f64).sqrt() } else { o.scale };
        let (what, unit) = match o.kind {
            ObjectiveKind::Position => ("position", "m"),
            ObjectiveKind::Rotation => ("rotation", "rad"),
            ObjectiveKind::Velocity => ("velocity", "m/s"),
            ObjectiveKind::AngularVelocity => ("angular velocity", "rad/s"),
            _ => ("slip", "m/s"),
        };
        let wanted = so3::exp(&Vector3::from(target));
        let slip = self.slip(at, o, body)?;
        let measure = |axis: usize| match o.kind {
            ObjectiveKind::Position => (Measure::Position(body, axis), target[axis]),
            ObjectiveKind::Rotation => (Measure::Rotation(body, axis, wanted), 0.0),
            ObjectiveKind::Velocity => (Measure::Velocity(body, axis), target[axis]),
            ObjectiveKind::AngularVelocity => (Measure::AngularVelocity(body, axis), target[axis]),
            _ => (Measure::Slip(slip.0, slip.1, axis), 0.0),
        };
        let row = |step: usize, axis: usize| {
            let (measure, target) = measure(axis);
            let parts = vec![(step, 1.0 / scale, measure)];
            Row { constant: -target / scale, parts, ..Row::default() }
        };
        let rows = states.iter().flat_map(|s| axes.iter().map(|a| row(*s, *a)));
        let made = Made { rows: rows.collect(), group: axes.len(), scale };
        let name = format!("{what} of {actor}{}", when(&states, running, self.steps()));
        self.push(o, name, unit, made);
        Ok(())
    }

    fn slip(
        &self,
        at: &str,
        o: &ObjectiveFile,
        body: usize,
    ) -> Result<(Point, Option<Point>), ExperimentError> {
        let bodies = &self.scene.scene.bodies;
        let point =
            |body: usize, x: Vector3<f64>| Point { body, at: x, center: bodies[body].center() };
        let own = point(body, Vector3::from(o.point.unwrap_or_default()));
        let against = match &o.against {
            None => None,
            Some(name) => Some(point(self.body(&format!("{at}.against"), name)?, Vector3::zeros())),
        };
        Ok((own, against))
    }

    /// `F = m (v_s − v_{s−1})/Δt − m g − f`: what no applied force explains of a free body's change of momentum.
    fn force(&mut self, at: &str, o: &ObjectiveFile) -> Result<(), ExperimentError> {
        let actor = o.actor.as_deref().unwrap_or_default();
        let field = format!("{at}.actor");
        let body = self.body(&field, actor)?;
        let scene = self.scene.scene;
        let places = &self.scene.places;
        if !places.contains_key(&format!("{actor}.velocity_x")) {
            return self.check.refuse(
                &field,
                format!("the link '{actor}'"),
                "an actor without joint",
            );
        }
        let mass = places.get(&format!("{actor}.mass")).copied();
        let by_mass =
            |i: usize| Some(i) == mass || self.scene.entries[i].path.starts_with("gravity_");
        if self.variables.moved.iter().any(|m| by_mass(m.index)) {
            let allowed = "an actor whose mass and gravity are no variables";
            return self.check.refuse(&field, format!("'{actor}'"), allowed);
        }
        let (states, running) = self.states(at, o.step, (o.steps, o.times))?;
        if states.contains(&0) {
            return self.check.refuse(
                &format!("{at}.step"),
                0,
                "1 or more: a force acts over a step",
            );
        }
        let axes = self.axes(at, o.axes.as_deref())?;
        let target = self.vector(at, o.target.as_deref())?;
        let scale = if running { o.scale * (states.len() as f64).sqrt() } else { o.scale };
        let mass = scene.bodies[body].mass().map_or(0.0, |m| m.mass());
        let gravity =
            if scene.bodies[body].gravity { self.scene.numbers.gravity } else { Vector3::zeros() };
        let values = &self.scene.values;
        let row = |step: usize, axis: usize| {
            let rate = mass / self.scene.durations[step - 1] / scale;
            let v = Measure::Velocity(body, axis);
            let parts = vec![(step, rate, v.clone()), (step - 1, -rate, v)];
            let mut constant = -(mass * gravity[axis] + target[axis]) / scale;
            let applied = format!("{actor}.wrench.{}.force_{}", step - 1, letter(axis));
            let mut direct = Vec::new();
            if let Some(&index) = places.get(&applied) {
                match self.variables.moved.iter().position(|m| m.index == index) {
                    Some(k) => direct.push((k, -1.0 / scale)),
                    None => constant -= values[index] / scale,
                }
            }
            Row { constant, direct, parts, inequality: false }
        };
        let rows = states.iter().flat_map(|s| axes.iter().map(|a| row(*s, *a))).collect();
        let name = format!("contact force on {actor}{}", when(&states, running, self.steps()));
        self.push(o, name, "N", Made { rows, group: axes.len(), scale });
        Ok(())
    }

    fn effort(&mut self, at: &str, o: &ObjectiveFile) -> Result<(), ExperimentError> {
        let all = &self.variables.controls;
        let named = o.controls.as_ref();
        if let Some(found) =
            named.into_iter().flatten().find(|n| !all.iter().any(|c| c.name == **n))
        {
            let known: Vec<&str> = all.iter().map(|c| c.name.as_str()).collect();
            let allowed = format!("names of [[control]]: {}", known.join(", "));
            return self.check.refuse(&format!("{at}.controls"), format!("'{found}'"), allowed);
        }
        let chosen: Vec<_> =
            all.iter().filter(|c| named.is_none_or(|n| n.contains(&c.name))).collect();
        if chosen.is_empty() {
            return self.check.refuse(&format!("{at}.kind"), "effort", "at least one [[control]]");
        }
        let durations = self.scene.durations;
        let time: f64 = chosen.iter().flat_map(|c| c.steps.clone()).map(|s| durations[s]).sum();
        let rows = chosen.iter().flat_map(|c| {
            c.steps.clone().zip(c.moved.clone()).map(|(step, place)| {
                let share = (durations[step] / time).sqrt() / o.scale;
                Row { direct: vec![(place, share)], ..Row::default() }
            })
        });
        let rows: Vec<Row> = rows.collect();
        // The error of an effort is its root mean square.
        let made = Made { group: rows.len(), rows, scale: o.scale };
        let unit = chosen[0].unit;
        let names: Vec<&str> = chosen.iter().map(|c| c.name.as_str()).collect();
        self.push(o, format!("effort of {}", names.join(", ")), unit, made);
        Ok(())
    }

    fn outcome(&mut self, at: &str, o: &ObjectiveFile) -> Result<(), ExperimentError> {
        let list = o.target.clone().unwrap_or_else(|| vec![0.0]);
        let [target] = list[..] else {
            return self.check.refuse(
                &format!("{at}.target"),
                format!("{list:?}"),
                "1 finite number",
            );
        };
        let mut steps: Vec<usize> = self.outcome.terms.iter().map(|t| t.step).collect();
        steps.sort_unstable();
        steps.dedup();
        let parts = steps.into_iter().map(|s| {
            let terms = self.outcome.terms.iter().filter(|t| t.step == s).copied().collect();
            (s, 1.0 / o.scale, Measure::Outcome(SceneOutcome { terms }, s))
        });
        let row = Row { constant: -target / o.scale, parts: parts.collect(), ..Row::default() };
        let made = Made { rows: vec![row], group: 1, scale: o.scale };
        self.push(o, "outcome".into(), "", made);
        Ok(())
    }
}

/// Rows of a term, how many make an error, and the factor from their norm to it.
struct Made {
    rows: Vec<Row>,
    group: usize,
    scale: f64,
}

pub(super) fn when(states: &[usize], running: bool, last: usize) -> String {
    match (states.first(), states.last()) {
        (Some(first), Some(end)) if running => format!(", steps {first} to {end}"),
        (Some(step), _) if *step != last => format!(" after step {step}"),
        _ => ", at the end".into(),
    }
}
