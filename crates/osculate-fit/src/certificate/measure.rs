//! One row of the page, one variant of the law: measured on every chosen stage.

use super::forms::{self, Dual, Form};
use super::pair::PairModel;
use super::stages::StageOf;
use super::{CAUSES, assembled, causes, differences};
use osculate_contact::{ContactLaw, PairParams};
use rayon::prelude::*;
use serde::Serialize;

/// Differences with a larger error of their own, relative to the residual, say nothing.
const RELIABLE: f64 = 1e-6;
/// What differences may be off by, in units of their error.
const SPREADS: f64 = 10.0;
/// And relative to the residual.
const UNSEEN: f64 = 1e-8;
/// What rounding of the elastic load may be, relative to the dissipative part of what is assembled: sums over samples and
/// products with levers make it a hundred times as much at most, which is what the verdict allows.
const ROUNDED: f64 = 1e-11;

/// A relative defect over several stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Largest \[–\].
    pub worst: f64,
    /// Median \[–\].
    pub median: f64,
    /// Stages with a residual to compare with.
    pub stages: usize,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let worst = *values.last()?;
        Some(Self { worst, median: values[values.len() / 2], stages: values.len() })
    }
}

/// What differences of `Δt R` say, on the stages where they are reliable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DifferenceWitness {
    /// Defect, with the gradient by differences.
    pub defect: Spread,
    /// Largest distance of the two gradients relative to the residual.
    pub from_duals: f64,
    /// Stages where they differ by more than the differences' own error allows.
    pub disagreements: usize,
    /// Stages where a sample switches within the steps, left out.
    pub unreliable: usize,
}

/// What the curl says, relative to the norm of the dissipative matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CurlWitness {
    /// `‖dω‖/‖M‖` by duals, largest.
    pub by_duals: f64,
    /// `‖M − Mᵀ‖/‖M‖` of the matrix that Newton sees, largest.
    pub assembled: f64,
    /// `‖M − Mᵀ + dω‖/‖M‖`, largest: the two must agree.
    pub mismatch: f64,
}

/// Share of one cause in the defect of the stage where it is worst.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// Which dependency, one of [`CAUSES`].
    pub name: &'static str,
    /// Norm of its part of the defect, relative to the residual.
    pub share: f64,
}

/// One pair's share in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairDefect {
    /// Index of the pair.
    pub pair: usize,
    /// Its defect.
    pub defect: Spread,
}

/// A row under one variant of the law.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Defect of all dissipation; `None` where no stage dissipates.
    pub defect: Option<Spread>,
    /// Defect of Coulomb friction, viscous friction and damping alone, in the order of [`TERMS`](super::TERMS).
    pub terms: [Option<Spread>; 3],
    /// By differences.
    pub differences: DifferenceWitness,
    /// By the curl.
    pub curl: CurlWitness,
    /// Curl of each term alone, as [`CurlWitness::by_duals`].
    pub term_curls: [Option<f64>; 3],
    /// What the worst defect consists of.
    pub causes: Vec<Cause>,
    /// Largest distance of the sum of the causes from the defect, relative to the residual.
    pub unexplained: f64,
    /// Largest distance of the assembled residual from the 1-form, relative to the residual.
    pub residual_mismatch: f64,
    /// Stages where rounding of the elastic load leaves too little of what is assembled; they are left out of
    /// `residual_mismatch`, `curl.assembled` and `curl.mismatch`.
    pub rounded: usize,
    /// Norm of the worst defect by the unknowns `c_A, θ_A, c_B, θ_B`, relative to the residual.
    pub by_unknowns: [f64; 4],
    /// Pair by pair.
    pub pairs: Vec<PairDefect>,
}

/// The models of a scene's pairs, in both scalars.
pub(super) struct Models {
    pub(super) real: Vec<PairModel>,
    pub(super) dual: Vec<PairModel<Dual>>,
}

/// All that is said of one stage.
struct AtStage {
    pair: usize,
    defect: f64,
    terms: [Option<(f64, f64)>; 3],
    difference: (f64, f64, f64),
    curl: CurlWitness,
    causes: [f64; 4],
    unexplained: f64,
    residual_mismatch: f64,
    rounded: bool,
    by_unknowns: [f64; 4],
}

