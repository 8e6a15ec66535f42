//! `osculate restitution`.

use crate::{CliError, Report, names, table};
use osculate_contact::{ContactParams, DissipationSchedule, RestitutionLaw};
use osculate_dynamics::Method;
use osculate_fit::impact::{Band, Impact, ImpactError, Step};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

/// Damping for a wanted restitution, what an integrator makes of it, and the time step it needs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group(clap::ArgGroup::new("aim").required(true)))]
pub struct Args {
    /// Coefficient of restitution wanted, in (0, 1]
    #[arg(long, group = "aim")]
    pub e: Option<f64>,
    /// Damping coefficient given (s/m), in place of --e
    #[arg(long, group = "aim", value_name = "S_PER_M")]
    pub c_n: Option<f64>,
    /// Relative speed before the impact (m/s)
    #[arg(long)]
    pub speed: f64,
    /// Mass (kg); of two free bodies the reduced mass
    #[arg(long, default_value_t = 1.0)]
    pub mass: f64,
    /// Area in contact (m²)
    #[arg(long, default_value_t = 0.01)]
    pub area: f64,
    /// Penalty coefficient (Pa/m)
    #[arg(long, default_value_t = 1e9)]
    pub k: f64,
    /// Smoothing half-width of the ramp (m)
    #[arg(long, default_value_t = 0.005)]
    pub epsilon: f64,
    /// Distance at which contact starts (m)
    #[arg(long, default_value_t = 0.001, allow_negative_numbers = true)]
    pub delta: f64,
    /// Integration method, as in scene files
    #[arg(long, default_value = "bdf2", value_parser = names::method)]
    pub method: Method,
    /// Schedule of the dissipation: stage-start, current-geometry or current
    #[arg(long, default_value = "current-geometry", value_parser = names::schedule)]
    pub schedule: DissipationSchedule,
    /// Time step to judge (s)
    #[arg(long, default_value_t = 1e-4)]
    pub dt: f64,
    /// Largest error of e allowed in the search of a step
    #[arg(long, default_value_t = 0.01)]
    pub tolerance: f64,
    /// Phases of the impact within a step
    #[arg(long, default_value_t = 8)]
    pub phases: usize,
}

const EXAMPLES: &str = "\
Gives the damping coefficient c_n (s/m) at which a head-on impact at --speed rebounds at e times that speed: exactly,
u (1 + e) = ln((1 + u)/(1 - e u)) with u = c_n v, and by the rational formula of the model's documentation. Both are laws
of continuous time and hold for any mass, stiffness and ramp.

Then it simulates the impact, one sample on a plane without gravity. The restitution that the method and the time step
show depends on where within a step contact starts: it is a band. At last it searches the longest step at which the
whole band is within --tolerance of e. Ends with 1 where there is none.

Examples:
  osculate restitution --e 0.6 --speed 1.0
  osculate restitution --e 0.6 --speed 1.0 --schedule current --dt 5e-4 --tolerance 0.005
  osculate restitution --c-n 1.5 --speed 2.0 --k 1e7 --mass 0.37 --method dirk22 --json

Steps are halved, then bisected, each verified by simulation, down to 1/8192 of the contact time.";

/// What was found.
struct Found {
    /// Restitution in continuous time.
    e: f64,
    /// Damping number of the exact relation and of the rational formula.
    u: [f64; 2],
    /// Restitutions of the simulation at the step given.
    band: Result<Band, ImpactError>,
    /// The step that holds the tolerance.
    step: Result<Step, ImpactError>,
}

