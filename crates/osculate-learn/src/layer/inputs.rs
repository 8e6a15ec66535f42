//! From a row of numbers to the parameters of a roll-out, and the derivative back.

use super::place::{Named, body_index};
use super::spec::{Input, WRENCH};
use crate::LearnError;
use nalgebra::{Matrix3, Vector3};
use osculate_dynamics::{Parameters, Wrench};
use osculate_fit::contact_model::{ContactModel, index_of};
use osculate_math::so3;
use std::ops::Range;

/// Largest entry of `|RᵀR − 1|` that counts as rounding.
const ROTATION_ERROR: f64 = 1e-9;

/// Where the columns of an input go.
enum Slot {
    /// A body, and where its position, increment of rotation, velocity and angular velocity stand.
    State {
        body: usize,
        entries: [[usize; 3]; 4],
    },
    /// A dynamic body by its number among them, steps, and where force and torque of each step stand.
    Wrench {
        dynamic: usize,
        steps: Range<usize>,
        entries: Vec<[usize; WRENCH]>,
    },
    Parameter {
        entry: usize,
    },
}

/// The parameters of a scene with the places of the inputs.
pub(super) struct Inputs<S: ContactModel> {
    base: S::Parameters<f64>,
    layout: S::Layout,
    slots: Vec<Slot>,
    /// Of each column, for errors.
    names: Vec<String>,
    dynamic: usize,
}

impl<S: ContactModel> Inputs<S> {
    /// Finds the places.
    pub(super) fn new(
        simulator: &S,
        mut scene: Parameters,
        inputs: &[Input],
    ) -> Result<Self, LearnError> {
        let dynamic: Vec<usize> = simulator.scene().dynamic_bodies().collect();
        if scene.wrenches.is_empty() && inputs.iter().any(acts) {
            scene.wrenches = vec![Wrench::zero(); simulator.steps() * dynamic.len()];
        }
        let base = simulator.all_parameters(scene);
        let layout = simulator.layout(&base);
        let finder = Finder { simulator, entries: S::entries(&layout), dynamic: &dynamic };
        let (mut slots, mut names) = (Vec::new(), Vec::new());
        for (i, input) in inputs.iter().enumerate() {
            slots.push(finder.slot(&format!("input {i}"), input, &mut names)?);
        }
        let dynamic = dynamic.len();
        let out = Self { base, layout, slots, names, dynamic };
        out.refuse_doubles()?;
        out.refuse_increments(inputs)?;
        Ok(out)
    }

    /// A number that one input sets may not be set by another; wrenches add up.
    fn refuse_doubles(&self) -> Result<(), LearnError> {
        let mut seen = std::collections::HashSet::new();
        for (i, slot) in self.slots.iter().enumerate() {
            let set = match slot {
                Slot::State { entries, .. } => entries.concat(),
                Slot::Parameter { entry } => vec![*entry],
                Slot::Wrench { .. } => Vec::new(),
            };
            for entry in set {
                if !seen.insert(entry) {
                    let path = S::entries(&self.layout)[entry].path.clone();
                    return Err(LearnError::SetTwice { place: format!("input {i}"), path });
                }
            }
        }
        Ok(())
    }

    /// A rotation in the flat order is an increment, whose value is always zero: it cannot be set.
    fn refuse_increments(&self, inputs: &[Input]) -> Result<(), LearnError> {
        let before = S::values(&self.layout, &self.base);
        for (i, slot) in self.slots.iter().enumerate() {
            let Slot::Parameter { entry } = slot else { continue };
            let mut moved = self.base.clone();
            S::add(&self.layout, &mut moved, *entry, 0.125);
            if S::values(&self.layout, &moved)[*entry].to_bits() == before[*entry].to_bits() {
                let Input::Parameter { path } = &inputs[i] else { continue };
                return Err(LearnError::Unsuitable {
                    place: format!("input {i}"),
                    name: path.clone(),
                    why: "is an increment of a rotation or placement: use the state of the body",
                });
            }
        }
        Ok(())
    }

    pub(super) fn layout(&self) -> &S::Layout {
        &self.layout
    }

    pub(super) fn base(&self) -> &S::Parameters<f64> {
        &self.base
    }

