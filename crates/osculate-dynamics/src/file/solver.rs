//! `[solver]`: settings and time grid.

use super::build::Context;
use super::error::FileError;
use super::schema::Solver;
use crate::{InitialRate, NewtonSettings, RotationUpdate, Settings};
use osculate_contact::{ContactLaw, DissipationSchedule};

/// The most steps of a scene.
const MOST_STEPS: usize = 10_000_000;

/// How far `duration` may be from a whole number of steps, relative.
const WHOLE: f64 = 1e-6;

const GRID: &str = "two of dt, steps and duration, or steps_s alone";

/// Durations of the steps \[s\].
pub(super) fn durations(context: &Context<'_>, solver: &Solver) -> Result<Vec<f64>, FileError> {
    if let Some(list) = &solver.steps_s {
        return explicit(context, solver, list);
    }
    let dt = solver.dt.map(|x| context.positive("solver.dt", x, "s")).transpose()?;
    let duration =
        solver.duration.map(|x| context.positive("solver.duration", x, "s")).transpose()?;
    let steps = solver.steps.map(|n| check_steps(context, "solver.steps", n)).transpose()?;
    let (dt, steps) = match (dt, steps, duration) {
        (Some(dt), Some(steps), None) => (dt, steps),
        (None, Some(steps), Some(duration)) => (duration / steps as f64, steps),
        (Some(dt), None, Some(duration)) => {
            let ratio = duration / dt;
            let whole = ratio.round();
            if !((ratio - whole).abs() <= WHOLE * ratio
                && (1.0..=MOST_STEPS as f64).contains(&whole))
            {
                let found = format!("{duration} s, which is {ratio} steps of {dt} s");
                let allowed = "a whole number of steps, 1 to 10000000";
                return Err(context.value("solver.duration", found, allowed));
            }
            (dt, whole as usize)
        }
        (None, None, None) => return Err(context.value("solver", "no time grid", GRID)),
        (Some(_), Some(_), Some(_)) => {
            return Err(context.value("solver.duration", "dt, steps and duration", GRID));
        }
        (Some(_), None, None) => return Err(context.value("solver.dt", "dt alone", GRID)),
        (None, Some(_), None) => return Err(context.value("solver.steps", "steps alone", GRID)),
        (None, None, Some(_)) => {
            return Err(context.value("solver.duration", "duration alone", GRID));
        }
    };
    if dt < f64::MIN_POSITIVE {
        return Err(context.value("solver.duration", format!("steps of {dt} s"), "steps > 0 s"));
    }
    Ok(vec![dt; steps])
}

fn check_steps(context: &Context<'_>, field: &str, steps: usize) -> Result<usize, FileError> {
    if (1..=MOST_STEPS).contains(&steps) {
        Ok(steps)
    } else {
        Err(context.value(field, steps, "1 to 10000000 steps"))
    }
}

fn explicit(context: &Context<'_>, solver: &Solver, list: &[f64]) -> Result<Vec<f64>, FileError> {
    if solver.dt.is_some() || solver.steps.is_some() || solver.duration.is_some() {
        let found = "steps_s beside dt, steps or duration";
        return Err(context.value("solver.steps_s", found, GRID));
    }
    check_steps(context, "solver.steps_s", list.len())?;
    for (i, &x) in list.iter().enumerate() {
        if !(x > 0.0 && x.is_finite()) {
            context.positive(&format!("solver.steps_s[{i}]"), x, "s")?;
        }
    }
    Ok(list.to_vec())
}

/// Method, contact law and tolerances.
pub(super) fn settings(context: &Context<'_>, solver: &Solver) -> Result<Settings, FileError> {
    let check = |field: &str, found: f64, ok: bool, allowed: &str| {
        let field = format!("solver.{field}");
        if ok { Ok(()) } else { Err(context.value(&field, found, allowed)) }
    };
    let (iterations, halvings) = (solver.iterations, solver.halvings);
    let tolerance = solver.tolerance;
    check("tolerance", tolerance, tolerance > 0.0 && tolerance < 1.0, "> 0 and < 1")?;
    check("iterations", iterations as f64, (1..=100_000).contains(&iterations), "1 to 100000")?;
    if (solver.rotation, solver.initial_rate) == (RotationUpdate::Chart, InitialRate::FirstStep) {
        let allowed = "skew with rotation = \"chart\", which has no rate tensor";
        return Err(context.value("solver.initial_rate", "first-step", allowed));
    }
    check("halvings", halvings as f64, halvings <= 60, "0 to 60")?;
    Ok(Settings {
        method: solver.method,
        law: ContactLaw {
            schedule: schedule(context, solver)?,
            fade: solver.fade,
            ramp: solver.friction_ramp,
        },
        newton: NewtonSettings { tolerance, iterations, halvings, on_failure: solver.on_failure },
        rotation: solver.rotation,
        initial_rate: solver.initial_rate,
    })
}

fn schedule(context: &Context<'_>, solver: &Solver) -> Result<DissipationSchedule, FileError> {
    let flags = (solver.explicit_normals, solver.implicit_normal_force);
    match (solver.schedule, flags) {
        (Some(schedule), (None, None)) => Ok(schedule),
        (None, (explicit, implicit)) => {
            let flags = (explicit.unwrap_or(false), implicit.unwrap_or(false));
            DissipationSchedule::from_flags(flags.0, flags.1).map_err(|source| {
                let place = context.source.place("solver.explicit_normals");
                FileError::Contact { place, source }
            })
        }
        (Some(_), _) => {
            let found = "schedule beside explicit_normals or implicit_normal_force";
            let allowed = "schedule, or the two flags";
            Err(context.value("solver.schedule", found, allowed))
        }
    }
}
