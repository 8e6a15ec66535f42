//! `osculate gradcheck`.

mod differences;
mod models;
mod row;
mod trust;

use crate::{CliError, Console, Report, table};
use differences::{derivative, one_sided, scales};
use models::{Checked, Near};
use osculate_dynamics::OnFailure;
use osculate_dynamics::file::{BuiltScene, SceneFile, SceneOutcome};
use osculate_dynamics::sensitivity::Outcome;
use osculate_fit::contact_model::{ContactModel, Entry, index_of};
use osculate_fit::trust::{GRIDS, MOST_GRIDS};
use rayon::prelude::*;
use row::{Judgement, Row};
use serde_json::json;
use std::path::PathBuf;

/// Compare adjoint, tangent and difference derivatives of a scene's outcome.
///
/// For every parameter of the scene, or each --parameter: the derivative of its outcome by the adjoint, by the tangent, and by
/// Richardson-extrapolated central differences of roll-outs that are run again, with the error that the differences
/// estimate of themselves. Adjoint and tangent use one linearisation and agree to rounding. Differences see the
/// trajectory from outside; where a sample enters, leaves or is rejected within their step they are unreliable, which
/// is said and not judged, as at the edge of a parameter's range. Where an outcome has one derivative to each side, the
/// side that the adjoint is of is said.
///
/// Both contact models are checked. Stages and steps are solved to 1e-13 here, whatever the scene's tolerance; a step of
/// the impulse model that creeps before it gets there counts where it meets the scene's own.
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
    /// Count contacts of the impulse model within this relative distance of another state
    #[arg(long, value_name = "D", default_value_t = 0.01, value_parser = positive)]
    pub near_switch: f64,
    /// Say of every derivative whether it is good for anything, with reasons (docs/trust.md)
    #[arg(long)]
    pub trust: bool,
    /// Relative standard error of the parameters, for --trust
    #[arg(long, value_name = "S", default_value_t = 0.01, value_parser = positive, requires = "trust")]
    pub sigma: f64,
    /// Check this parameter only, with --trust too; may be given several times
    #[arg(long, value_name = "PATH")]
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
  osculate gradcheck docs/examples/cube_toss.toml --parameter cube.mu --parameter cube.k
  osculate gradcheck docs/examples/sliding_block.toml --near-distance 1e-5
  osculate gradcheck docs/examples/bouncing_point.toml --trust --sigma 0.01
  osculate gradcheck docs/examples/bouncing_point.toml --trust --parameter point.k \\
      --grids 9 --out figures";

/// Tolerance of solves: differences of roll-outs see what they leave.
const SOLVE_TOLERANCE: f64 = 1e-13;
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
    let (on_failure, tolerance) = (file.solver.on_failure, models::tighten(&mut file));
    let scene = file.build(args.scene.parent().unwrap_or("".as_ref()))?;
    let how = How { on_failure, tolerance };
    match &scene.impulse {
        None => check(&scene.simulator, &scene, how, args, console),
        Some(simulator) => check(simulator, &scene, how, args, console),
    }
}

/// What the scene says of solves.
#[derive(Clone, Copy)]
struct How {
    on_failure: OnFailure,
    tolerance: f64,
}

fn check<S: Checked>(
    simulator: &S,
    scene: &BuiltScene,
    how: How,
    args: &Args,
    console: &Console,
) -> Result<Report, CliError> {
    let parameters = simulator.all_parameters(scene.parameters.clone());
    let layout = simulator.layout(&parameters);
    let (entries, values) = (S::entries(&layout), S::values(&layout, &parameters));
    let checked = named(&entries, args)?;
    let mut trajectory = simulator.run(&parameters)?;
    let creeping = S::accept(&mut trajectory, how.tolerance);
    let derivatives = simulator.linearise(&parameters, &trajectory, how.on_failure)?;
    let (value, by_adjoint) = S::adjoint(&derivatives, &scene.outcome)?;
    let all: Vec<usize> = (0..entries.len()).collect();
    let of = (&layout, &parameters);
    let chunks: Result<Vec<Vec<f64>>, _> = all
        .par_chunks(WIDTH)
        .map(|which| simulator.tangent::<WIDTH>(&derivatives, of, which, &scene.outcome))
        .collect();
    let by_tangent = chunks?.concat();
    let scales = scales(&entries, &values);
    let size = |i: usize| (by_tangent[i] * scales[i].unwrap_or(0.0)).abs();
    let largest = (0..entries.len()).map(size).fold(f64::MIN_POSITIVE, f64::max);
    let loose = simulator.for_differences();
    let check = Check {
        simulator: &loose,
        layout: &layout,
        parameters: &parameters,
        outcome: &scene.outcome,
    };
    let row = |i: usize| Row {
        path: entries[i].path.clone(),
        unit: entries[i].unit,
        adjoint: by_adjoint[i],
        tangent: by_tangent[i],
        difference: None,
        sides: None,
        at_edge: scales[i].is_none(),
        floor: largest / scales[i].unwrap_or(1.0),
    };
    let asked: Vec<Row> = checked.iter().map(|&i| row(i)).collect();
    let at: Vec<(usize, Option<f64>)> = checked.iter().map(|&i| (i, scales[i])).collect();
    let rows = check.rows(value, asked, &at, console);
    let near = simulator.near(&derivatives, args)?;
    let unconverged = S::unconverged(&trajectory);
    let report = report(value, &rows, &near, (unconverged, creeping));
    let mut report = report.with_warnings(&scene.warnings);
    if args.trust {
        // Roll-outs beside this one are judged as it was.
        let judged =
            if creeping > 0 { simulator.with_tolerance(how.tolerance) } else { simulator.clone() };
        let subject = osculate_fit::trust::Subject {
            simulator: &judged,
            parameters: &parameters,
            outcome: &scene.outcome,
            on_failure: how.on_failure,
        };
        trust::append(&mut report, &subject, (&entries, &scales), args)?;
    }
    Ok(report)
}

