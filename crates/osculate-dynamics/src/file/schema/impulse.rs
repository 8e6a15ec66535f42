//! `[solver.impulse]` and `[actor.impulse]`: the impulse model.

use super::names::{
    self, ArticulatedResponseName, CombineName, CoriolisName, FootprintName, FrictionModeName,
    FrictionPointName, GyroscopicName, SolveModeName, TorsionName,
};
use crate::ImpulseSurface;
use crate::impulse::{
    ArticulatedResponse, Coriolis, FrictionMode, FrictionPoint, Gyroscopic, ImpulseSettings,
    NormalLaw, SolveMode, Torsion,
};
use osculate_contact::impulse::normal::{Rigid, SpringDamper};
use osculate_contact::impulse::patch::IsotropicFootprint;
use osculate_contact::impulse::{Condim, FrictionCombine, ImpulseError};
use serde::{Deserialize, Serialize};

/// The contact model that a scene is solved with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Tractions over surfaces.
    #[default]
    Compliant,
    /// Impulses at contact points.
    Impulse,
}

/// `[solver.impulse]`: settings of the impulse model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table of settings of the impulse model")]
pub struct Impulse {
    /// How the impulses of a contact are found.
    #[serde(with = "FrictionModeName")]
    pub friction_mode: FrictionMode,
    /// Most Gauss–Seidel sweeps a step, 1 to 10⁷.
    pub sweeps: usize,
    /// Natural residual at which a step is solved, relative \[–\], > 0.
    pub tolerance: f64,
    /// Over-relaxation \[–\], in (0, 2).
    pub relaxation: f64,
    /// In which order rows are swept.
    #[serde(with = "SolveModeName")]
    pub solve_mode: SolveMode,
    /// How contacts move a tree.
    #[serde(with = "ArticulatedResponseName")]
    pub articulated_contact_response: ArticulatedResponse,
    /// Whether sweeps that stall are helped.
    pub help_stalled: bool,
    /// Sweeps without overlap correction after the positions are known.
    pub velocity_sweeps: usize,
    /// Part of an overlap removed in a step \[–\], 0 to 1.
    pub erp: f64,
    /// Overlap left alone \[m\], ≥ 0.
    pub slop: f64,
    /// Constraint force mixing \[1/kg\], ≥ 0.
    pub cfm: f64,
    /// Part of an open gap that a step may close \[–\], ≥ 0.
    pub speculative: f64,
    /// Largest speed at which an overlap is removed \[m/s\], > 0; no limit if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_correction_speed: Option<f64>,
    /// Stiffness of a contact \[N/m\], > 0; instead of `erp`, `slop`, `cfm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal_stiffness: Option<f64>,
    /// Damping of a contact \[N s/m\], ≥ 0; with `normal_stiffness`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal_damping: Option<f64>,
    /// Softness of a contact that touches as a part of its mobility \[–\], ≥ 0.
    pub regularization: f64,
    /// Where friction of a contact acts while its two points are apart.
    #[serde(with = "FrictionPointName")]
    pub friction_point: FrictionPoint,
    /// Largest gap of a contact with friction \[m\], ≥ 0; friction at every contact if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_gap: Option<f64>,
    /// Part of the impulses of the last step that a step starts from \[–\], 0 to 1.
    pub warm_start: f64,
    /// `β` of patch friction \[–\], 0 to 1; 0 for friction at every contact point.
    pub anchor_beta: f64,
    /// Where the anchors of a footprint without a long axis stand.
    #[serde(with = "FootprintName")]
    pub footprint: IsotropicFootprint,
    /// How spin shares the friction of a region with sliding.
    #[serde(with = "TorsionName")]
    pub torsion: Torsion,
    /// How the coefficients of two actors become one.
    #[serde(with = "CombineName")]
    pub combine: FrictionCombine,
    /// Every coefficient is multiplied by it \[–\], ≥ 0.
    pub friction_scale: f64,
    /// Closing speed from which a contact rebounds \[m/s\], ≥ 0.
    pub restitution_threshold: f64,
    /// Gap up to which contacts are listed \[m\], ≥ 0.
    pub margin: f64,
    /// What the gyroscopic torque of a free actor does.
    #[serde(with = "GyroscopicName")]
    pub gyroscopic: Gyroscopic,
    /// When Coriolis and gyroscopic forces of joints act.
    #[serde(with = "CoriolisName")]
    pub coriolis: Coriolis,
}

