//! Fits, evaluations, certificates and restitution: the library's reports as JSON text.

use crate::error::Failure;
use crate::interrupt;
use osculate_contact::{ContactParams, DissipationSchedule, RestitutionLaw};
use osculate_dynamics::Method;
use osculate_dynamics::file::{FileError, SceneFile};
use osculate_fit::certificate::{self, Settings};
use osculate_fit::experiment::{Experiment, PartName};
use osculate_fit::impact::Impact;
use osculate_fit::problem::{Problem, Toss};
use osculate_fit::recording::Dataset;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// More than any machine has; so many that cannot be started must be refused before.
const MOST_THREADS: usize = 1024;

/// A pool of the threads asked for; all cores by default.
pub(crate) fn threads(count: Option<usize>) -> PyResult<rayon::ThreadPool> {
    let allowed = 1..=MOST_THREADS;
    if let Some(found) = count.filter(|n| !allowed.contains(n)) {
        let text = format!("threads is {found}, allowed: 1 to {MOST_THREADS}");
        return Err(PyValueError::new_err(text));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(count.unwrap_or(0))
        .build()
        .map_err(|e| PyValueError::new_err(format!("threads: {e}")))
}

/// How many starts: none is no search.
pub(crate) fn starts(count: usize) -> PyResult<usize> {
    match count {
        0 => Err(PyValueError::new_err("starts is 0, allowed: 1 and more")),
        n => Ok(n),
    }
}

pub(crate) fn text(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|e| Failure::Fit(e.to_string()))
}

/// An experiment with the recordings to fit.
fn open(experiment: &Path, data: Option<&Path>) -> Result<(Experiment, Vec<Toss>, f64), Failure> {
    let experiment = Experiment::read(experiment)?;
    let data = Dataset::open(experiment.data_folder(data))?;
    let tosses = experiment.tosses_to_fit(&data)?;
    Ok((experiment, tosses, data.metadata().cube.half_side_m))
}

/// Numbers of the recordings that a fit takes.
#[pyfunction]
#[pyo3(signature = (experiment, data=None))]
pub(crate) fn recordings(
    py: Python<'_>,
    experiment: PathBuf,
    data: Option<PathBuf>,
) -> PyResult<Vec<u64>> {
    let found = py.detach(|| open(&experiment, data.as_deref()));
    Ok(found?.1.iter().map(|toss| u64::from(toss.id)).collect())
}

/// Fits an experiment, or some of its recordings, each as often as it is named. The report of a fit that a signal ended says
/// `interrupted`.
#[pyfunction]
#[pyo3(signature = (experiment, data=None, threads=None, tosses=None, starts=None, profiles=true))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit(
    py: Python<'_>,
    experiment: PathBuf,
    data: Option<PathBuf>,
    threads: Option<usize>,
    tosses: Option<Vec<u64>>,
    starts: Option<usize>,
    profiles: bool,
) -> PyResult<String> {
    let pool = self::threads(threads)?;
    let starts = starts.map(self::starts).transpose()?;
    let done = interrupt::run(py, |flag| {
        let (mut experiment, all, half_side) = open(&experiment, data.as_deref())?;
        let chosen = match tosses {
            None => all,
            Some(ids) => chosen(&all, &ids)?,
        };
        if let Some(starts) = starts {
            experiment.file.multistart.starts = starts;
        }
        if !profiles {
            experiment.file.profile.points = 0;
            experiment.file.trust.tosses = 0;
        }
        let (report, _) = pool.install(|| {
            osculate_fit::report::run(&experiment, chosen, half_side, &flag, &|_| {}, &|_| {})
        })?;
        text(&report)
    });
    done.or_best()
}

/// The recordings of these numbers.
fn chosen(all: &[Toss], ids: &[u64]) -> Result<Vec<Toss>, Failure> {
    let find = |id: &u64| {
        all.iter().find(|toss| u64::from(toss.id) == *id).cloned().ok_or_else(|| {
            let known: Vec<String> = all.iter().map(|toss| toss.id.to_string()).collect();
            Failure::Recording(format!("no recording {id} to fit; there are: {}", known.join(", ")))
        })
    };
    ids.iter().map(find).collect()
}

