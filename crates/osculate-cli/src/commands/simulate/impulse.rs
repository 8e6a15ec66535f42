//! `osculate simulate` of a scene of the impulse model.

use super::{Args, tables};
use crate::{CliError, Report, console, files, interrupt, table};
use osculate_dynamics::file::BuiltScene;
use osculate_dynamics::impulse::{
    ContactImpulse, ImpulseRunError, ImpulseSimulator, ImpulseStepError, ImpulseTrajectory,
    Inertia, StepRecord,
};
use osculate_dynamics::{Kinematics, Scene, step_times};
use serde_json::json;
use std::fmt::Write;

/// A roll-out, whole or up to the step that failed.
struct Run<'a> {
    built: &'a BuiltScene,
    simulator: &'a ImpulseSimulator,
    trajectory: ImpulseTrajectory,
    times: Vec<f64>,
}

/// Runs it.
///
/// # Errors
/// Where the scene is not valid, a step fails or a file cannot be written.
pub(super) fn run(
    args: &Args,
    built: &BuiltScene,
    simulator: &ImpulseSimulator,
) -> Result<Report, CliError> {
    if args.figures {
        built.require_compliant("figures of tractions, which impulses do not have")?;
    }
    let mut trajectory = ImpulseTrajectory::default().interrupted_by(interrupt::flag());
    let outcome = simulator.run_into(&built.parameters, &mut trajectory);
    if let Err(ImpulseRunError::Scene(error)) = outcome {
        return Err(error.into());
    }
    let times = step_times(simulator.durations());
    let run = Run { built, simulator, trajectory, times };
    files::create_folder(&args.out)?;
    for (name, content) in [
        ("trajectory.csv", run.motion_table()),
        ("contacts.csv", run.contacts()),
        ("energies.csv", run.energies()),
        ("solver.csv", run.solver()),
    ] {
        files::write(&args.out.join(name), content.as_bytes())?;
    }
    for (name, content) in [("joints.csv", run.joints()), ("anchors.csv", run.anchors())] {
        if let Some(content) = content {
            files::write(&args.out.join(name), content.as_bytes())?;
        }
    }
    if let Err(source) = outcome {
        run.warnings().iter().for_each(|w| console::print_warning(w));
        let unsolved =
            matches!(source, ImpulseRunError::Step(ImpulseStepError::NotConverged { .. }));
        if let Some(law) = simulator.settings().friction_mode.bisection().filter(|_| unsolved) {
            console::print_warning(&format!(
                "`{}` scales the stick impulse radially: near the friction limit more sweeps do not bring it to Coulomb's law",
                law.name()
            ));
        }
        let (steps, folder) = (run.steps(), args.out.clone());
        return Err(CliError::StoppedImpulse { steps, folder, source: Box::new(source) });
    }
    let energies: Vec<f64> = (0..=run.steps()).map(|k| run.energy(k).iter().sum()).collect();
    super::finite(args, run.scene(), &energies, |step, body| run.motion(step, body))?;
    Ok(run.report(args))
}

