//! `osculate simulate`.

mod impulse;
pub(super) mod tables;
mod tractions;

use crate::{CliError, Report, console, files, interrupt, table};
use osculate_dynamics::file::{BuiltScene, SceneFile};
use osculate_dynamics::{ContactRecord, Energies, Kinematics, RunError, Scene, Trajectory};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Simulate a scene and write its motion, contacts, energies and solver statistics.
///
/// Writes into the folder `--out`, units SI, frames world:
///
///   trajectory.csv  step, t, and of each dynamic actor the position of its local origin, its quaternion (scalar
///                   first), the velocity of its centre of mass and its angular velocity
///   contacts.csv    every sample within reach of a collider at the end of each step: status, distance, alignment,
///                   reference area, position, normal, force on the colliding actor and its elastic, damping, viscous
///                   and Coulomb parts (a force over the area is a traction)
///   forces.csv      net contact force and torque (about the centre of mass) on every actor at the end of each step
///   energies.csv    kinetic, gravitational, contact and total energy after each step
///   joints.csv      position and velocity of every joint after each step, where the scene has joints: q (rad or m;
///                   of a spherical joint the rotation vector, of a free one position and rotation vector) and qdot
///   solver.csv      of each stage: iterations, residual, tolerance, whether it converged; steps count from 1, as in
///                   contacts.csv: step n ends at row n of trajectory.csv
///
/// A scene of the impulse model (solver.model = "impulse") has contact points and impulses (N s) in contacts.csv, sweeps
/// in solver.csv, no contact energy and no forces.csv; where friction acts at anchors, anchors.csv has their positions, displacements (m)
/// and impulses. With friction_mode = "coulomb-newton" contacts.csv counts the solutions of Coulomb's law.
///
/// Where a step fails or Ctrl-C is pressed (exit code 130), what was computed before is written, warnings go to standard error, and the error names the step
/// and the body.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub struct Args {
    /// Scene file (docs/scene.md)
    pub scene: PathBuf,
    /// Folder to write into; made if it does not exist
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Draw the tractions of every pair that touched, at the step of its largest normal force, into figures/
    #[arg(long)]
    pub figures: bool,
    /// Draw them at this step (counted from 1) instead
    #[arg(long, value_name = "STEP", requires = "figures")]
    pub at: Option<usize>,
    /// Halve a step that does not converge, again and again, at most so many times. Rows are then those of the grid that
    /// was needed (see t), a warning says which steps were cut, and every cut rolls out from the start again. One-step
    /// methods only
    #[arg(long, value_name = "MOST", value_parser = clap::value_parser!(u32).range(1..=30))]
    pub halve: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  osculate simulate docs/examples/sliding_block.toml --out /tmp/block
  osculate simulate docs/examples/cube_toss.toml --out /tmp/toss --json
  osculate simulate docs/examples/cube_toss.toml --out /tmp/toss --halve 4
  osculate simulate docs/examples/sliding_block.toml --out /tmp/block --figures --at 20";