    /// The parameters of a row.
    pub(super) fn apply(
        &self,
        simulator: &S,
        (row, numbers): (usize, &[f64]),
    ) -> Result<S::Parameters<f64>, LearnError> {
        if let Some(c) = numbers.iter().position(|x| !x.is_finite()) {
            let (entry, found) = (self.names[c].clone(), numbers[c]);
            return Err(LearnError::NotFinite { row, entry, found });
        }
        let mut out = self.base.clone();
        let mut at = numbers;
        let mut wanted = Vec::new();
        for slot in &self.slots {
            match slot {
                Slot::State { body, .. } => {
                    let (state, rest) = at.split_at(super::spec::STATE);
                    set_state::<S>(simulator, &mut out, *body, (row, state))?;
                    at = rest;
                }
                Slot::Wrench { dynamic, steps, .. } => {
                    let (wrench, rest) = at.split_at(WRENCH);
                    for step in steps.clone() {
                        let all = &mut S::of_scene_mut(&mut out).wrenches;
                        let w = &mut all[step * self.dynamic + dynamic];
                        w.force += Vector3::from_column_slice(&wrench[..3]);
                        w.torque += Vector3::from_column_slice(&wrench[3..]);
                    }
                    at = rest;
                }
                Slot::Parameter { entry } => {
                    wanted.push((*entry, at[0]));
                    at = &at[1..];
                }
            }
        }
        self.set(&mut out, &wanted);
        if !wanted.is_empty() {
            let checked = S::of_scene(&out).validate(simulator.scene());
            checked.map_err(|e| LearnError::Run { row, source: e.into() })?;
        }
        Ok(out)
    }

    fn set(&self, parameters: &mut S::Parameters<f64>, wanted: &[(usize, f64)]) {
        // x + (y − x) is y but for rounding of the larger one; a second time it is y.
        for _ in 0..2 * usize::from(!wanted.is_empty()) {
            let now = S::values(&self.layout, parameters);
            for &(entry, x) in wanted {
                let rest = x - now[entry];
                if rest.abs() > 0.0 {
                    S::add(&self.layout, parameters, entry, rest);
                }
            }
        }
    }

    /// The derivative by every column, from that by every parameter.
    pub(super) fn pull(&self, parameters: &S::Parameters<f64>, gradient: &[f64]) -> Vec<f64> {
        let vector = |e: &[usize; 3]| Vector3::from_fn(|k, _| gradient[e[k]]);
        let mut out = Vec::with_capacity(self.names.len());
        for slot in &self.slots {
            match slot {
                Slot::State { body, entries } => {
                    let [position, turn, velocity, rate] = entries.each_ref().map(vector);
                    let rotation = &S::of_scene(parameters).bodies[*body].rotation;
                    // ⟨R̄, [δ]× R⟩ = g·δ for every turn δ, and nothing along what is no turn.
                    let bar = (so3::skew(&turn) * rotation).map(|x| 0.5 * x);
                    out.extend(position.iter());
                    out.extend(bar.transpose().iter());
                    out.extend(velocity.iter());
                    out.extend(rate.iter());
                }
                Slot::Wrench { entries, .. } => {
                    let of = |k: usize| entries.iter().map(|e| gradient[e[k]]).sum::<f64>();
                    out.extend((0..WRENCH).map(of));
                }
                Slot::Parameter { entry } => out.push(gradient[*entry]),
            }
        }
        out
    }
}

/// Whether an input needs applied wrenches in the layout.
fn acts(input: &Input) -> bool {
    match input {
        Input::Wrench { .. } => true,
        Input::Parameter { path } => path.contains(".wrench."),
        Input::State { .. } => false,
    }
}

