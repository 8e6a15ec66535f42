//! What must hold for the values of an experiment file. Every error names file, line, field, value and what is allowed.

use super::channel::{ChannelFile, Sigma};
use super::file::{ExperimentFile, InitialStateFile, Loss, StageFile, TrustFile};
use super::{ExperimentError, Refuse, prior};
use crate::contact_model::Entry;
use crate::fit::Algorithm;
use crate::nuisance;
use crate::parameter::resolve;
use crate::surface::least_points;
use crate::trust::MOST_GRIDS;
use crate::twin::{TwinError, TwinFile};
use osculate_dynamics::Scene;
use osculate_dynamics::file::Source;
use std::path::Path;

/// A file with the text that it was read from.
pub(super) struct Check<'a> {
    file: &'a ExperimentFile,
    source: Source,
}

impl Refuse for Check<'_> {
    fn source(&self) -> &Source {
        &self.source
    }
}

impl<'a> Check<'a> {
    pub(super) fn new(file: &'a ExperimentFile, source: Source) -> Self {
        Self { file, source }
    }

    /// All that can be said without the scene.
    pub(super) fn values(&self) -> Result<(), ExperimentError> {
        let file = self.file;
        if file.substeps == 0 || file.substeps > 100_000 {
            return self.refuse("substeps", file.substeps, "1 to 100000");
        }
        if let Loss::Noise { position_sigma: p, rotation_sigma_deg: r } = file.loss {
            self.positive("loss.position_sigma", p)?;
            self.positive("loss.rotation_sigma_deg", r)?;
        }
        self.initial_state()?;
        self.known_beforehand()?;
        self.estimated()?;
        for (i, stage) in file.stages.iter().enumerate() {
            self.stage(&format!("stage[{i}]"), stage)?;
        }
        let starts = file.multistart.starts;
        if starts == 0 || starts > 10_000 {
            return self.refuse("multistart.starts", starts, "1 to 10000");
        }
        let (resamples, iterations) = (file.bootstrap.resamples, file.bootstrap.iterations);
        if resamples > 100_000 || (1..20).contains(&resamples) {
            return self.refuse("bootstrap.resamples", resamples, "0 (none), or 20 to 100000");
        }
        if iterations == 0 {
            return self.refuse("bootstrap.iterations", iterations, ">= 1");
        }
        // A test over tosses needs two.
        self.count("profile.tosses", file.profile.tosses, 2..=1_000_000)?;
        self.trust()?;
        match file.twin.as_ref().map(TwinFile::check) {
            Some(Err(TwinError::Value { field, found, allowed })) => {
                self.refuse(&format!("twin.{field}"), found, allowed)
            }
            _ => Ok(()),
        }
    }

    /// Standard deviations are estimated by fits that end with derivatives, of sums and not of means.
    fn estimated(&self) -> Result<(), ExperimentError> {
        let word = |s: &Sigma| matches!(s, Sigma::Word(_));
        let file = self.file;
        let any = |c: &ChannelFile| word(&c.sigma) || c.rotation_sigma.as_ref().is_some_and(word);
        let Some(i) = file.channels.iter().position(any) else { return Ok(()) };
        let at = format!("channel[{i}].sigma");
        if file.loss == (Loss::Channels { per_frame_mean: true }) {
            let found = "\"estimated\" beside loss.per_frame_mean";
            return self.refuse(&at, found, "a number, or a loss that is a sum");
        }
        if file.robust.is_some() {
            let found = "\"estimated\" beside [robust]";
            return self.refuse(&at, found, "a number: wrong records would make the noise large");
        }
        let last = file.stages.last().map_or(Algorithm::LevenbergMarquardt, |s| s.algorithm);
        if last != Algorithm::LevenbergMarquardt {
            let found = "\"estimated\" beside another algorithm in the last stage";
            return self.refuse(&at, found, "a number, or levenberg-marquardt in the last stage");
        }
        Ok(())
    }