/// Runs it.
///
/// # Errors
/// Where the scene is not valid, a step fails, an energy is not finite or a file cannot be written.
pub fn run(args: &Args) -> Result<Report, CliError> {
    let mut scene = SceneFile::load(&args.scene)?;
    if let Some(simulator) = &scene.impulse {
        return impulse::run(args, &scene, simulator);
    }
    let RolledOut { trajectory, cuts, outcome } = roll_out(args, &mut scene)?;
    if let Err(RunError::Scene(error)) = outcome {
        return Err(error.into());
    }
    let run = Run::new(&scene, &trajectory, cuts)?;
    let motion =
        tables::trajectory(scene.simulator.scene(), &run.times[..=run.steps], |step, body| {
            tables::motion(&run, step, body)
        });
    files::create_folder(&args.out)?;
    for (name, content) in [
        ("trajectory.csv", motion),
        ("contacts.csv", tables::contacts(&run)),
        ("forces.csv", tables::forces(&run)),
        ("energies.csv", tables::energies(&run)),
        ("solver.csv", tables::solver(&run)),
    ] {
        files::write(&args.out.join(name), content.as_bytes())?;
    }
    let joints = |step| run.trajectory.path.joints(step);
    if let Some(content) =
        tables::joints(run.scene.simulator.scene(), &run.times[..=run.steps], joints)
    {
        files::write(&args.out.join("joints.csv"), content.as_bytes())?;
    }
    if let Err(source) = outcome {
        let steps = run.steps;
        // The stage that failed is in the error.
        scene.warnings.iter().for_each(|w| console::print_warning(&w.to_string()));
        return Err(CliError::Stopped {
            steps,
            folder: args.out.clone(),
            source: Box::new(source),
        });
    }
    let energies: Vec<f64> = run.energies.iter().map(total).collect();
    let motion = |step, body| tables::motion(&run, step, body);
    finite(args, scene.simulator.scene(), &energies, motion)?;
    let mut report = report(args, &run);
    if args.figures {
        let folder = args.out.join("figures");
        files::create_folder(&folder)?;
        let written = tractions::write(&run, &folder, args.at)?;
        report.text += &match &written[..] {
            [] => "figures   none: nothing touched\n".to_string(),
            names => format!("figures   {}\n", names.join(", ")),
        };
        report.json["figures"] = json!(written);
    }
    Ok(report)
}

/// Refuses a motion whose energy overflows, with the fastest body: states may be finite where their squares are not.
fn finite(
    args: &Args,
    scene: &Scene,
    energies: &[f64],
    motion: impl Fn(usize, usize) -> Kinematics,
) -> Result<(), CliError> {
    let Some(step) = energies.iter().position(|e| !e.is_finite()) else { return Ok(()) };
    let speed = |body: usize| motion(step, body).velocity.amax();
    let fastest = scene.dynamic_bodies().max_by(|&a, &b| speed(a).total_cmp(&speed(b)));
    let (body, speed) =
        fastest.map_or((String::new(), 0.0), |b| (scene.bodies[b].name.clone(), speed(b)));
    let (energy, folder) = (energies[step], args.out.clone());
    Err(CliError::Energy { step, body, speed, energy, folder })
}

/// The motion, as far as it goes.
struct RolledOut {
    trajectory: Trajectory,
    /// Steps that were cut, from 1, and into how many.
    cuts: Vec<(usize, usize)>,
    /// Why it ended early.
    outcome: Result<(), RunError>,
}

/// Rolls out; a scene whose steps were cut is replaced by that on the grid that was needed.
fn roll_out(args: &Args, scene: &mut BuiltScene) -> Result<RolledOut, CliError> {
    let interrupted = interrupt::flag();
    let fresh = || Trajectory::default().interrupted_by(Arc::clone(&interrupted));
    if let Some(most) = args.halve {
        match scene.simulator.run_halving(&scene.parameters, most, fresh()) {
            Ok(halved) => {
                (scene.simulator, scene.parameters) = (halved.simulator, halved.parameters);
                let cuts = halved.substeps.iter().enumerate().filter(|(_, n)| **n > 1);
                let cuts = cuts.map(|(step, n)| (step + 1, *n)).collect();
                return Ok(RolledOut { trajectory: halved.trajectory, cuts, outcome: Ok(()) });
            }
            Err(RunError::Scene(error)) => return Err(error.into()),
            // What converges on the grid that was asked for is written below.
            Err(error) => console::print_warning(&format!("halving did not help: {error}")),
        }
    }
    let mut trajectory = fresh();
    let outcome = scene.simulator.run_into(&scene.parameters, &mut trajectory);
    Ok(RolledOut { trajectory, cuts: Vec::new(), outcome })
}

/// A roll-out, whole or up to the step that failed.
pub(super) struct Run<'a> {
    scene: &'a BuiltScene,
    trajectory: &'a Trajectory,
    /// Completed steps.
    steps: usize,
    /// Steps that were cut, from 1, and into how many.
    cuts: Vec<(usize, usize)>,
    times: Vec<f64>,
    energies: Vec<Energies>,
    /// What touched at the end of each step.
    contacts: Vec<Vec<ContactRecord>>,
}

