//! The cross-check: reference cases of another implementation against this one.

mod articulated;
pub mod case;
pub mod compare;
mod contacts;
pub mod convert;
pub mod export;
mod free;
mod gradients;
mod grids;
pub mod report;
mod steel;
mod trajectories;

use crate::{CliError, files};
use case::{Case, Meshes, read};
use convert::{Converted, Prepared, convert};
use osculate_dynamics::Trajectory;
use rayon::prelude::*;
use report::{CaseReport, FamilyReport, Verdict};
use std::path::{Path, PathBuf};

/// Largest relative deviation of mass, centre of mass and inertia from those of the reference.
pub const PROPERTIES_TOLERANCE: f64 = 1e-12;

/// A family folder and its cases.
#[derive(Clone, Debug)]
pub struct Family {
    /// Name of the folder.
    pub folder: String,
    /// The folder.
    pub path: PathBuf,
    /// Files of the cases, sorted.
    pub cases: Vec<PathBuf>,
}

/// Family folders (`f1…` to `f9…`) in a folder, or the folder itself where it is one; and the recordings of the impulse model in it.
///
/// # Errors
/// Where a folder cannot be read or there are none.
pub fn families(path: &Path) -> Result<Vec<Family>, CliError> {
    let mut found = Vec::new();
    let inside = files::list(path)?;
    for folder in std::iter::once(path).chain(inside.iter().map(PathBuf::as_path)) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_family = matches!(name.as_bytes(), [b'f', b'1'..=b'9', rest @ ..]
            if rest.first().is_none_or(|c| !c.is_ascii_digit()));
        if is_family && folder.is_dir() {
            let mut cases = files::list(folder)?;
            cases.retain(|p| {
                let name = p.file_name().unwrap_or_default().to_string_lossy();
                let json = p.extension().is_some_and(|e| e == "json" || e == "jsonl");
                json && !name.starts_with('_')
            });
            found.push(Family { folder: name, path: folder.into(), cases });
        }
    }
    found.extend(steel::families(path)?);
    if found.iter().all(|f| f.cases.is_empty()) {
        return Err(CliError::NoFamilies { path: path.into() });
    }
    Ok(found)
}

impl Family {
    /// Short name, `f1`; of a recording of the impulse model its letter, `i`.
    pub fn short(&self) -> &str {
        report::short(&self.folder)
    }

    /// Whether a filter (`f1`, `f1_contact_law`) names it.
    pub fn is_named(&self, filter: &str) -> bool {
        self.folder == filter || self.short() == filter
    }

    /// The meshes its cases refer to: its own and, as a family may refer to those of another, its neighbours'.
    ///
    /// # Errors
    /// Where a file cannot be read; none is fine.
    pub fn meshes(&self) -> Result<Meshes, CliError> {
        let mut meshes = Meshes::default();
        let parent = self.path.join("..");
        for folder in std::iter::once(self.path.clone()).chain(files::list(&parent)?) {
            let path = folder.join("_meshes.json");
            if path.exists() {
                for (key, mesh) in read::<Meshes>(&path)?.meshes {
                    meshes.meshes.entry(key).or_insert(mesh);
                }
            }
        }
        Ok(meshes)
    }

    /// Runs every case, in parallel; `done` is called after each.
    ///
    /// # Errors
    /// Where the meshes cannot be read.
    pub fn check(&self, done: impl Fn() + Sync) -> Result<FamilyReport, CliError> {
        let meshes = self.meshes()?;
        let run = |path: &PathBuf| {
            let report = self.check_case(path, &meshes);
            done();
            report
        };
        let reports = match self.short() {
            "i" => self.check_solves(&done, |path, _| steel::block::check(path)),
            "a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" => {
                self.check_solves(&done, steel::motion::check)
            }
            _ => self.cases.par_iter().map(run).collect(),
        };
        let (measure, tolerance) = match self.short() {
            "f1" => (contacts::MEASURE, contacts::TOLERANCE),
            "f2" => (trajectories::MEASURE, trajectories::TOLERANCE),
            "f3" => (grids::MEASURE, grids::TOLERANCE),
            "f4" => (free::MEASURE, free::TOLERANCE),
            "f7" => (articulated::MEASURE, articulated::TOLERANCE),
            "f8" => (gradients::MEASURE, gradients::TOLERANCE),
            "i" => (steel::block::MEASURE, steel::block::TOLERANCE),
            "a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" => {
                (steel::motion::MEASURE, steel::motion::TOLERANCE)
            }
            _ => ("not run", 0.0),
        };
        let mut report = FamilyReport::new(&self.folder, measure, tolerance, reports);
        if self.short() == "f2" {
            report.span = trajectories::span(report.reports());
        }
        Ok(report)
    }

