//! From a file to a design. Every error names file, line, field, value and what is allowed.

use super::channel::Measured;
use super::file::{CandidateFile, ChannelFile, DesignFile, GridFile, SettingFile};
use super::present;
use super::{Candidate, Design, DesignError, Known, Setting};
use crate::contact_model::{ContactModel, Entry, index_of};
use crate::experiment::{ExperimentError, Refuse};
use crate::nuisance;
use crate::parameter::{FreeParameter, resolve};
use crate::trust::MOST_GRIDS;
use osculate_dynamics::file::{BuiltScene, SceneFile, Source};
use osculate_dynamics::{OnFailure, Scene};
use std::path::{Path, PathBuf};

/// The most candidates, and the most values of one setting.
const MOST: usize = 10_000;

/// The text that a file was read from, and what there is to refer to.
pub(super) struct Check<'a> {
    pub(super) file: &'a DesignFile,
    pub(super) source: Source,
}

impl Refuse for Check<'_> {
    fn source(&self) -> &Source {
        &self.source
    }
}

impl Check<'_> {
    /// All that can be said without a scene.
    fn values(&self) -> Result<(), ExperimentError> {
        let file = self.file;
        for (i, p) in file.parameters.iter().enumerate() {
            if let Some(prior) = p.prior {
                self.positive(&format!("parameter[{i}].prior"), prior)?;
            }
        }
        for (i, path) in file.target.iter().enumerate() {
            let known = file.parameters.iter().any(|p| p.path == *path);
            if !known || file.target[..i].contains(path) {
                let allowed = "paths of [[parameter]], each once";
                return self.refuse(&format!("target[{i}]"), format!("'{path}'"), allowed);
            }
        }
        if file.channels.is_empty() {
            return self.refuse("channel", "none", "at least one [[channel]]");
        }
        if file.candidates.is_empty() {
            return self.refuse("candidate", "none", "at least one [[candidate]]");
        }
        for (i, c) in file.candidates.iter().enumerate() {
            if file.candidates[..i].iter().any(|other| other.name == c.name) {
                let found = format!("'{}'", c.name);
                return self.refuse(&format!("candidate[{i}].name"), found, "a name of its own");
            }
        }
        self.count("experiments", file.experiments, 1..=1000)?;
        self.count("ascent.steps", file.ascent.steps, 0..=1000)?;
        self.count("trust.grids", file.trust.grids, 1..=MOST_GRIDS)?;
        self.count("trust.candidates", file.trust.candidates, 0..=1000)
    }

    /// The parameters as those of a fit.
    fn free(&self, entries: &[Entry]) -> Result<Vec<FreeParameter>, ExperimentError> {
        let free = |p: &super::file::ParameterFile| FreeParameter::new(&p.path, p.scale, p.range);
        let all: Vec<FreeParameter> = self.file.parameters.iter().map(free).collect();
        resolve(entries, &all).map_err(|source| {
            let listed = |path: &str| all.iter().rposition(|p| p.path == path);
            self.parameter("parameter", source, |path| (listed(path).unwrap_or(0), None))
        })?;
        Ok(all)
    }

    pub(super) fn nuisances(
        &self,
        entries: &[Entry],
        taken: &[usize],
    ) -> Result<Vec<(usize, f64)>, ExperimentError> {
        nuisance::places(entries, &self.file.nuisances, taken).map_err(|(i, source)| {
            let place = self.source.place(&format!("nuisance[{i}]"));
            ExperimentError::Nuisance { place, source }
        })
    }

    pub(super) fn channels(
        &self,
        scene: &Scene,
        steps: usize,
    ) -> Result<Vec<Measured>, ExperimentError> {
        let channel = |(i, c): (usize, &ChannelFile)| {
            let field = |name: &str| format!("channel[{i}].{name}");
            let body = scene.bodies.iter().position(|b| b.name == c.actor && b.is_dynamic());
            let Some(body) = body else {
                return self.refuse(&field("actor"), format!("'{}'", c.actor), "a dynamic actor");
            };
            let sigma = match (c.sigma, c.sigma_deg) {
                (Some(sigma), None) => sigma,
                (None, Some(degrees)) if c.kind.is_angle() => degrees.to_radians(),
                (None, Some(_)) => {
                    let allowed = "only of rotation and angular-velocity";
                    return self.refuse(&field("sigma_deg"), "sigma_deg", allowed);
                }
                _ => {
                    return self.refuse(&field("sigma"), "both or none", "one of sigma, sigma_deg");
                }
            };
            self.positive(&field("sigma"), sigma)?;
            self.count(&field("every"), c.every, 1..=steps)?;
            Ok(Measured { body, kind: c.kind, sigma, every: c.every })
        };
        self.file.channels.iter().enumerate().map(channel).collect()
    }

    /// Every combination of the values of a candidate's settings.
    fn candidates(
        &self,
        (group, file, experiment): (usize, &CandidateFile, usize),
        entries: &[Entry],
    ) -> Result<Vec<Candidate>, ExperimentError> {
        let mut all = vec![Vec::new()];
        for (path, setting) in &file.settings {
            // TOML quotes a key with dots; the line is that of the table.
            let field = format!("candidate[{group}].settings");
            let Some(index) = index_of(entries, path) else {
                let allowed = "paths of the scene (`osculate parameters`)";
                return self.refuse(&field, format!("'{path}'"), allowed);
            };
            if self.file.parameters.iter().any(|p| p.path == *path) {
                let allowed =
                    "numbers that are no [[parameter]]: those have one value in all experiments";
                return self.refuse(&field, format!("'{path}'"), allowed);
            }
            let (values, range) = self.setting(&format!("{field}.{path}"), setting)?;
            let with = |before: &Vec<Setting>| -> Vec<Vec<Setting>> {
                let one = |value: &f64| {
                    let (path, unit) = (path.clone(), entries[index].unit);
                    let mut all = before.clone();
                    all.push(Setting { path, unit, index, value: *value, range });
                    all
                };
                values.iter().map(one).collect()
            };
            if all.len() * values.len() > MOST {
                let found = format!("{} combinations", all.len() * values.len());
                return self.refuse(&field, found, format!("at most {MOST}"));
            }
            all = all.iter().flat_map(with).collect();
        }
        let name = &file.name;
        let one = |settings| Candidate { group, name: name.clone(), experiment, settings };
        Ok(all.into_iter().map(one).collect())
    }

    /// Values, and of a grid its ends.
    fn setting(
        &self,
        field: &str,
        setting: &SettingFile,
    ) -> Result<(Vec<f64>, Option<[f64; 2]>), ExperimentError> {
        let (values, range) = match setting {
            SettingFile::Value(x) => (vec![*x], None),
            SettingFile::Values(all) => (all.clone(), None),
            SettingFile::Grid(GridFile { low, high, count }) => {
                self.count(field, *count, 2..=1000)?;
                if low.partial_cmp(high) != Some(std::cmp::Ordering::Less) {
                    return self.refuse(field, format!("low {low}, high {high}"), "low < high");
                }
                let part = |k: usize| low + (high - low) * k as f64 / (count - 1) as f64;
                ((0..*count).map(part).collect(), Some([*low, *high]))
            }
        };
        if values.is_empty() || values.len() > 1000 || !values.iter().all(|x| x.is_finite()) {
            return self.refuse(field, format!("{values:?}"), "1 to 1000 finite numbers");
        }
        Ok((values, range))
    }
}