/// Measures a row on all stages.
pub(super) fn measure(
    models: &Models,
    law: &ContactLaw,
    collider_normal: bool,
    stages: &[StageOf],
) -> Measurement {
    let found: Vec<AtStage> =
        stages.par_iter().filter_map(|stage| at(models, law, collider_normal, stage)).collect();
    let over = |f: &dyn Fn(&AtStage) -> f64| found.iter().map(f).fold(0.0, f64::max);
    let term = |k: usize| Spread::of(found.iter().filter_map(|s| s.terms[k]).map(|t| t.0));
    let term_curl =
        |k: usize| found.iter().filter_map(|s| s.terms[k]).map(|t| t.1).reduce(f64::max);
    let worst = found.iter().max_by(|a, b| a.defect.total_cmp(&b.defect));
    let pairs = (0..models.real.len()).filter_map(|pair| {
        let of = found.iter().filter(|s| s.pair == pair).map(|s| s.defect);
        Some(PairDefect { pair, defect: Spread::of(of)? })
    });
    let cause = |(k, &name): (usize, &&'static str)| Cause {
        name,
        share: worst.map_or(0.0, |s| s.causes[k]),
    };
    Measurement {
        defect: Spread::of(found.iter().map(|s| s.defect)),
        terms: std::array::from_fn(term),
        differences: witness(&found),
        curl: CurlWitness {
            by_duals: over(&|s| s.curl.by_duals),
            assembled: over(&|s| s.curl.assembled),
            mismatch: over(&|s| s.curl.mismatch),
        },
        term_curls: std::array::from_fn(term_curl),
        causes: CAUSES.iter().enumerate().map(cause).collect(),
        unexplained: over(&|s| s.unexplained),
        residual_mismatch: over(&|s| s.residual_mismatch),
        rounded: found.iter().filter(|s| s.rounded).count(),
        by_unknowns: worst.map_or([0.0; 4], |s| s.by_unknowns),
        pairs: pairs.collect(),
    }
}

fn witness(found: &[AtStage]) -> DifferenceWitness {
    let reliable = || found.iter().map(|s| s.difference).filter(|d| d.2 <= RELIABLE);
    DifferenceWitness {
        defect: Spread::of(reliable().map(|d| d.0)).unwrap_or_default(),
        from_duals: reliable().map(|d| d.1).fold(0.0, f64::max),
        disagreements: reliable().filter(|d| d.1 > (SPREADS * d.2).max(UNSEEN)).count(),
        unreliable: found.len() - reliable().count(),
    }
}

/// The parameters with one dissipative term only, in the order of [`TERMS`](super::TERMS).
fn alone(p: &PairParams<Dual>, term: usize) -> PairParams<Dual> {
    let keep = |k: usize, x: Dual| if k == term { x } else { Dual::from(0.0) };
    PairParams {
        friction: keep(0, p.friction),
        viscous_friction: keep(1, p.viscous_friction),
        damping: keep(2, p.damping),
        ..*p
    }
}

/// One stage; `None` where nothing dissipates there.
fn at(
    models: &Models,
    law: &ContactLaw,
    collider_normal: bool,
    stage: &StageOf,
) -> Option<AtStage> {
    let (model, dual) = (&models.real[stage.pair], &models.dual[stage.pair]);
    let params = PairParams { collider_normal, ..dual.params };
    let real = PairParams { collider_normal, ..model.params };
    let forms = forms::evaluate(dual, law, &params, stage);
    let size = forms.residual.norm();
    if size <= f64::MIN_POSITIVE {
        return None;
    }
    let defect = forms.gradient - forms.residual;
    let by = assembled::dissipative(model, law, &real, stage);
    let scale = by.corrected.norm().max(f64::MIN_POSITIVE);
    let asymmetry = by.corrected - by.corrected.transpose();
    let terms = std::array::from_fn(|k| term(dual, law, &alone(&params, k), stage));
    let by_differences = differences::gradient(model, law, &real, stage);
    let causes = causes::causes(dual, law, &params, stage);
    let explained: Form = causes.iter().sum();
    let relative = |f: &Form| f.norm() / size;
    let rounded = by.rounding > ROUNDED;
    let kept = |x: f64| if rounded { 0.0 } else { x };
    Some(AtStage {
        pair: stage.pair,
        defect: relative(&defect),
        terms,
        difference: (
            relative(&(by_differences.gradient - forms.residual)),
            relative(&(by_differences.gradient - forms.gradient)),
            relative(&by_differences.error),
        ),
        curl: CurlWitness {
            by_duals: forms.curl.norm() / scale,
            assembled: kept(asymmetry.norm() / scale),
            mismatch: kept((asymmetry + forms.curl).norm() / scale),
        },
        causes: causes.map(|c| relative(&c)),
        unexplained: relative(&(defect - explained)),
        residual_mismatch: kept(relative(&(by.residual - forms.residual))),
        rounded,
        by_unknowns: std::array::from_fn(|k| defect.fixed_rows::<3>(3 * k).norm() / size),
    })
}

/// Defect and curl of one term; the curl relative to the norms of what it is the difference of.
fn term(
    model: &PairModel<Dual>,
    law: &ContactLaw,
    params: &PairParams<Dual>,
    stage: &StageOf,
) -> Option<(f64, f64)> {
    let forms = forms::evaluate(model, law, params, stage);
    let size = forms.residual.norm();
    (size > f64::MIN_POSITIVE).then(|| {
        let curl = forms.curl.norm() / forms.scale.max(f64::MIN_POSITIVE);
        ((forms.gradient - forms.residual).norm() / size, curl)
    })
}
