//! Is the dissipative residual the gradient of `Δt_i R_i`? Measured, row by row of the contact page's table.
//!
//! ```text
//! ∇_q[Δt R] = Δt ∂R/∂q + ∂R/∂v        the residual holds ∂R/∂v alone        (Stage-Discrete Dissipation)
//! defect    = ‖∇_q(Δt R) − ∂R/∂v‖ / ‖∂R/∂v‖
//! ```
//!
//! At stages met along a trajectory and at random ones, three witnesses: duals, which are exact; differences of `Δt R`;
//! and the curl of the residual, by duals and by the asymmetry of the assembled matrix. What breaks the
//! potential is found by freezing one dependency at a time. Formulae and reading: `docs/certificate.md`.
//!
//! Source: *Contact* page of the SuperDex Physics documentation (Meta Platforms, Inc., CC-BY-4.0).

mod assembled;
mod causes;
mod differences;
mod events;
mod forms;
mod measure;
pub(crate) mod pair;
mod stages;
pub mod tables;
mod verdict;

pub use causes::CAUSES;
pub use events::{Events, Jump, Retention};
pub use measure::{Cause, CurlWitness, DifferenceWitness, Measurement, PairDefect, Spread};
pub use verdict::{BROKEN, EXACT, Finding};

use measure::Models;
use osculate_contact::{ContactLaw, DissipationSchedule, FrictionRamp};
use osculate_dynamics::{Parameters, RunError, Simulator, Trajectory};
use pair::PairModel;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Names of the dissipative terms, in the order of [`Measurement::terms`].
pub const TERMS: [&str; 3] = ["coulomb", "viscous", "damping"];

/// How much to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Stages a pair, half of them random, ≥ 2.
    pub states: usize,
    /// Seed of the random ones.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { states: 64, seed: 1 }
    }
}

/// A pair of the scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairInfo {
    /// Name of the colliding body.
    pub colliding: String,
    /// Name of the collider's body.
    pub collider: String,
    /// Kind of its collider.
    pub kind: &'static str,
    /// Whether the collider moves: by forces, by a prescribed motion, or not at all.
    pub motion: &'static str,
    /// Whether the colliding surface has normals.
    pub normals: bool,
    /// Stages of it that were met, and those drawn.
    pub stages: [usize; 2],
}

/// A row of the page under one variant of the law.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Flag of the page.
    pub explicit_normals: bool,
    /// Flag of the page.
    pub implicit_normal_force: bool,
    /// Name of the schedule.
    pub schedule: &'static str,
    /// Whether dissipation fades with alignment.
    pub fade: bool,
    /// Whether the friction plane is the collider's (true) or the colliding surface's.
    pub collider_normal: bool,
    /// Name of the Coulomb ramp.
    pub ramp: &'static str,
    /// Whether it is the variant of the scene.
    pub own: bool,
    /// What was measured.
    pub measured: Measurement,
    /// What it means.
    pub finding: Finding,
}

/// The certificate of a scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Certificate {
    /// The pairs that touch.
    pub pairs: Vec<PairInfo>,
    /// Three rows for each of eight variants, those of the scene's own variant first.
    pub rows: Vec<Row>,
    /// Whether the fourth combination of flags is refused, as the page says.
    pub fourth_refused: bool,
    /// What no potential speaks of.
    pub events: Events,
}

impl Certificate {
    /// Whether nothing contradicts the page.
    pub fn agrees(&self) -> bool {
        self.fourth_refused && self.rows.iter().all(|r| r.finding.agrees())
    }

    /// The rows of the scene's own variant.
    pub fn own_rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| r.own)
    }
}

/// Why there is no certificate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The trajectory could not be computed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Nothing touches.
    #[error("no sample carries load at the end of any of {steps} steps: nothing to certify")]
    NoContact {
        /// Steps of the trajectory.
        steps: usize,
    },
    /// The flag turned true.
    #[error("interrupted")]
    Interrupted,
    /// Too few stages asked for.
    #[error("states is {found}, allowed: 2 or more")]
    States {
        /// How many were asked for.
        found: usize,
    },
}

/// The name of a schedule in files.
pub(crate) fn schedule_name(schedule: DissipationSchedule) -> &'static str {
    match schedule {
        DissipationSchedule::StageStart => "stage-start",
        DissipationSchedule::CurrentGeometry => "current-geometry",
        DissipationSchedule::Current => "current",
    }
}

fn flags(schedule: DissipationSchedule) -> (bool, bool) {
    match schedule {
        DissipationSchedule::StageStart => (true, false),
        DissipationSchedule::CurrentGeometry => (false, false),
        DissipationSchedule::Current => (false, true),
    }
}