/// Sets the initial state of a body, and its rotation where it is one.
fn set_state<S: ContactModel>(
    simulator: &S,
    parameters: &mut S::Parameters<f64>,
    body: usize,
    (row, numbers): (usize, &[f64]),
) -> Result<(), LearnError> {
    let rotation = Matrix3::from_row_slice(&numbers[3..12]);
    let error = (rotation.transpose() * rotation - Matrix3::identity()).amax();
    if error > ROTATION_ERROR || rotation.determinant() < 0.0 {
        let body = simulator.scene().bodies[body].name.clone();
        return Err(LearnError::NotARotation { row, body, error, allowed: ROTATION_ERROR });
    }
    let p = &mut S::of_scene_mut(parameters).bodies[body];
    p.position = Vector3::from_column_slice(&numbers[..3]);
    p.rotation = rotation;
    p.velocity = Vector3::from_column_slice(&numbers[12..15]);
    p.angular_velocity = Vector3::from_column_slice(&numbers[15..18]);
    Ok(())
}

/// Finds bodies and parameters by name.
struct Finder<'a, S: ContactModel> {
    simulator: &'a S,
    entries: Vec<osculate_fit::contact_model::Entry>,
    dynamic: &'a [usize],
}

impl<S: ContactModel> Finder<'_, S> {
    fn slot(
        &self,
        place: &str,
        input: &Input,
        names: &mut Vec<String>,
    ) -> Result<Slot, LearnError> {
        match input {
            Input::State { body } => {
                let index = body_index(self.simulator.scene(), Named { place, name: body })?;
                let vectors = ["position", "rotation", "velocity", "angular_velocity"];
                let why = "has no initial state of its own: it is static, moved or a link";
                let find = |what: &str| self.axes(Named { place, name: body }, what, why);
                let mut entries = [[0; 3]; 4];
                for (e, what) in entries.iter_mut().zip(vectors) {
                    *e = find(what)?;
                }
                for (what, count) in vectors.iter().zip([3, 9, 3, 3]) {
                    names.extend((0..count).map(|k| format!("{body}.{what}[{k}]")));
                }
                Ok(Slot::State { body: index, entries })
            }
            Input::Wrench { body, steps } => self.wrench(Named { place, name: body }, steps, names),
            Input::Parameter { path } => {
                let found = index_of(&self.entries, path);
                let entry = found.ok_or_else(|| LearnError::UnknownParameter {
                    place: place.into(),
                    path: path.clone(),
                })?;
                names.push(path.clone());
                Ok(Slot::Parameter { entry })
            }
        }
    }

    fn wrench(
        &self,
        named: Named<'_>,
        steps: &Range<usize>,
        names: &mut Vec<String>,
    ) -> Result<Slot, LearnError> {
        let (place, body) = (named.place, named.name);
        let index = body_index(self.simulator.scene(), named)?;
        let unsuitable =
            |why| LearnError::Unsuitable { place: place.into(), name: body.into(), why };
        let dynamic = self.dynamic.iter().position(|&d| d == index);
        let dynamic = dynamic.ok_or_else(|| unsuitable("is static: no force moves it"))?;
        let all = self.simulator.steps();
        if steps.is_empty() || steps.end > all {
            return Err(LearnError::Step {
                place: place.into(),
                found: steps.end,
                allowed: format!("at least one of the steps 0 to {}", all - 1),
            });
        }
        let mut entries = Vec::new();
        for step in steps.clone() {
            let of = |what: &str| {
                let path = format!("wrench.{step}.{what}");
                self.axes(named, &path, "takes no applied wrench under this model")
            };
            let (force, torque) = (of("force")?, of("torque")?);
            entries.push([force[0], force[1], force[2], torque[0], torque[1], torque[2]]);
        }
        let each = ["force", "torque"].iter().flat_map(|w| (0..3).map(move |k| (w, k)));
        names.extend(each.map(|(what, k)| format!("{body}.wrench.{what}[{k}]")));
        Ok(Slot::Wrench { dynamic, steps: steps.clone(), entries })
    }

    /// Places of the three axes of a vector of a body.
    fn axes(
        &self,
        named: Named<'_>,
        what: &str,
        why: &'static str,
    ) -> Result<[usize; 3], LearnError> {
        let mut out = [0; 3];
        for (e, axis) in out.iter_mut().zip(["x", "y", "z"]) {
            let path = format!("{}.{what}_{axis}", named.name);
            *e = index_of(&self.entries, &path).ok_or_else(|| LearnError::Unsuitable {
                place: named.place.into(),
                name: named.name.into(),
                why,
            })?;
        }
        Ok(out)
    }
}