    /// Reports of a family whose files hold many cases.
    fn check_solves(
        &self,
        done: impl Fn(),
        check: impl Fn(&Path, &str) -> Result<Vec<CaseReport>, CliError>,
    ) -> Vec<CaseReport> {
        let mut reports = Vec::new();
        for path in &self.cases {
            reports.extend(check(path, self.short()).unwrap_or_else(|error| {
                let verdict = Verdict::Unreadable(error.to_string());
                vec![CaseReport::without_run(&self.folder, verdict)]
            }));
            done();
        }
        reports
    }

    fn check_case(&self, path: &Path, meshes: &Meshes) -> CaseReport {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let outcome = match self.short() {
            "f1" => judge(path, meshes, contacts::load, |r| &r.case, contacts::judge),
            "f2" => judge(path, meshes, trajectories::load, |r| &r.case, trajectories::judge),
            "f3" => grids::check(path),
            "f4" => judge(path, meshes, free::load, |r| &r.case, free::judge),
            "f7" => articulated::check(path, meshes),
            "f8" => judge(path, meshes, gradients::load, |r| &r.case, gradients::judge),
            family => {
                let verdict = Verdict::Unsupported(missing(family).into());
                Ok(CaseReport::without_run(&name, verdict))
            }
        };
        outcome.unwrap_or_else(|error| {
            let verdict = match error {
                CliError::Run(_) => Verdict::Disagrees(format!("the roll-out failed: {error}")),
                _ => Verdict::Unreadable(error.to_string()),
            };
            CaseReport::without_run(&name, verdict)
        })
    }
}

/// Why a family is not run.
fn missing(family: &str) -> &'static str {
    match family {
        "f5" => "deformable solids are not built yet",
        "f6" => "rods and shells are not built yet",
        "f9" => "timings are measured by the benchmarks, not compared",
        _ => "the family is not known",
    }
}

fn judge<R>(
    path: &Path,
    meshes: &Meshes,
    load: impl Fn(&Path) -> Result<R, CliError>,
    case: impl Fn(&R) -> &Case,
    judge: impl Fn(&R, &Prepared) -> Result<CaseReport, CliError>,
) -> Result<CaseReport, CliError> {
    let record = load(path)?;
    match convert(case(&record), meshes)? {
        Converted::Ready(scene) => judge(&record, &Prepared::new(&scene)?),
        Converted::Unsupported(reason) => {
            Ok(CaseReport::without_run(&case(&record).name, Verdict::Unsupported(reason)))
        }
    }
}

/// A remark where stages did not converge: they are counted aloud.
fn unconverged_note(trajectory: &Trajectory) -> Vec<String> {
    let worst = trajectory
        .stats
        .iter()
        .filter(|s| !s.converged)
        .max_by(|a, b| (a.residual / a.tolerance).total_cmp(&(b.residual / b.tolerance)));
    worst.map_or_else(Vec::new, |s| {
        let (n, all) = (trajectory.unconverged(), trajectory.stats.len());
        let (residual, tolerance) = (s.residual, s.tolerance);
        vec![format!(
            "{n} of {all} stages not converged, worst residual {residual:.1e} N > {tolerance:.1e} N"
        )]
    })
}