/// Reads a design and its scenes.
///
/// # Errors
/// Where one of the files is wrong.
pub(super) fn load(path: &Path) -> Result<Design, DesignError> {
    let text = osculate_dynamics::file::read_text(path)
        .map_err(|source| ExperimentError::Read { file: path.to_owned(), source })?;
    let file = DesignFile::parse(&text, path)?;
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let check = Check { file: &file, source: Source::new(path, &text) };
    check.values()?;
    let mut scenes: Vec<(PathBuf, BuiltScene)> = Vec::new();
    let mut experiments_of = Vec::new();
    let all = file.candidates.iter().map(|c| c.scene.as_ref().unwrap_or(&file.scene));
    for scene in std::iter::once(&file.scene).chain(all) {
        let known = scenes.iter().position(|(known, _)| known == scene);
        let place = match known {
            Some(place) => place,
            None => {
                let built = SceneFile::load(folder.join(scene)).map_err(ExperimentError::from)?;
                scenes.push((scene.clone(), built));
                scenes.len() - 1
            }
        };
        experiments_of.push(place);
    }
    let numbers = numbers(&scenes[0].1);
    let free = check.free(&numbers.iter().map(|n| n.0.clone()).collect::<Vec<_>>())?;
    let report = file.present.as_ref().map(|p| present::read(&folder.join(&p.report), p.errors));
    let report = report.transpose()?;
    let known = known(&check, &free, &numbers, report.as_ref())?;
    let present = present::information(&file.parameters, &known, report.as_ref())?;
    let targets = match file.target.as_slice() {
        [] => (0..known.len()).collect(),
        some => some.iter().filter_map(|t| known.iter().position(|k| k.path == *t)).collect(),
    };
    let mut experiments = Vec::with_capacity(scenes.len());
    let mut entries = Vec::with_capacity(scenes.len());
    for (scene, built) in scenes {
        let numbers = self::numbers(&built);
        entries.push(numbers.into_iter().map(|n| n.0).collect::<Vec<Entry>>());
        check.free(&entries[entries.len() - 1])?;
        experiments.push(super::prepare(&check, (&scene, built), &known)?);
    }
    let mut candidates = Vec::new();
    for (group, (c, &place)) in file.candidates.iter().zip(&experiments_of[1..]).enumerate() {
        candidates.extend(check.candidates((group, c, place), &entries[place])?);
    }
    if candidates.len() > MOST {
        let found = format!("{} candidates", candidates.len());
        return Ok(check.refuse("candidate", found, format!("at most {MOST}"))?);
    }
    if !file.repeat && file.experiments > candidates.len() {
        let allowed = format!("at most {}, the candidates, with repeat = false", candidates.len());
        return Ok(check.refuse("experiments", file.experiments, allowed)?);
    }
    Ok(Design { path: path.to_owned(), file, known, present, targets, experiments, candidates })
}