impl<'a> Run<'a> {
    fn new(
        scene: &'a BuiltScene,
        trajectory: &'a Trajectory,
        cuts: Vec<(usize, usize)>,
    ) -> Result<Self, CliError> {
        let steps = trajectory.path.steps().end.saturating_sub(1);
        let energies = (0..=steps)
            .map(|k| scene.simulator.energies(trajectory, &scene.parameters, k))
            .collect::<Result<_, _>>()?;
        let contacts = (0..steps)
            .map(|k| scene.simulator.contacts(trajectory, &scene.parameters, k))
            .collect::<Result<_, _>>()?;
        let times = scene.simulator.times();
        Ok(Self { scene, trajectory, steps, cuts, times, energies, contacts })
    }
}

fn report(args: &Args, run: &Run<'_>) -> Report {
    let trajectory = run.trajectory;
    let stats = &trajectory.stats;
    let iterations: usize = stats.iter().map(|s| s.iterations).sum();
    let most = stats.iter().map(|s| s.iterations).max().unwrap_or(0);
    let mean = iterations as f64 / stats.len().max(1) as f64;
    let unconverged = trajectory.unconverged();
    let (first, last) = (run.energies[0], run.energies[run.steps]);
    let contacts = run.contacts[run.steps - 1].len();
    let (bodies, rows) = tables::final_poses(run.scene.simulator.scene(), |body| {
        tables::motion(run, run.steps, body)
    });
    let mut text = format!(
        "{} steps to t = {} s, written to {}\n\n",
        run.steps,
        run.times[run.steps],
        args.out.display()
    );
    text += &table::render(&rows, &[false, true, true, true, true, true, true, true]);
    text += &format!(
        "\nenergy    {:.6e} J at the start, {:.6e} J at the end\n\
         contacts  {contacts} samples within reach of a collider at the end\n\
         solver    {mean:.2} iterations a stage, at most {most}\n",
        total(&first),
        total(&last),
    );
    for warning in warnings(run) {
        text += &format!("warning   {warning}\n");
    }
    Report {
        text,
        json: json!({
            "warnings": run.scene.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "out": args.out,
            "steps": run.steps,
            "time_s": run.times[run.steps],
            "cut_steps": run.cuts.iter().map(|(step, n)| json!({ "step": step, "into": n })).collect::<Vec<_>>(),
            "bodies": bodies,
            "energy_start_J": energy(&first),
            "energy_end_J": energy(&last),
            "contacts_at_end": contacts,
            "solver": {
                "stages": stats.len(),
                "iterations": iterations,
                "most_iterations": most,
                "unconverged": unconverged,
            },
        }),
        agrees: true,
    }
}

/// What is doubtful about a roll-out and its scene.
fn warnings(run: &Run<'_>) -> Vec<String> {
    let unconverged = run.trajectory.unconverged();
    let stages = run.trajectory.stats.len();
    let solver = (unconverged > 0)
        .then(|| format!("{unconverged} of {stages} stages did not converge: see solver.csv"));
    let into = |(step, n): &(usize, usize)| format!("step {step} into {n}");
    let cuts = (!run.cuts.is_empty()).then(|| {
        let list: Vec<String> = run.cuts.iter().take(10).map(into).collect();
        let more = if run.cuts.len() > 10 { ", …" } else { "" };
        let count = run.cuts.len();
        format!(
            "{count} steps of the scene did not converge and were cut: {}{more}",
            list.join(", ")
        )
    });
    solver
        .into_iter()
        .chain(cuts)
        .chain(run.scene.warnings.iter().map(ToString::to_string))
        .collect()
}

/// Kinetic, gravitational and contact energy (J).
fn total(e: &Energies) -> f64 {
    e.kinetic + e.gravitational + e.contact
}

fn energy(e: &Energies) -> Value {
    json!({
        "kinetic": e.kinetic,
        "gravitational": e.gravitational,
        "contact": e.contact,
        "total": total(e),
    })
}