/// Indices of the parameters that are checked: all, or those that are named.
fn named(entries: &[Entry], args: &Args) -> Result<Vec<usize>, CliError> {
    if let Some(found) = args.parameter.iter().find(|p| index_of(entries, p).is_none()) {
        let known = entries.iter().map(|e| e.path.as_str()).collect::<Vec<_>>().join(", ");
        return Err(CliError::NoParameter { found: found.clone(), known });
    }
    let asked = |i: &usize| args.parameter.is_empty() || args.parameter.contains(&entries[*i].path);
    Ok((0..entries.len()).filter(asked).collect())
}

/// What roll-outs are run again of.
struct Check<'a, S: ContactModel, O = SceneOutcome> {
    simulator: &'a S,
    layout: &'a S::Layout,
    parameters: &'a S::Parameters<f64>,
    outcome: &'a O,
}

impl<S: ContactModel, O: Outcome> Check<'_, S, O> {
    /// The outcome with a number changed.
    fn value_at(&self, change: (usize, f64), scratch: &mut S::Trajectory) -> Option<f64> {
        self.simulator.value_at((self.layout, self.parameters), change, self.outcome, scratch)
    }

    /// The rows with their differences.
    ///
    /// * `at`: index of the parameter of each, and a large change of it.
    fn rows(
        &self,
        value: f64,
        rows: Vec<Row>,
        at: &[(usize, Option<f64>)],
        console: &Console,
    ) -> Vec<Row> {
        let bar = console.progress(rows.len(), "parameters");
        let with = |scratch: &mut S::Trajectory, (mut row, &(i, scale)): (Row, _)| {
            if let Some(scale) = scale {
                row.difference = derivative(self, (i, scale), scratch);
                if row.judge() == Judgement::DifferenceDisagrees {
                    row.sides = one_sided(self, value, (i, scale), scratch);
                }
            }
            bar.inc(1);
            row
        };
        let found = rows.into_par_iter().zip(at).map_init(S::Trajectory::default, with).collect();
        bar.finish_and_clear();
        found
    }
}

fn report(
    value: f64,
    rows: &[Row],
    near: &Near,
    (unconverged, creeping): (usize, usize),
) -> Report {
    let header = ["parameter", "unit", "adjoint", "tangent", "difference", "error", "verdict"];
    let mut cells = vec![header.map(String::from).to_vec()];
    cells.extend(rows.iter().map(Row::cells));
    let count = |f: fn(Judgement) -> bool| rows.iter().filter(|r| f(r.judge())).count();
    let different = count(|j| j == Judgement::DifferenceDisagrees);
    let inexact = count(|j| j == Judgement::AdjointDisagrees);
    let one_sided = count(|j| matches!(j, Judgement::OneSided(_)));
    let agrees = different + inexact == 0;
    let mut text = format!("outcome {value:.12e}\n\n");
    text += &table::render(&cells, &[false, false, true, true, true, true, false]);
    text += &format!(
        "\n{} parameters: {} agree, {} unreliable differences, {different} differences disagree, \
         {inexact} adjoints and tangents disagree\n",
        rows.len(),
        count(|j| j == Judgement::Agrees),
        count(|j| matches!(j, Judgement::Unreliable | Judgement::AtEdge)),
    );
    if one_sided > 0 {
        text += &format!(
            "{one_sided} at a switch, where the outcome has one derivative to each side and the adjoint is that of one\n"
        );
    }
    text += &near.text;
    if creeping > 0 {
        text += &format!(
            "{creeping} steps creep: solved to the scene's tolerance, not to {SOLVE_TOLERANCE:e}\n"
        );
    }
    if unconverged > 0 {
        text += &format!("warning: {unconverged} {} did not converge\n", near.solves);
    }
    let mut json = json!({
        "outcome": value,
        "agrees": agrees,
        "near_switch": near.count,
        "unconverged": unconverged,
        "parameters": rows.iter().map(Row::json).collect::<Vec<_>>(),
    });
    if let Some(switches) = &near.switches {
        (json["switches"], json["creeping"]) = (switches.clone(), creeping.into());
    }
    Report { text, json, agrees }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the exit code is made of: no scene has a wrong derivative to show.
    #[test]
    fn report_of_one_row_that_disagrees_does_not_agree() {
        let row = |tangent: f64| Row {
            path: "cube.mu".into(),
            unit: "",
            adjoint: 2.5,
            tangent,
            difference: Some(differences::Difference { value: 2.5, error: 1e-9 }),
            sides: None,
            at_edge: false,
            floor: 1.0,
        };
        let near = Near { text: String::new(), count: 0, switches: None, solves: "stages" };
        let good = report(1.0, &[row(2.5), row(2.5)], &near, (0, 0));
        assert!(good.agrees && good.json["agrees"] == true);
        let bad = report(1.0, &[row(2.5), row(2.6)], &near, (0, 0));
        assert!(!bad.agrees && bad.json["agrees"] == false);
        assert!(bad.text.contains("1 adjoints and tangents disagree"), "{}", bad.text);
    }
}