    /// Priors and thresholds are in units of the noise.
    fn known_beforehand(&self) -> Result<(), ExperimentError> {
        let file = self.file;
        let means = matches!(file.loss, Loss::Baseline | Loss::Channels { per_frame_mean: true });
        let allowed =
            "none, or loss.kind = \"noise\" or sums of channels: residuals in units of their noise";
        if let Some(i) = file.parameters.iter().position(|p| p.prior.is_some()).filter(|_| means) {
            let at = format!("parameter[{i}].prior");
            return self.refuse(&at, "a prior beside a loss of means", allowed);
        }
        let Some(robust) = file.robust else { return Ok(()) };
        if means {
            return self.refuse("robust", "a threshold beside a loss of means", allowed);
        }
        self.positive("robust.threshold", robust.threshold)
    }

    fn trust(&self) -> Result<(), ExperimentError> {
        let TrustFile { tosses, grids } = self.file.trust;
        if tosses > 1000 {
            return self.refuse("trust.tosses", tosses, "0 to 1000; 0 asks nothing");
        }
        if grids == 0 || grids > MOST_GRIDS {
            return self.refuse("trust.grids", grids, format!("1 to {MOST_GRIDS}"));
        }
        Ok(())
    }

    fn initial_state(&self) -> Result<(), ExperimentError> {
        let s = &self.file.initial_state;
        for (field, x) in s.sigmas() {
            if let Some(x) = x.filter(|x| !(x.is_finite() && *x > 0.0)) {
                return self.refuse(&field, x, "> 0, or absent to keep it fixed");
            }
        }
        if self.file.loss == Loss::Baseline && !self.file.nuisances.is_empty() {
            return self.refuse(
                "nuisance",
                "a prior beside loss.kind = \"baseline\"",
                "none, or loss.kind = \"noise\", whose residuals have the units of a prior",
            );
        }
        let segments = self.file.stages.iter().position(|s| s.shooting.is_some());
        if let Some(i) = segments.filter(|_| !self.file.nuisances.is_empty()) {
            let allowed = "none beside [[nuisance]]: segments of a toss would each have their own";
            return self.refuse(&format!("stage[{i}].shooting"), "shooting", allowed);
        }
        // A prior is weighed in units of noise; the baseline's residuals are in metres and radians.
        let means =
            matches!(self.file.loss, Loss::Baseline | Loss::Channels { per_frame_mean: true });
        if means && *s != InitialStateFile::default() {
            return self.refuse(
                "initial_state",
                "a prior beside a loss of means, such as loss.kind = \"baseline\"",
                "none, or loss.kind = \"noise\", whose residuals have the units of a prior",
            );
        }
        Ok(())
    }

    fn stage(&self, place: &str, stage: &StageFile) -> Result<(), ExperimentError> {
        let at = |field: &str| format!("{place}.{field}");
        if stage.frames.is_some() && stage.shooting.is_some() {
            return self.refuse(&at("shooting"), "frames and shooting", "one of them");
        }
        for (field, count) in [
            ("frames", stage.frames),
            ("shooting", stage.shooting),
            ("iterations", Some(stage.iterations)),
            ("rounds", stage.rounds),
        ] {
            if count == Some(0) {
                return self.refuse(&at(field), 0, ">= 1");
            }
        }
        let known = |path: &String| self.file.parameters.iter().any(|p| p.path == *path);
        if let Some(path) = stage.free.iter().find(|p| !known(p)) {
            return self.refuse(&at("free"), format!("'{path}'"), "paths of [[parameter]]");
        }
        let held =
            |path: &String| self.file.parameters.iter().any(|p| p.path == *path && p.profile_only);
        if let Some(path) = stage.free.iter().find(|p| held(p)) {
            let found = format!("'{path}', which has profile_only = true and never moves in a fit");
            return self.refuse(&at("free"), found, "paths of [[parameter]] without profile_only");
        }
        self.positive(&at("simplex"), stage.simplex)?;
        self.designs(&at, stage)
    }

