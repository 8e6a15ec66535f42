//! `osculate verify`.

mod text;

use crate::{CliError, Report, files};
use osculate_dynamics::file::SceneFile;
use osculate_fit::certificate::{self, BROKEN, Certificate, EXACT, Settings, tables};
use osculate_plot::{Axis, ComparisonFigure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Measure whether friction and damping derive from a potential, as the contact page says.
///
/// For the rows of the page's table (explicit normals, implicit normal force) and eight variants of the law: is the
/// dissipative residual the gradient of Δt R? At stages along the scene's trajectory and at random ones, by dual
/// numbers, by differences and by the curl; with the dependency that breaks the potential, found by freezing one at a time.
///
/// docs/certificate.md explains the formulae.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Scene file (docs/scene.md)
    pub scene: PathBuf,
    /// Stages a pair, half of them random
    #[arg(long, value_name = "N", default_value_t = Settings::default().states)]
    pub states: usize,
    /// Seed of the random stages
    #[arg(long, value_name = "S", default_value_t = Settings::default().seed)]
    pub seed: u64,
    /// Write every row and variant as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the table of the scene's own variant as LaTeX
    #[arg(long, value_name = "FILE")]
    pub latex: Option<PathBuf>,
    /// Write the figure (certificate.png, certificate.svg) into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Exit code 1 where a row contradicts the page or the witnesses contradict each other.

Examples:
  osculate verify experiments/certificate/scene.toml
  osculate verify docs/examples/cube_toss.toml --states 200 --seed 7 --json
  osculate verify experiments/certificate/scene.toml --latex paper/certificate.tex --out figures";

/// Runs it.
///
/// # Errors
/// Where the scene is not valid, its roll-out fails, nothing touches, or a file cannot be written.
pub fn run(args: &Args) -> Result<Report, CliError> {
    let scene = SceneFile::read(&args.scene)?.build(args.scene.parent().unwrap_or("".as_ref()))?;
    // An impulse is a velocity jump on a cone: there is no rate of dissipation R that a residual could be the gradient of.
    scene.require_compliant("a certificate of impulses, which derive from no potential")?;
    let settings = Settings { states: args.states, seed: args.seed };
    let of = (&scene.simulator, &scene.parameters);
    let certificate = certificate::certify(of.0, of.1, settings, &Arc::default())?;
    if let Some(path) = &args.csv {
        files::write(path, tables::csv(&certificate).as_bytes())?;
    }
    if let Some(path) = &args.latex {
        files::write(path, tables::latex(&certificate).as_bytes())?;
    }
    if let Some(folder) = &args.out {
        figure(folder, &certificate)?;
    }
    let mut json = serde_json::to_value(&certificate).unwrap_or(Value::Null);
    json["agrees"] = certificate.agrees().into();
    let report = Report { text: text::render(&certificate), json, agrees: certificate.agrees() };
    Ok(report.with_warnings(&scene.warnings))
}

fn figure(folder: &Path, certificate: &Certificate) -> Result<(), CliError> {
    files::create_folder(folder)?;
    let mut cases: Vec<String> = Vec::new();
    let mut values: Vec<Vec<f64>> = Vec::new();
    let mut schedules: Vec<String> = Vec::new();
    for row in &certificate.rows {
        let name = text::variant(row);
        if cases.last() != Some(&name) {
            cases.push(name);
            values.push(Vec::new());
        }
        if !schedules.iter().any(|s| s == row.schedule) {
            schedules.push(row.schedule.into());
        }
        let worst = row.measured.defect.map_or(f64::NAN, |d| d.worst);
        if let Some(last) = values.last_mut() {
            // A defect of exactly zero stands at rounding.
            last.push(worst.max(f64::EPSILON * 0.01));
        }
    }
    let figure = ComparisonFigure {
        title: "Defect of the dissipative residual as a gradient of Δt R".into(),
        axis: Axis::log("largest ‖∇(Δt R) − ∂R/∂v‖ / ‖∂R/∂v‖", ""),
        variants: schedules,
        cases,
        values,
        marks: vec![(EXACT, "gradient below".into()), (BROKEN, "broken above".into())],
    };
    figure.save(&folder.join("certificate.png"))?;
    Ok(figure.save(&folder.join("certificate.svg"))?)
}