impl Run<'_> {
    fn steps(&self) -> usize {
        self.trajectory.records.len()
    }

    fn scene(&self) -> &Scene {
        self.simulator.scene()
    }

    fn motion(&self, step: usize, body: usize) -> Kinematics {
        let center = self.built.parameters.bodies[body].center;
        self.trajectory.state(step)[body].kinematics(&center)
    }

    fn motion_table(&self) -> String {
        let motion = |step, body| self.motion(step, body);
        tables::trajectory(self.scene(), &self.times[..=self.steps()], motion)
    }

    fn contacts(&self) -> String {
        let mut text = String::from("step,t,first,second,feature,gap");
        for vector in ["position", "normal", "impulse"] {
            for axis in ["x", "y", "z"] {
                let _ = write!(text, ",{vector}_{axis}");
            }
        }
        text.push_str(",normal_impulse,solutions\n");
        for (k, record) in self.trajectory.records.iter().enumerate() {
            self.rows_of_step(k, record, &mut text);
        }
        text
    }

    fn rows_of_step(&self, k: usize, record: &StepRecord, text: &mut String) {
        let name = |i: usize| self.scene().bodies[i].name.clone();
        for c in &record.contacts {
            let mut row = vec![(k + 1).to_string(), format!("{:?}", self.times[k + 1])];
            row.extend([name(c.bodies[0]), name(c.bodies[1]), format!("{:x}", c.contact.id.0)]);
            let position = (c.point.point_a + c.point.point_b) * 0.5;
            let impulse = c.point.normal * c.normal + c.friction;
            row.extend(tables::numbers([&c.point.gap]));
            for v in [position, c.point.normal, impulse] {
                row.extend(tables::numbers(v.iter()));
            }
            row.extend(tables::numbers([&c.normal]));
            row.push(c.solutions.map_or_else(String::new, |n| n.to_string()));
            tables::push(text, row);
        }
    }

    fn joints(&self) -> Option<String> {
        let times = &self.times[..=self.steps()];
        tables::joints(self.scene(), times, |step| self.trajectory.joints(step))
    }

    /// Anchors of patch friction; `None` where there is none.
    fn anchors(&self) -> Option<String> {
        let mut text = String::from("step,t,first,second,state");
        for vector in ["position", "normal", "displacement", "impulse"] {
            for axis in ["x", "y", "z"] {
                let _ = write!(text, ",{vector}_{axis}");
            }
        }
        text.push_str(",load,radius\n");
        let header = text.len();
        for (k, record) in self.trajectory.records.iter().enumerate() {
            for a in &record.anchors {
                let state = if a.released { "released" } else { "held" };
                let mut row = vec![(k + 1).to_string(), format!("{:?}", self.times[k + 1])];
                row.extend(a.bodies.map(|i| self.scene().bodies[i].name.clone()));
                row.push(state.into());
                for v in [a.position, a.normal, a.displacement, a.impulse] {
                    row.extend(tables::numbers(v.iter()));
                }
                row.extend(tables::numbers([&a.load, &a.radius]));
                tables::push(&mut text, row);
            }
        }
        (text.len() > header).then_some(text)
    }

    /// Kinetic and gravitational energy (J).
    fn energy(&self, step: usize) -> [f64; 2] {
        let (mut kinetic, mut gravitational) = (0.0, 0.0);
        let parameters = &self.built.parameters;
        for body in self.scene().dynamic_bodies() {
            let (state, p) = (&self.trajectory.state(step)[body], &parameters.bodies[body]);
            kinetic += Inertia { mass: p.mass, tensor: p.inertia }.kinetic_energy(state);
            if self.scene().bodies[body].gravity {
                gravitational -= p.mass * parameters.gravity.dot(&state.center);
            }
        }
        [kinetic, gravitational]
    }

    fn energies(&self) -> String {
        let mut text = String::from("step,t,kinetic,gravitational,total\n");
        for step in 0..=self.steps() {
            let [kinetic, gravitational] = self.energy(step);
            let values = [self.times[step], kinetic, gravitational, kinetic + gravitational];
            let row = std::iter::once(step.to_string()).chain(tables::numbers(&values));
            tables::push(&mut text, row);
        }
        text
    }

    fn solver(&self) -> String {
        let mut text = String::from("step,contacts,sweeps,residual,tolerance,converged\n");
        for (k, record) in self.trajectory.records.iter().enumerate() {
            let s = &record.stats;
            let place = [k + 1, s.contacts, s.sweeps].map(|n| n.to_string());
            let row = place.into_iter().chain(tables::numbers([&s.residual, &s.tolerance]));
            tables::push(&mut text, row.chain([s.converged.to_string()]));
        }
        text
    }

    /// What is doubtful in the contacts, and warnings of the scene.
    fn warnings(&self) -> Vec<String> {
        let doubted = |which: &dyn Fn(&ContactImpulse) -> bool| {
            let steps = self.trajectory.records.iter().enumerate();
            let found = steps.filter_map(|(k, r)| Some((k, r.contacts.iter().find(|c| which(c))?)));
            let found: Vec<_> = found.collect();
            let count = found.len();
            let (step, contact) = *found.first()?;
            let [a, b] = contact.bodies.map(|i| &self.scene().bodies[i].name);
            let place = format!("first step {}, '{a}' on '{b}'", step + 1);
            Some((contact, format!("in {count} of {} steps, {place}", self.steps())))
        };
        let near = doubted(&|c| c.warning.is_some());
        let near = near.and_then(|(c, place)| Some(format!("{}: {place}", c.warning?)));
        let many = doubted(&|c| c.solutions > Some(1)).map(|(c, place)| {
            let count = c.solutions.unwrap_or_default();
            format!("a contact has {count} solutions of Coulomb's law and got one: {place}; see contacts.csv")
        });
        let scene = self.built.warnings.iter().map(ToString::to_string);
        near.into_iter().chain(many).chain(scene).collect()
    }

    fn report(&self, args: &Args) -> Report {
        let records = &self.trajectory.records;
        let sweeps: usize = records.iter().map(|r| r.stats.sweeps).sum();
        let most = records.iter().map(|r| r.stats.sweeps).max().unwrap_or(0);
        let unconverged = self.trajectory.unconverged();
        let (steps, out) = (self.steps(), args.out.display());
        let [first, last] = [0, steps].map(|k| self.energy(k).iter().sum::<f64>());
        let contacts = records.last().map_or(0, |r| r.contacts.len());
        let (bodies, rows) =
            tables::final_poses(self.scene(), |body| self.motion(self.steps(), body));
        let mut text =
            format!("{steps} steps to t = {} s, written to {out}\n\n", self.times[steps]);
        text += &table::render(&rows, &[false, true, true, true, true, true, true, true]);
        text += &format!(
            "\nenergy    {first:.6e} J at the start, {last:.6e} J at the end\n\
             contacts  {contacts} points at the end\n\
             solver    {:.2} sweeps a step, at most {most}\n",
            sweeps as f64 / steps.max(1) as f64,
        );
        if unconverged > 0 {
            let all = records.len();
            let _ = writeln!(
                text,
                "warning   {unconverged} of {all} steps did not converge: see solver.csv"
            );
        }
        let warnings = self.warnings();
        for warning in &warnings {
            let _ = writeln!(text, "warning   {warning}");
        }
        let json = json!({
            "model": "impulse",
            "warnings": warnings,
            "out": args.out,
            "steps": steps,
            "time_s": self.times[steps],
            "bodies": bodies,
            "energy_start_J": first,
            "energy_end_J": last,
            "contacts_at_end": contacts,
            "solver": { "sweeps": sweeps, "most_sweeps": most, "unconverged": unconverged },
        });
        Report { text, json, agrees: true }
    }
}