/// Runs it.
///
/// # Errors
/// Where a number is outside its range.
pub fn run(args: &Args) -> Result<Report, CliError> {
    let (exact, rational) = (RestitutionLaw::Exact, RestitutionLaw::Rational);
    let e = match (args.e, args.c_n) {
        (Some(e), _) => {
            exact.damping(e, args.speed)?;
            e
        }
        (None, c_n) => {
            exact.damping(1.0, args.speed)?;
            exact.restitution(c_n.unwrap_or(0.0) * args.speed)?
        }
    };
    let u = [exact.damping_number(e)?, rational.damping_number(e)?];
    let impact = impact(args, args.c_n.unwrap_or(u[0] / args.speed));
    let band = keep(impact.band(args.dt, args.phases, &AtomicBool::default()))?;
    let step = keep(impact.step_within(e, args.tolerance, args.phases))?;
    Ok(report(args, &Found { e, u, band, step }))
}

/// Impacts that fail are results; wrong numbers are errors.
fn keep<X>(result: Result<X, ImpactError>) -> Result<Result<X, ImpactError>, CliError> {
    match result {
        Err(error @ (ImpactError::Stuck { .. } | ImpactError::NoStep { .. })) => Ok(Err(error)),
        Err(error) => Err(error.into()),
        Ok(x) => Ok(Ok(x)),
    }
}

fn impact(args: &Args, damping: f64) -> Impact {
    let contact = ContactParams {
        stiffness: args.k,
        smoothing: args.epsilon,
        threshold: args.delta,
        friction: 0.0,
        damping,
        ..ContactParams::default()
    };
    let (mass, area, speed) = (args.mass, args.area, args.speed);
    Impact { mass, area, speed, contact, method: args.method, schedule: args.schedule }
}

/// Six decimals, scientific where they would show fewer than four digits, or more than six before the point.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.6e}") }
}

fn report(args: &Args, found: &Found) -> Report {
    let v = args.speed;
    let [u, approximate] = found.u;
    let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
    let mut rows = vec![row(["", "c_n (s/m)", "e in continuous time"])];
    // The exact e of the rational c_n is what the formula's error costs.
    let shown = RestitutionLaw::Exact.restitution(approximate);
    for (name, u, e) in [("exact", u, Ok(found.e)), ("rational", approximate, shown.clone())] {
        let e = e.map_or_else(|error| error.to_string(), number);
        rows.push(row([name, &number(u / v), &e]));
    }
    let mut text = table::render(&rows, &[false, true, true]);
    let (method, schedule) = (names::of_method(args.method), names::of_schedule(args.schedule));
    text += &format!("\n{method}, {schedule} load, {} phases of the impact\n", args.phases);
    text += &match &found.band {
        Ok(b) => format!(
            "  at {:e} s      e in [{}, {}], off by at most {:.1e}\n",
            args.dt,
            number(b.low),
            number(b.high),
            b.error(found.e)
        ),
        Err(error) => format!("  at {:e} s      {error}\n", args.dt),
    };
    text += &match &found.step {
        Ok(s) => format!(
            "  within {:?}    {:.3e} s: e in [{}, {}]\n",
            args.tolerance,
            s.dt,
            number(s.band.low),
            number(s.band.high)
        ),
        Err(error) => format!("  within {:?}    {error}\n", args.tolerance),
    };
    let json = json!({
        "e": found.e,
        "speed_m_s": v,
        "damping_number": u,
        "c_n_s_m": u / v,
        "c_n_rational_s_m": approximate / v,
        "e_of_rational_c_n": shown.ok(),
        "method": method,
        "schedule": schedule,
        "dt_s": args.dt,
        "simulated": outcome(found.band.as_ref().map(|b| json!([b.low, b.high])), "band"),
        "tolerance": args.tolerance,
        "step": outcome(
            found.step.as_ref().map(|s| json!({ "dt_s": s.dt, "e": [s.band.low, s.band.high] })),
            "found",
        ),
    });
    Report { text, json, agrees: found.step.is_ok() }
}

fn outcome(result: Result<Value, &ImpactError>, key: &str) -> Value {
    match result {
        Ok(value) => json!({ key: value }),
        Err(error) => json!({ "failed": error.to_string() }),
    }
}