    fn designs(
        &self,
        at: &impl Fn(&str) -> String,
        stage: &StageFile,
    ) -> Result<(), ExperimentError> {
        let surface = stage.algorithm == Algorithm::ResponseSurface;
        let given = [
            ("points", stage.points.is_some()),
            ("rounds", stage.rounds.is_some()),
            ("half_width", stage.half_width.is_some()),
            ("shrink", stage.shrink.is_some()),
            ("average", stage.average.is_some()),
        ];
        if let Some((field, _)) = given.iter().find(|(_, given)| *given && !surface) {
            return self.refuse(&at(field), field, "only beside algorithm = \"response-surface\"");
        }
        let d = stage.designs();
        self.positive(&at("half_width"), d.half_width)?;
        if !(d.shrink > 0.0 && d.shrink <= 1.0) {
            return self.refuse(&at("shrink"), d.shrink, "> 0, at most 1");
        }
        let moves = |path: &String| stage.free.is_empty() || stage.free.contains(path);
        let free = self.file.parameters.iter().filter(|p| !p.profile_only && moves(&p.path));
        let needed = least_points(free.count());
        if surface && !(needed..=100_000).contains(&d.points) {
            let allowed = format!("{needed} to 100000: one and a half points for each coefficient");
            return self.refuse(&at("points"), d.points, allowed);
        }
        Ok(())
    }

    /// The tracked body.
    pub(super) fn body(&self, scene: &Scene) -> Result<usize, ExperimentError> {
        scene.body(&self.file.body).or_else(|_| {
            let known: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
            let allowed = format!("an actor of the scene: {}", known.join(", "));
            self.refuse("body", format!("'{}'", self.file.body), allowed)
        })
    }

    /// The scene is there.
    pub(super) fn scene(&self, path: &Path) -> Result<(), ExperimentError> {
        if path.is_file() {
            return Ok(());
        }
        let found = format!("'{}', which is no file", path.display());
        self.refuse("scene", found, "a scene file, named relative to this file")
    }

    /// The tracked body, where it hangs on a link.
    pub(super) fn tracked(&self, parent: Option<&str>) -> Result<(), ExperimentError> {
        let Some(parent) = parent else { return Ok(()) };
        let found = format!("'{}', a link that hangs on '{parent}'", self.file.body);
        let allowed = "a body without joint, a link of the world, or one of whose joints up to the world each has a \
                       [[channel]] of kind \"joint-position\"";
        self.refuse("body", found, allowed)
    }

    /// What is uncertain of the start, where the scene is known.
    pub(super) fn prior(&self, scene: &Scene, body: usize) -> Result<(), ExperimentError> {
        match prior(&self.file.initial_state).check(scene, body) {
            Ok(()) => Ok(()),
            Err(e) => self.refuse(&e.field, e.found, e.allowed),
        }
    }

    /// Paths and standard deviations of the nuisance parameters.
    pub(super) fn nuisances(&self, entries: &[Entry]) -> Result<(), ExperimentError> {
        let free = |path: &str| self.file.parameters.iter().any(|p| p.path == path);
        let start = |path: &str| {
            let of_body = path.strip_prefix(&format!("{}.", self.file.body));
            let starts = ["position_", "rotation_", "velocity_", "angular_velocity_"];
            of_body.is_some_and(|rest| starts.iter().any(|s| rest.starts_with(s)))
        };
        let taken = entries.iter().enumerate().filter(|(_, e)| free(&e.path) || start(&e.path));
        let taken: Vec<usize> = taken.map(|(i, _)| i).collect();
        match nuisance::places(entries, &self.file.nuisances, &taken) {
            Ok(_) => Ok(()),
            Err((i, source)) => {
                let place = self.source.place(&format!("nuisance[{i}]"));
                Err(ExperimentError::Nuisance { place, source })
            }
        }
    }

    /// Paths, ranges and steps of the parameters.
    pub(super) fn parameters(&self, entries: &[Entry]) -> Result<(), ExperimentError> {
        let parameters = &self.file.parameters;
        let Err(source) = resolve(entries, parameters) else { return Ok(()) };
        Err(self.parameter("parameter", source, |path| {
            let listed = parameters.iter().rposition(|p| p.path == path);
            let also = || parameters.iter().rposition(|p| p.also.iter().any(|a| a == path));
            let found = listed.map(|i| (i, None)).or_else(|| Some((also()?, Some("also"))));
            found.unwrap_or((0, None))
        }))
    }
}
