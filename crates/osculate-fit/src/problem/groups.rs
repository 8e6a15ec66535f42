//! Parameters with a value of their own for each value of a label of the recordings: friction of each board.
//!
//! ```text
//! r_b(g) = r_b(g_c(b))          c(b): the parameters of all tosses, and those of the group that toss b is in
//! ```
//!
//! Tosses of one group are a problem of their own; its columns are some of the whole's. The others are zero.

use super::typed::{Tosses, Typed};
use super::{
    Along, Channel, Horizon, InitialState, Model, ModelSettings, Problem, ProblemError, RollOut,
    Stretch, Toss, Weights, under_its_model,
};
use crate::contact_model::ModelError;
use crate::least_squares::BlockResiduals;
use crate::nuisance::Nuisance;
use crate::parameter::{FreeParameter, ParameterPrior};
use nalgebra::DMatrix;
use osculate_dynamics::Simulator;
use osculate_dynamics::impulse::ImpulseSimulator;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Each parameter with a label (`per`) once for each value of it, in the order in which tosses have them.
pub fn per_group(parameters: &[FreeParameter], tosses: &[Toss]) -> Vec<FreeParameter> {
    let mut all = Vec::new();
    for p in parameters {
        let Some(label) = p.per.as_ref().filter(|_| p.group.is_none()) else {
            all.push(p.clone());
            continue;
        };
        let mut seen: Vec<String> = Vec::new();
        for value in tosses.iter().filter_map(|t| t.label(label)) {
            if !seen.contains(&value) {
                all.push(p.of_group(&value));
                seen.push(value);
            }
        }
    }
    all
}

/// Tosses of one group.
struct Part {
    tosses: Box<dyn Tosses>,
    /// Index in the whole of each of its free parameters.
    columns: Vec<usize>,
}

impl Part {
    fn shared(&self, all: &[f64]) -> Vec<f64> {
        self.columns.iter().map(|&i| all[i]).collect()
    }
}

/// The tosses of all groups, in their order.
struct Groups {
    parts: Vec<Part>,
    /// Part and place in it of each toss.
    places: Vec<(usize, usize)>,
    /// Units of the free parameters.
    units: Vec<&'static str>,
}

/// Sets up tosses whose parameters are not all those of the others.
pub(super) fn problem(
    model: &Model,
    tosses: Vec<Toss>,
    parameters: &[FreeParameter],
    weights: Weights,
    how: (Horizon, InitialState),
) -> Result<Problem, ProblemError> {
    for t in &tosses {
        let lacks = |p: &&FreeParameter| p.per.as_ref().is_some_and(|l| t.label(l).is_none());
        if let Some(p) = parameters.iter().find(lacks) {
            let label = p.per.clone().unwrap_or_default();
            return Err(ProblemError::Label { id: t.id, label, path: p.scene_path().to_owned() });
        }
    }
    let parameters = per_group(parameters, &tosses);
    // Which of the parameters a toss has decides which part it is of.
    let mut sorted: BTreeMap<Vec<usize>, Vec<(usize, Toss)>> = BTreeMap::new();
    for (b, t) in tosses.into_iter().enumerate() {
        let has = |p: &FreeParameter| match (&p.per, &p.group) {
            (Some(label), Some(group)) => t.label(label).as_ref() == Some(group),
            _ => true,
        };
        let own = (0..parameters.len()).filter(|&i| has(&parameters[i])).collect();
        sorted.entry(own).or_default().push((b, t));
    }
    let free: Vec<usize> = (0..parameters.len()).filter(|&i| !parameters[i].profile_only).collect();
    let (mut parts, mut places) = (Vec::new(), BTreeMap::new());
    // How many tosses have each parameter.
    let count = |i: usize| -> usize {
        sorted.iter().filter(|(own, _)| own.contains(&i)).map(|(_, t)| t.len()).sum()
    };
    let counts: Vec<usize> = (0..parameters.len()).map(count).collect();
    for (own, tosses) in sorted {
        let plain = |&i: &usize| {
            let path = parameters[i].scene_path().to_owned();
            // Each part takes its share of a prior: all together have it once.
            let share = (counts[i] as f64 / tosses.len() as f64).sqrt();
            let prior = parameters[i].prior.map(|p| ParameterPrior { sigma: p.sigma * share, ..p });
            FreeParameter { path, per: None, group: None, prior, ..parameters[i].clone() }
        };
        let named: Vec<FreeParameter> = own.iter().map(plain).collect();
        for (place, (b, _)) in tosses.iter().enumerate() {
            places.insert(*b, (parts.len(), place));
        }
        let tosses: Vec<Toss> = tosses.into_iter().map(|(_, t)| t).collect();
        let part = under_its_model!(model.clone(), stretch => {
            Typed::problem(stretch, tosses, &named, weights, how.clone())
        })?;
        let columns = (0..free.len()).filter(|k| own.contains(&free[*k])).collect();
        parts.push(Part { tosses: part.tosses, columns });
    }
    let numbers = model.numbers()?;
    let unit = |&i: &usize| {
        let path = parameters[i].scene_path();
        numbers.iter().find(|(e, _)| e.path == path).map_or("", |(e, _)| e.unit)
    };
    let units = free.iter().map(unit).collect();
    let places = places.into_values().collect();
    let free = free.iter().map(|&i| parameters[i].clone()).collect();
    let tosses = Box::new(Groups { parts, places, units });
    Ok(Problem { parameters: free, tosses, interrupt: Arc::default() })
}