/// The numbers of a scene under its model, with their values.
fn numbers(built: &BuiltScene) -> Vec<(Entry, f64)> {
    match &built.impulse {
        None => crate::problem::numbers(&built.simulator, built.parameters.clone()),
        Some(simulator) => crate::problem::numbers(simulator, built.parameters.clone()),
    }
}

/// The parameters at the values that are assumed.
fn known(
    check: &Check<'_>,
    free: &[FreeParameter],
    numbers: &[(Entry, f64)],
    report: Option<&present::Fitted>,
) -> Result<Vec<Known>, ExperimentError> {
    let one = |(i, p): (usize, &FreeParameter)| {
        let found = numbers.iter().find(|n| n.0.path == p.path);
        let (unit, in_scene) = found.map_or(("", f64::NAN), |(e, x)| (e.unit, *x));
        let fitted = report.and_then(|r| r.value(&p.path));
        let value = check.file.parameters[i].value.or(fitted).unwrap_or(in_scene);
        let [low, high] = p.range;
        if !(low..=high).contains(&value) {
            let allowed = format!("inside the range, {low} to {high}");
            return check.refuse(&format!("parameter[{i}].value"), value, allowed);
        }
        let slope = p.slope(p.to_coordinate(value));
        Ok(Known { path: p.path.clone(), unit, scale: p.scale, value, slope, range: p.range })
    };
    free.iter().enumerate().map(one).collect()
}

/// A scene whose failed solves are counted, not refused.
pub(super) fn tolerant<S: ContactModel>(
    file: &Path,
    simulator: &S,
    settings: S::Settings,
) -> Result<S, ExperimentError> {
    S::new(simulator.scene().clone(), settings, simulator.durations().to_vec())
        .map_err(|source| ExperimentError::Body { file: file.to_owned(), source })
}

/// Settings of the compliant model that go on where a stage fails.
pub(super) fn go_on(mut settings: osculate_dynamics::Settings) -> osculate_dynamics::Settings {
    settings.newton.on_failure = OnFailure::Continue;
    settings
}