/// Certifies a scene.
///
/// * `interrupted`: once true, it ends with an error.
///
/// # Errors
/// Where its roll-out fails, nothing touches, fewer than two stages are asked for, or it was interrupted.
pub fn certify(
    simulator: &Simulator,
    parameters: &Parameters,
    settings: Settings,
    interrupted: &Arc<AtomicBool>,
) -> Result<Certificate, CertificateError> {
    if settings.states < 2 {
        return Err(CertificateError::States { found: settings.states });
    }
    let mut trajectory = Trajectory::default().interrupted_by(Arc::clone(interrupted));
    simulator.run_into(parameters, &mut trajectory)?;
    let lifted = parameters.lift();
    let models = Models {
        real: PairModel::all(simulator.scene(), parameters),
        dual: PairModel::all(simulator.scene(), &lifted),
    };
    let met = stages::touching(simulator, &trajectory, &models.real);
    if met.is_empty() {
        return Err(CertificateError::NoContact { steps: simulator.steps() });
    }
    let chosen = stages::choose(&met, &models.real, settings.states, settings.seed);
    let rows = variants(simulator, &models)
        .into_iter()
        .flat_map(|variant| DissipationSchedule::ALL.map(|schedule| (schedule, variant)))
        .map(|(schedule, variant)| match interrupted.load(Ordering::Relaxed) {
            true => Err(CertificateError::Interrupted),
            false => Ok(row(&models, schedule, variant, &chosen)),
        })
        .collect::<Result<_, _>>()?;
    let events = Events {
        retention: events::retention(simulator, &trajectory, &models),
        alignment: events::across_alignment(&models, &chosen, simulator),
        leaving: events::across_threshold(&models, &chosen, simulator),
    };
    Ok(Certificate {
        pairs: pair_infos(simulator, &models, &chosen),
        rows,
        fourth_refused: DissipationSchedule::from_flags(true, true).is_err(),
        events,
    })
}

/// A variant of the law, and whether it is the scene's.
#[derive(Clone, Copy)]
struct Variant {
    fade: bool,
    collider_normal: bool,
    ramp: FrictionRamp,
    own: bool,
}

/// Eight variants, the scene's first. Where pairs differ in the friction plane the first pair decides which is the scene's.
fn variants(simulator: &Simulator, models: &Models) -> Vec<Variant> {
    let law = simulator.settings().law;
    let own_plane = models.real.first().is_none_or(|m| m.params.collider_normal);
    let mut all = Vec::new();
    for ramp in [FrictionRamp::C1, FrictionRamp::Smooth] {
        for fade in [true, false] {
            for collider_normal in [true, false] {
                let own = (ramp, fade, collider_normal) == (law.ramp, law.fade, own_plane);
                all.push(Variant { fade, collider_normal, ramp, own });
            }
        }
    }
    all.sort_by_key(|v| !v.own);
    all
}

fn row(
    models: &Models,
    schedule: DissipationSchedule,
    variant: Variant,
    stages: &[stages::StageOf],
) -> Row {
    let Variant { fade, collider_normal, ramp, own } = variant;
    let law = ContactLaw { schedule, fade, ramp };
    let measured = measure::measure(models, &law, collider_normal, stages);
    let (explicit_normals, implicit_normal_force) = flags(schedule);
    Row {
        explicit_normals,
        implicit_normal_force,
        schedule: schedule_name(schedule),
        fade,
        collider_normal,
        ramp: match ramp {
            FrictionRamp::C1 => "c1",
            FrictionRamp::Smooth => "smooth",
        },
        own,
        finding: verdict::judge(schedule, &measured),
        measured,
    }
}

fn pair_infos(simulator: &Simulator, models: &Models, chosen: &[stages::StageOf]) -> Vec<PairInfo> {
    let bodies = &simulator.scene().bodies;
    let info = |(index, m): (usize, &PairModel)| {
        let count =
            |random| chosen.iter().filter(|s| s.pair == index && s.random == random).count();
        let prescribed = matches!(
            &bodies[m.b].kind,
            osculate_dynamics::BodyKind::Static { motion } if !motion.is_empty()
        );
        PairInfo {
            colliding: bodies[m.a].name.clone(),
            collider: bodies[m.b].name.clone(),
            kind: m.collider_kind(),
            motion: match (m.moves[1], prescribed) {
                (true, _) => "dynamic",
                (false, true) => "prescribed",
                (false, false) => "fixed",
            },
            normals: m.normals.is_some(),
            stages: [count(false), count(true)],
        }
    };
    models.real.iter().enumerate().map(info).collect()
}