impl Groups {
    /// The part of a toss, and its place there.
    fn of(&self, block: usize) -> (&Part, usize) {
        let (part, place) = self.places[block];
        (&self.parts[part], place)
    }
}

impl Tosses for Groups {
    fn blocks(&self) -> usize {
        self.places.len()
    }

    fn toss_id(&self, block: usize) -> u32 {
        let (part, place) = self.of(block);
        part.tosses.toss_id(place)
    }

    fn unit(&self, i: usize) -> &'static str {
        self.units[i]
    }

    fn scene_value(&self, path: &str) -> Option<f64> {
        self.parts[0].tosses.scene_value(path)
    }

    fn channels(&self) -> &[Channel] {
        self.parts[0].tosses.channels()
    }

    fn channel_units(&self) -> Vec<&'static str> {
        self.parts[0].tosses.channel_units()
    }

    fn own_start(&self) -> Vec<Vec<f64>> {
        let of_parts: Vec<_> = self.parts.iter().map(|p| p.tosses.own_start()).collect();
        self.places.iter().map(|&(part, place)| of_parts[part][place].clone()).collect()
    }

    fn add_own(&mut self, nuisances: &[Nuisance]) -> Result<(), ProblemError> {
        self.parts.iter_mut().try_for_each(|p| p.tosses.add_own(nuisances))
    }

    fn interrupt_by(&mut self, flag: &Arc<AtomicBool>) {
        self.parts.iter_mut().for_each(|p| p.tosses.interrupt_by(flag));
    }

    fn prior_rows(&self) -> usize {
        self.parts.iter().map(|p| p.tosses.prior_rows()).sum()
    }

    fn own_sigmas(&self) -> Vec<(String, f64)> {
        self.parts[0].tosses.own_sigmas()
    }

    fn residuals(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
        jacobian: bool,
    ) -> Result<BlockResiduals, ModelError> {
        let (part, place) = self.of(block);
        let found = part.tosses.residuals(place, &part.shared(shared), own, jacobian)?;
        let mut all = DMatrix::zeros(found.shared.nrows(), shared.len());
        for (k, &i) in part.columns.iter().enumerate() {
            all.set_column(i, &found.shared.column(k));
        }
        Ok(BlockResiduals { shared: all, ..found })
    }

    fn roll_out(&self, block: usize, shared: &[f64], own: &[f64]) -> Result<RollOut, ModelError> {
        let (part, place) = self.of(block);
        part.tosses.roll_out(place, &part.shared(shared), own)
    }

    fn along(
        &self,
        block: usize,
        shared: &[f64],
        own: &[f64],
    ) -> Result<Vec<Option<Along<'_>>>, ModelError> {
        let (part, place) = self.of(block);
        let mut all: Vec<Option<Along<'_>>> = shared.iter().map(|_| None).collect();
        let found = part.tosses.along(place, &part.shared(shared), own)?;
        for (&i, along) in part.columns.iter().zip(found) {
            all[i] = along;
        }
        Ok(all)
    }
}
