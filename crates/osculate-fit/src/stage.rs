//! Stages of a fit: how far roll-outs go, how the loss is lowered, what moves.

use crate::parameter::FreeParameter;
use crate::problem::Horizon;
use crate::surface::Average;
use serde::{Deserialize, Serialize};

/// The algorithm of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Bounded Levenberg–Marquardt with exact Jacobians.
    #[default]
    LevenbergMarquardt,
    /// argmin's L-BFGS.
    Lbfgs,
    /// argmin's Nelder–Mead.
    NelderMead,
    /// CMA-ES.
    CmaEs,
    /// The minimum of a smooth trend, fitted to samples in shrinking boxes.
    ResponseSurface,
}

/// One stage of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct StagePlan {
    /// How far roll-outs go.
    pub horizon: Horizon,
    /// How the loss is lowered.
    pub algorithm: Algorithm,
    /// Most iterations.
    pub iterations: usize,
    /// First simplex of Nelder–Mead, in coordinates.
    pub simplex: f64,
    /// Paths that move in this stage; the others keep their values. All where empty.
    pub free: Vec<String>,
    /// Designs of a response surface.
    pub designs: Designs,
}

impl StagePlan {
    /// Whether a parameter moves in this stage.
    pub(crate) fn moves(&self, p: &FreeParameter) -> bool {
        let named = |path: &String| *path == p.path || path == p.scene_path();
        !p.profile_only && (self.free.is_empty() || self.free.iter().any(named))
    }
}

/// The designs of a response-surface stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Designs {
    /// Points of a round.
    pub points: usize,
    /// Rounds.
    pub rounds: usize,
    /// Half width of the first box, in coordinates; a parameter's own `step` replaces it.
    pub half_width: f64,
    /// Factor of a half width after a round whose minimum is inside.
    pub shrink: f64,
    /// What is fitted.
    pub average: Average,
}

impl Default for Designs {
    fn default() -> Self {
        Self { points: 40, rounds: 3, half_width: 0.5, shrink: 0.6, average: Average::Mean }
    }
}
