//! How to step with impulses.

use super::body::Gyroscopic;
use crate::{OnFailure, SceneError};
use osculate_contact::impulse::normal::{NormalRow, Rigid, SpringDamper};
use osculate_contact::impulse::patch::IsotropicFootprint;
use osculate_contact::impulse::{Bisection, FrictionCombine};
use osculate_math::Scalar;

/// How the three impulses of a contact are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionMode {
    /// The normal impulse first, then friction on its disk at that impulse.
    #[default]
    FixedNormal,
    /// The Coulomb cone of each contact exactly, normal and friction together.
    CoulombNewton,
    /// Bisection on the normal impulse with radial scaling of friction: a counter-example.
    Bisection,
    /// The same with a dilatant normal target: a counter-example.
    BisectionDesaxce,
}

impl FrictionMode {
    /// The law of a counter-example.
    pub fn bisection(self) -> Option<Bisection> {
        match self {
            Self::FixedNormal | Self::CoulombNewton => None,
            Self::Bisection => Some(Bisection::Plain),
            Self::BisectionDesaxce => Some(Bisection::DeSaxce),
        }
    }
}

/// How spin about the normal shares the friction of a region with sliding, where a surface has a torsional radius.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Torsion {
    /// `|τ| ≤ r (μ N − S)`: what sliding leaves. None while it slides fully.
    #[default]
    Linear,
    /// `‖r_T‖² + τ²/r² ≤ (μ N)²`.
    Ellipsoid,
    /// The limit surface of a uniformly loaded disk of radius `3/2 r`.
    LimitSurface,
}

/// What holds two bodies apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NormalLaw {
    /// Rigid, with overlap removed over several steps.
    Rigid(Rigid),
    /// A spring and a damper.
    SpringDamper(SpringDamper),
}

impl NormalLaw {
    /// The row of a gap \[m\] in a step of `duration` \[s\].
    pub fn row(&self, gap: f64, duration: f64) -> NormalRow {
        match self {
            Self::Rigid(law) => law.row(gap, duration),
            Self::SpringDamper(law) => law.row(gap, duration),
        }
    }

    /// As [`NormalLaw::row`], for a gap that carries derivatives.
    pub fn row_of<T: Scalar>(&self, gap: T, duration: f64) -> NormalRow<T> {
        match self {
            Self::Rigid(r) => Rigid {
                correction: T::from(r.correction),
                slop: T::from(r.slop),
                speculative: T::from(r.speculative),
                softness: T::from(r.softness),
                max_correction_speed: T::from(r.max_correction_speed),
            }
            .row(gap, duration),
            Self::SpringDamper(s) => {
                SpringDamper { stiffness: T::from(s.stiffness), damping: T::from(s.damping) }
                    .row(gap, duration)
            }
        }
    }
}

/// In which order rows are swept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolveMode {
    /// One after the other.
    #[default]
    Serial,
    /// In colours: no two groups of contacts of one colour act on one body, so they are solved at once.
    Colored,
}

/// How contacts move a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArticulatedResponse {
    /// Each row by its whole response `Ĥ⁻¹Jᵀ`, at once.
    #[default]
    Immediate,
    /// Rows move links as bodies of their own, and their impulses go through the tree once a sweep. Contacts between links
    /// of one tree stay immediate.
    Propagation,
}

/// When Coriolis and gyroscopic forces of a tree act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coriolis {
    /// `v_f = v + Ĥ⁻¹ h (τ − c(q, v))`: with the forces of the start, before contacts. Free motion may gain energy, by `O(h²)` a step.
    #[default]
    Explicit,
    /// After contacts, on the way from `q` to `q⁺`, and without work: see `docs/impulse.md`. Nothing that is not driven gains energy.
    Conserving,
}

/// Where friction of a contact acts while its two points are apart. Anchors act at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionPoint {
    /// On both bodies at the middle of the two points: forces are opposite in every moment.
    #[default]
    Middle,
    /// On each body at its own point: friction across a gap has a moment, the gap times the impulse.
    Own,
}