impl Default for Impulse {
    fn default() -> Self {
        let s = ImpulseSettings::default();
        let r = Rigid::default();
        Self {
            friction_mode: s.friction_mode,
            sweeps: s.sweeps,
            tolerance: s.tolerance,
            relaxation: s.relaxation,
            solve_mode: s.solve_mode,
            articulated_contact_response: s.articulated_response,
            help_stalled: s.help_stalled,
            velocity_sweeps: s.velocity_sweeps,
            erp: r.correction,
            slop: r.slop,
            cfm: r.softness,
            speculative: r.speculative,
            max_correction_speed: None,
            normal_stiffness: None,
            normal_damping: None,
            regularization: s.regularization,
            friction_point: s.friction_point,
            friction_gap: None,
            warm_start: s.warm_start,
            anchor_beta: s.anchor_beta,
            footprint: s.footprint,
            torsion: s.torsion,
            combine: s.combine,
            friction_scale: s.friction_scale,
            restitution_threshold: s.restitution_threshold,
            margin: s.margin,
            gyroscopic: s.gyroscopic,
            coriolis: s.coriolis,
        }
    }
}

impl From<&Impulse> for ImpulseSettings {
    fn from(i: &Impulse) -> Self {
        let normal = match i.normal_stiffness {
            Some(stiffness) => {
                let damping = i.normal_damping.unwrap_or(0.0);
                NormalLaw::SpringDamper(SpringDamper { stiffness, damping })
            }
            None => NormalLaw::Rigid(Rigid {
                correction: i.erp,
                slop: i.slop,
                softness: i.cfm,
                speculative: i.speculative,
                max_correction_speed: i.max_correction_speed.unwrap_or(f64::INFINITY),
            }),
        };
        Self {
            friction_mode: i.friction_mode,
            sweeps: i.sweeps,
            tolerance: i.tolerance,
            relaxation: i.relaxation,
            solve_mode: i.solve_mode,
            articulated_response: i.articulated_contact_response,
            help_stalled: i.help_stalled,
            velocity_sweeps: i.velocity_sweeps,
            normal,
            regularization: i.regularization,
            friction_point: i.friction_point,
            friction_gap: i.friction_gap.unwrap_or(f64::INFINITY),
            warm_start: i.warm_start,
            anchor_beta: i.anchor_beta,
            footprint: i.footprint,
            torsion: i.torsion,
            combine: i.combine,
            friction_scale: i.friction_scale,
            restitution_threshold: i.restitution_threshold,
            margin: i.margin,
            gyroscopic: i.gyroscopic,
            coriolis: i.coriolis,
            ..Self::default()
        }
    }
}

/// `[actor.impulse]`: what the impulse model needs of a surface beside `contact.mu`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table of impulse parameters")]
pub struct ActorImpulse {
    /// Coefficient of restitution \[–\], 0 to 1; the mean of two actors acts.
    pub restitution: f64,
    /// Effective radius of spin friction \[m\], ≥ 0.
    pub torsional_radius: f64,
    /// Radius of the cap that an overlap makes a torsional radius of \[m\], ≥ 0.
    pub torsional_patch_radius: f64,
    /// Friction rows of a contact: 1, 3, 4 or 6.
    pub condim: u8,
    /// Coefficient of spin with `condim` 4 and 6 \[m\], ≥ 0.
    pub spin_friction: f64,
    /// Coefficient of rolling with `condim` 6 \[m\], ≥ 0.
    pub rolling_friction: f64,
    /// How `contact.mu` combines with that of another actor; `None` is what the solver says.
    #[serde(with = "names::combine", skip_serializing_if = "Option::is_none")]
    pub combine: Option<FrictionCombine>,
    /// Whose `contact.mu` acts alone, where the two differ.
    pub friction_priority: i32,
}

impl Default for ActorImpulse {
    fn default() -> Self {
        Self {
            restitution: 0.0,
            torsional_radius: 0.0,
            torsional_patch_radius: 0.0,
            condim: 3,
            spin_friction: 0.0,
            rolling_friction: 0.0,
            combine: None,
            friction_priority: 0,
        }
    }
}

impl TryFrom<&ActorImpulse> for ImpulseSurface {
    type Error = ImpulseError;

    fn try_from(a: &ActorImpulse) -> Result<Self, ImpulseError> {
        Ok(Self {
            restitution: a.restitution,
            torsional_radius: a.torsional_radius,
            torsional_patch_radius: a.torsional_patch_radius,
            condim: Condim::try_from(a.condim)?,
            spin_friction: a.spin_friction,
            rolling_friction: a.rolling_friction,
            combine: a.combine,
            friction_priority: a.friction_priority,
        })
    }
}
