//! `osculate gradcheck`.

mod differences;
mod trust;

use crate::{CliError, Console, Report, table};
use differences::{Difference, derivative, scales};
use osculate_dynamics::file::{BuiltScene, SceneFile};
use osculate_dynamics::sensitivity::{adjoint, tangent};
use osculate_dynamics::{Layout, Trajectory};
use osculate_fit::trust::{GRIDS, MOST_GRIDS};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Compare adjoint, tangent and difference derivatives of a scene's outcome.
///
/// For every parameter of the scene: the derivative of its outcome by the adjoint, by the tangent, and by
/// Richardson-extrapolated central differences of roll-outs that are run again, with the error that the differences
/// estimate of themselves. Adjoint and tangent use one linearisation and agree to rounding. Differences see the
/// trajectory from outside; where a sample enters, leaves or is rejected within their step they are unreliable, which
/// is said and not judged, as at the edge of a parameter's range.
///
/// Stages are solved to 1e-13 here, whatever the scene's tolerance.
///
/// A derivative that agrees can still be of no use. --trust asks each whether it settles as the time step is halved, over
/// which steps differences agree with it, how near the active set is to switching, and how large the second-order
/// term is over one standard error. Its verdicts do not change the exit code.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Scene file (docs/scene.md)
    pub scene: PathBuf,
    /// Count samples within this distance (m) of the contact threshold
    #[arg(long, value_name = "M", default_value_t = 1e-6, value_parser = positive)]
    pub near_distance: f64,
    /// Count samples within this of the alignment at which contact is rejected
    #[arg(long, value_name = "S", default_value_t = 1e-6, value_parser = positive)]
    pub near_alignment: f64,
    /// Say of every derivative whether it is good for anything, with reasons (docs/trust.md)
    #[arg(long)]
    pub trust: bool,
    /// Relative standard error of the parameters, for --trust
    #[arg(long, value_name = "S", default_value_t = 0.01, value_parser = positive, requires = "trust")]
    pub sigma: f64,
    /// Ask --trust about this parameter only; may be given several times
    #[arg(long, value_name = "PATH", requires = "trust")]
    pub parameter: Vec<String>,
    /// Time grids of --trust, each with half the step of the one before
    #[arg(long, value_name = "N", default_value_t = GRIDS as u64, requires = "trust",
          value_parser = clap::value_parser!(u64).range(2..=MOST_GRIDS as u64))]
    pub grids: u64,
    /// Write the figure of --trust (settling.png, settling.svg) into this folder
    #[arg(long, value_name = "DIR", requires = "trust")]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  osculate gradcheck docs/examples/sliding_block.toml
  osculate gradcheck docs/examples/cube_toss.toml --json
  osculate gradcheck docs/examples/sliding_block.toml --near-distance 1e-5
  osculate gradcheck docs/examples/bouncing_point.toml --trust --sigma 0.01
  osculate gradcheck docs/examples/bouncing_point.toml --trust --parameter point.k --grids 9 --out /tmp/figure";

/// Newton tolerance: differences of roll-outs see what it leaves.
const NEWTON_TOLERANCE: f64 = 1e-13;
/// Adjoint and tangent may differ by this, relative to the scale of the gradient.
const EXACT: f64 = 1e-10;
/// Differences may be off by this relative to the derivative, beside their own error.
const RELATIVE: f64 = 1e-6;
/// What differences of roll-outs cannot see, relative to the scale of the gradient: rounding of the outcome over a step.
const UNSEEN: f64 = 1e-8;
/// Beyond this relative to the derivative, and to the scale of the gradient, an estimated error is no judge.
const UNRELIABLE: (f64, f64) = (1e-4, 1e-6);
/// Estimated errors are spreads: a deviation may be this many times as large.
const SPREADS: f64 = 3.0;
/// Parameters of one tangent pass.
const WIDTH: usize = 8;

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("allowed: a number > 0".into()),
    }
}

/// Runs it.
///
/// # Errors
/// Where the scene is not valid or its roll-out fails.
pub fn run(args: &Args, console: &Console) -> Result<Report, CliError> {
    let mut file = SceneFile::read(&args.scene)?;
    file.solver.tolerance = file.solver.tolerance.min(NEWTON_TOLERANCE);
    let scene = file.build(args.scene.parent().unwrap_or("".as_ref()))?;
    scene.require_compliant("gradients through impulses")?;
    let simulator = &scene.simulator;
    let trajectory = simulator.run(&scene.parameters)?;
    let layout = Layout::new(simulator.scene(), &scene.parameters);
    let (value, by_adjoint) =
        adjoint::gradient(simulator, &trajectory, &scene.parameters, &scene.outcome)?;
    let by_tangent = tangents(&scene, &trajectory, layout.len())?;
    let scales = scales(&scene, &layout);
    let by_difference = all_differences(&scene, &layout, &scales, console);
    let size = |i: usize| (by_tangent[i] * scales[i].unwrap_or(0.0)).abs();
    let largest = (0..layout.len()).map(size).fold(f64::MIN_POSITIVE, f64::max);
    let rows: Vec<Row> = (0..layout.len())
        .map(|i| Row {
            path: layout.entries()[i].path.clone(),
            unit: layout.entries()[i].unit,
            adjoint: by_adjoint[i],
            tangent: by_tangent[i],
            difference: by_difference[i],
            at_edge: scales[i].is_none(),
            floor: largest / scales[i].unwrap_or(1.0),
        })
        .collect();
    let near = simulator.near_switch(
        &trajectory,
        &scene.parameters,
        args.near_distance,
        args.near_alignment,
    )?;
    let report = report(args, value, &rows, near, trajectory.unconverged());
    let mut report = report.with_warnings(&scene.warnings);
    if args.trust {
        trust::append(&mut report, &scene, &scales, args)?;
    }
    Ok(report)
}