/// How to solve and to step. Units SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpulseSettings {
    /// How the impulses of a contact are found.
    pub friction_mode: FrictionMode,
    /// Most Gauss–Seidel sweeps a step, ≥ 1.
    pub sweeps: usize,
    /// Natural residual at which a step is solved, relative to the velocities that contacts have without impulses
    /// \[–\].
    pub tolerance: f64,
    /// What to do where the tolerance is not reached.
    pub on_failure: OnFailure,
    /// `ω`, over-relaxation of a row \[–\], in (0, 2).
    pub relaxation: f64,
    /// In which order rows are swept.
    pub solve_mode: SolveMode,
    /// How contacts move a tree.
    pub articulated_response: ArticulatedResponse,
    /// Whether sweeps that stall are helped: by leaps, shorter steps and exact cones. Plain sweeps only, if not.
    pub help_stalled: bool,
    /// Sweeps without overlap correction after the positions are known.
    pub velocity_sweeps: usize,
    /// What holds two bodies apart.
    pub normal: NormalLaw,
    /// Softness of the normal row of a contact that touches as a part of its mobility \[–\], ≥ 0; it adds to that of the normal law.
    pub regularization: f64,
    /// Where friction of a contact acts while its two points are apart.
    pub friction_point: FrictionPoint,
    /// Largest gap of a contact with friction \[m\], ≥ 0; infinite for friction at every contact.
    pub friction_gap: f64,
    /// Part of the impulses of the last step that a step starts from \[–\], 0 (cold) to 1.
    pub warm_start: f64,
    /// `β` of patch friction \[–\], 0 to 1; 0 for friction at every contact point.
    pub anchor_beta: f64,
    /// Where the anchors of a footprint without a long axis stand.
    pub footprint: IsotropicFootprint,
    /// How spin shares the friction of a region with sliding.
    pub torsion: Torsion,
    /// How the coefficients of two bodies become one.
    pub combine: FrictionCombine,
    /// Every friction coefficient is multiplied by it \[–\], ≥ 0.
    pub friction_scale: f64,
    /// Closing speed from which a contact rebounds \[m/s\], ≥ 0.
    pub restitution_threshold: f64,
    /// Gap up to which contacts are listed even where nothing closes it \[m\], ≥ 0.
    pub margin: f64,
    /// What the gyroscopic torque of a free body does.
    pub gyroscopic: Gyroscopic,
    /// When Coriolis and gyroscopic forces of a tree act.
    pub coriolis: Coriolis,
}

impl Default for ImpulseSettings {
    fn default() -> Self {
        Self {
            friction_mode: FrictionMode::default(),
            sweeps: 10_000,
            tolerance: 1e-8,
            on_failure: OnFailure::default(),
            relaxation: 1.0,
            solve_mode: SolveMode::default(),
            articulated_response: ArticulatedResponse::default(),
            help_stalled: true,
            velocity_sweeps: 0,
            normal: NormalLaw::Rigid(Rigid::default()),
            regularization: 0.0,
            friction_point: FrictionPoint::default(),
            friction_gap: f64::INFINITY,
            warm_start: 1.0,
            anchor_beta: 0.2,
            footprint: IsotropicFootprint::default(),
            torsion: Torsion::default(),
            combine: FrictionCombine::GeometricMean,
            friction_scale: 1.0,
            restitution_threshold: 0.5,
            margin: 1e-3,
            gyroscopic: Gyroscopic::default(),
            coriolis: Coriolis::default(),
        }
    }
}

impl ImpulseSettings {
    /// Whether friction acts at the anchors of regions: only with the default friction mode.
    pub fn patch_friction(&self) -> bool {
        self.anchor_beta > 0.0 && self.friction_mode == FrictionMode::FixedNormal
    }

    /// Checks every range.
    ///
    /// # Errors
    /// With the field, the value and what is allowed.
    pub fn validate(&self) -> Result<(), SceneError> {
        let check = |field, found: f64, ok: bool, allowed| {
            let ok = ok && found.is_finite();
            if ok { Ok(()) } else { Err(SceneError::Number { field, found, allowed }) }
        };
        let part = |x: f64| (0.0..=1.0).contains(&x);
        let sweeps = self.sweeps as f64;
        check("sweeps", sweeps, (1..=10_000_000).contains(&self.sweeps), "1 to 10000000")?;
        check("tolerance", self.tolerance, self.tolerance > 0.0, "> 0")?;
        let omega = self.relaxation;
        check("relaxation", omega, omega > 0.0 && omega < 2.0, "> 0 and < 2")?;
        let part_of = self.regularization;
        check("regularization", part_of, part_of >= 0.0, ">= 0")?;
        if self.friction_gap.is_nan() || self.friction_gap < 0.0 {
            let (field, found, allowed) = ("friction_gap", self.friction_gap, ">= 0 m");
            return Err(SceneError::Number { field, found, allowed });
        }
        check("warm_start", self.warm_start, part(self.warm_start), "0 to 1")?;
        check("anchor_beta", self.anchor_beta, part(self.anchor_beta), "0 to 1")?;
        check("friction_scale", self.friction_scale, self.friction_scale >= 0.0, ">= 0")?;
        let threshold = self.restitution_threshold;
        check("restitution_threshold", threshold, threshold >= 0.0, ">= 0 m/s")?;
        check("margin", self.margin, self.margin >= 0.0, ">= 0 m")?;
        match self.normal {
            NormalLaw::Rigid(r) => {
                check("erp", r.correction, part(r.correction), "0 to 1")?;
                check("slop", r.slop, r.slop >= 0.0, ">= 0 m")?;
                check("cfm", r.softness, r.softness >= 0.0, ">= 0 1/kg")?;
                check("speculative", r.speculative, r.speculative >= 0.0, ">= 0")
            }
            NormalLaw::SpringDamper(s) => {
                check("normal_stiffness", s.stiffness, s.stiffness > 0.0, "> 0 N/m")?;
                check("normal_damping", s.damping, s.damping >= 0.0, ">= 0 N s/m")
            }
        }
    }
}