/// Errors of fixed parameters on recordings. Of a report, what the fit kept stays as the scene has it.
#[pyfunction]
#[pyo3(signature = (experiment, values, data=None, part="all", threads=None, report=false))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn evaluate(
    py: Python<'_>,
    experiment: PathBuf,
    mut values: BTreeMap<String, f64>,
    data: Option<PathBuf>,
    part: &str,
    threads: Option<usize>,
    report: bool,
) -> PyResult<String> {
    let part = match part {
        "all" => PartName::All,
        "train" => PartName::Train,
        "valid" => PartName::Valid,
        "test" => PartName::Test,
        found => {
            let text = format!("part is '{found}', allowed: all, train, valid, test");
            return Err(PyValueError::new_err(text));
        }
    };
    let pool = self::threads(threads)?;
    let done = interrupt::run(py, |flag| {
        let experiment = Experiment::read(&experiment)?;
        let data = Dataset::open(experiment.data_folder(data.as_deref()))?;
        let tosses = experiment.tosses(&data, part.into())?;
        let half_side = data.metadata().cube.half_side_m;
        if report {
            let kept = |path: &String| {
                experiment.file.parameters.iter().any(|p| p.profile_only && p.path == *path)
            };
            values.retain(|path, _| !kept(path));
        }
        let problem = experiment.judged(tosses, half_side)?.interrupted_by(&flag);
        let shared = coordinates(&problem, &values)?;
        let own = problem.own_start();
        let (evaluation, unconverged) =
            pool.install(|| osculate_fit::report::evaluate(&problem, &shared, &own, half_side))?;
        let mut json =
            serde_json::to_value(&evaluation).map_err(|e| Failure::Fit(e.to_string()))?;
        json["unconverged_stages"] = json!(unconverged);
        text(&json)
    });
    Ok(done.or_signal()?)
}

/// Coordinates of the values given, each within its range.
fn coordinates(problem: &Problem, values: &BTreeMap<String, f64>) -> Result<Vec<f64>, Failure> {
    let known = || {
        let paths: Vec<&str> = problem.parameters().iter().map(|p| p.path.as_str()).collect();
        paths.join(", ")
    };
    if let Some(path) = values.keys().find(|k| problem.parameters().iter().all(|p| p.path != **k)) {
        let text = format!("values: '{path}' is not free in the experiment; free are: {}", known());
        return Err(Failure::Experiment(text));
    }
    let coordinate = |p: &osculate_fit::parameter::FreeParameter| {
        let [low, high] = p.range;
        match values.get(&p.path) {
            Some(&x) if x >= low && x <= high => Ok(p.to_coordinate(x)),
            Some(x) => Err(Failure::Experiment(format!(
                "values: {} is {x}, allowed: a number in [{low}, {high}]",
                p.path
            ))),
            None => Err(Failure::Experiment(format!(
                "values: '{}' is missing; needed are: {}",
                p.path,
                known()
            ))),
        }
    };
    problem.parameters().iter().map(coordinate).collect()
}

/// Which dissipative force has a potential.
#[pyfunction]
#[pyo3(signature = (scene, states, seed))]
pub(crate) fn verify(py: Python<'_>, scene: PathBuf, states: usize, seed: u64) -> PyResult<String> {
    let done = interrupt::run(py, |flag| {
        let scene = SceneFile::load(&scene)?;
        scene.require_compliant("certificates of impulses")?;
        let settings = Settings { states, seed };
        let of = (&scene.simulator, &scene.parameters);
        let found = certificate::certify(of.0, of.1, settings, &flag)?;
        let mut json = serde_json::to_value(&found).map_err(|e| Failure::Fit(e.to_string()))?;
        json["agrees"] = found.agrees().into();
        text(&json)
    });
    Ok(done.or_signal()?)
}

/// An impact, for its restitution.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ImpactGiven {
    speed: f64,
    mass: f64,
    area: f64,
    k: f64,
    epsilon: f64,
    delta: f64,
    method: String,
    schedule: String,
}

/// Method and schedule by the names that scene files have for them.
fn names(method: &str, schedule: &str) -> Result<(Method, DissipationSchedule), FileError> {
    let text = format!("[solver]\nmethod = {method:?}\nschedule = {schedule:?}\n");
    let solver = SceneFile::parse(&text, "restitution")?.solver;
    Ok((solver.method, solver.schedule.unwrap_or_default()))
}

/// Damping of a restitution, and what an integrator makes of it.
#[pyfunction]
pub(crate) fn restitution(
    py: Python<'_>,
    e: f64,
    impact: ImpactGiven,
    dt: f64,
    phases: usize,
) -> PyResult<String> {
    let (method, schedule) = names(&impact.method, &impact.schedule).map_err(Failure::from)?;
    let done = interrupt::run(py, |flag| {
        let laws = [RestitutionLaw::Exact, RestitutionLaw::Rational];
        let wrong = |e: osculate_contact::ContactError| Failure::Scene(e.to_string());
        laws[0].damping(e, impact.speed).map_err(wrong)?;
        let u = laws.map(|law| law.damping_number(e));
        let [exact, rational] = u.map(|u| u.map_err(wrong));
        let (exact, rational) = (exact? / impact.speed, rational? / impact.speed);
        let contact = ContactParams {
            stiffness: impact.k,
            smoothing: impact.epsilon,
            threshold: impact.delta,
            friction: 0.0,
            damping: exact,
            ..ContactParams::default()
        };
        let (mass, area, speed) = (impact.mass, impact.area, impact.speed);
        let impact = Impact { mass, area, speed, contact, method, schedule };
        let band = impact.band(dt, phases, &flag)?;
        text(&json!({ "c_n": exact, "c_n_rational": rational, "e": [band.low, band.high] }))
    });
    Ok(done.or_signal()?)
}