fn tangents(scene: &BuiltScene, trajectory: &Trajectory, n: usize) -> Result<Vec<f64>, CliError> {
    let all: Vec<usize> = (0..n).collect();
    let chunks: Result<Vec<Vec<f64>>, _> = all
        .par_chunks(WIDTH)
        .map(|which| {
            let (simulator, parameters) = (&scene.simulator, &scene.parameters);
            let outcome = &scene.outcome;
            tangent::gradient::<WIDTH>(simulator, trajectory, parameters, which, outcome)
                .map(|(_, gradient)| gradient)
        })
        .collect();
    Ok(chunks?.concat())
}

fn all_differences(
    scene: &BuiltScene,
    layout: &Layout,
    scales: &[Option<f64>],
    console: &Console,
) -> Vec<Option<Difference>> {
    let bar = console.progress(layout.len(), "parameters");
    let found = (0..layout.len())
        .into_par_iter()
        .map_init(Trajectory::default, |scratch, i| {
            let found = scales[i].and_then(|scale| derivative(scene, layout, (i, scale), scratch));
            bar.inc(1);
            found
        })
        .collect();
    bar.finish_and_clear();
    found
}

/// One parameter.
struct Row {
    path: String,
    unit: &'static str,
    adjoint: f64,
    tangent: f64,
    difference: Option<Difference>,
    /// Whether its value may change to one side only.
    at_edge: bool,
    /// A derivative that would change the outcome as much as the largest of all, for its parameter's scale.
    floor: f64,
}

/// What to say of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Agrees,
    Unreliable,
    AtEdge,
    DifferenceDisagrees,
    AdjointDisagrees,
}

impl Judgement {
    fn text(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Unreliable => "unreliable",
            Self::AtEdge => "unreliable: at the edge of its range",
            Self::DifferenceDisagrees => "DIFFERENCE DISAGREES",
            Self::AdjointDisagrees => "ADJOINT AND TANGENT DISAGREE",
        }
    }
}

impl Row {
    fn judge(&self) -> Judgement {
        let exact = (self.adjoint - self.tangent).abs() <= EXACT * self.floor;
        if !exact {
            return Judgement::AdjointDisagrees;
        }
        if self.at_edge {
            return Judgement::AtEdge;
        }
        let Some(d) = self.difference else { return Judgement::Unreliable };
        let size = self.adjoint.abs().max(d.value.abs());
        if d.error > UNRELIABLE.0 * size && d.error > UNRELIABLE.1 * self.floor {
            return Judgement::Unreliable;
        }
        // Derivatives far below the largest are judged by what they change.
        let allowed = (SPREADS * d.error).max(RELATIVE * size).max(UNSEEN * self.floor);
        if (self.adjoint - d.value).abs() <= allowed {
            Judgement::Agrees
        } else {
            Judgement::DifferenceDisagrees
        }
    }

    fn cells(&self) -> Vec<String> {
        let number = |x: f64| format!("{x:.9e}");
        let (value, error) = match self.difference {
            Some(d) => (number(d.value), format!("{:.0e}", d.error)),
            None => ("-".into(), "-".into()),
        };
        vec![
            self.path.clone(),
            self.unit.into(),
            number(self.adjoint),
            number(self.tangent),
            value,
            error,
            self.judge().text().into(),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "path": self.path,
            "unit": self.unit,
            "adjoint": self.adjoint,
            "tangent": self.tangent,
            "difference": self.difference.map(|d| d.value),
            "error_estimate": self.difference.map(|d| d.error),
            "verdict": self.judge().text().to_lowercase(),
        })
    }
}

fn report(args: &Args, value: f64, rows: &[Row], near: usize, unconverged: usize) -> Report {
    let header = ["parameter", "unit", "adjoint", "tangent", "difference", "error", "verdict"];
    let mut cells = vec![header.map(String::from).to_vec()];
    cells.extend(rows.iter().map(Row::cells));
    let count = |j: Judgement| rows.iter().filter(|r| r.judge() == j).count();
    let agrees = count(Judgement::AdjointDisagrees) + count(Judgement::DifferenceDisagrees) == 0;
    let mut text = format!("outcome {value:.12e}\n\n");
    text += &table::render(&cells, &[false, false, true, true, true, true, false]);
    text += &format!(
        "\n{} parameters: {} agree, {} unreliable differences, {} differences disagree, \
         {} adjoints and tangents disagree\n",
        rows.len(),
        count(Judgement::Agrees),
        count(Judgement::Unreliable) + count(Judgement::AtEdge),
        count(Judgement::DifferenceDisagrees),
        count(Judgement::AdjointDisagrees),
    );
    text += &format!(
        "{near} samples near a switch: within {:e} m of the threshold or {:e} of rejection, over all stages\n",
        args.near_distance, args.near_alignment
    );
    if unconverged > 0 {
        text += &format!("warning: {unconverged} stages did not converge\n");
    }
    let json = json!({
        "outcome": value,
        "agrees": agrees,
        "near_switch": near,
        "unconverged": unconverged,
        "parameters": rows.iter().map(Row::json).collect::<Vec<_>>(),
    });
    Report { text, json, agrees }
}
