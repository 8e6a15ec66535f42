//! A scene as an experiment: its roll-out, what the measurements tell, and how that changes with the settings.

use super::channel::{Measured, Projection};
use super::criterion::Joint;
use crate::contact_model::{ContactModel, ModelError};
use crate::trust::{self, Asked, Harm, Judged, Subject};
use nalgebra::DMatrix;
use osculate_dynamics::{Kinematics, OnFailure};
use osculate_math::Jet;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Directions of one tangent.
const WIDTH: usize = 8;

/// A scene with everything resolved to places in its layout.
pub(super) struct Prepared<S: ContactModel> {
    pub(super) simulator: S,
    /// The scene's numbers with the parameters at their assumed values.
    pub(super) base: S::Parameters<f64>,
    pub(super) layout: S::Layout,
    /// Values in the scene.
    pub(super) values: Vec<f64>,
    /// Place of each parameter and `dθ/du`.
    pub(super) free: Vec<(usize, f64)>,
    /// Place of each nuisance parameter and its standard deviation.
    pub(super) nuisances: Vec<(usize, f64)>,
    pub(super) measured: Vec<Measured>,
}

/// A setting: place in the layout and value.
pub(super) type Set = (usize, f64);

/// What one experiment tells.
pub(super) struct Told {
    pub(super) joint: Joint,
    pub(super) unconverged: usize,
}

/// The nearest switch that changes a force or its derivative.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearSwitch {
    /// What is crossed.
    pub what: &'static str,
    /// Change of the parameter that leads there, in its standard error after the experiment.
    pub sigmas: f64,
    /// After which step.
    pub step: usize,
}

/// What is asked of a scene, under whichever model it is.
pub(super) trait Experiment: Send + Sync {
    /// Once `flag` is true, every answer is an error.
    fn interrupt_by(&mut self, flag: Arc<AtomicBool>);
    /// The joint information of parameters and nuisance parameters.
    fn told(&self, settings: &[Set]) -> Result<Told, ModelError>;
    /// Derivative of a scalar of `H = JᵀJ` by the settings; none without second derivatives.
    ///
    /// * `cotangent`: derivative of the scalar by `H`, symmetric.
    fn gradient(
        &self,
        settings: &[Set],
        cotangent: &DMatrix<f64>,
        jacobian: &DMatrix<f64>,
    ) -> Result<Option<Vec<f64>>, ModelError>;
    /// The nearest switch of a parameter within three of its standard errors (in its unit).
    fn switch(&self, settings: &[Set], asked: Set) -> Result<Option<NearSwitch>, ModelError>;
    /// What the derivative of the motion by a parameter is good for.
    ///
    /// * `asked`: index among the parameters, and changes in its unit.
    fn trust(
        &self,
        settings: &[Set],
        asked: Asked,
        grids: usize,
    ) -> Result<Option<Judged>, ModelError>;
}

impl<S: ContactModel> Prepared<S> {
    fn at(&self, settings: &[Set]) -> S::Parameters<f64> {
        let mut parameters = self.base.clone();
        for &(index, value) in settings {
            S::add(&self.layout, &mut parameters, index, value - self.values[index]);
        }
        parameters
    }

    /// Columns of the Jacobian: place and factor of each parameter, then of each nuisance parameter.
    fn columns(&self) -> Vec<(usize, f64)> {
        let own = self.nuisances.iter().map(|(index, _)| (*index, 1.0));
        self.free.iter().copied().chain(own).collect()
    }

    /// The measurements of a roll-out, each relative to itself, weighted by nothing.
    fn projection(
        &self,
        parameters: &S::Parameters<f64>,
        trajectory: &S::Trajectory,
    ) -> Projection {
        let of = S::of_scene(parameters);
        let motion = |step: usize, body: usize| {
            S::state(trajectory, step, body).kinematics(&of.bodies[body].center)
        };
        Projection::new(&self.measured, self.simulator.steps(), motion)
    }

    fn jacobian(
        &self,
        parameters: &S::Parameters<f64>,
        derivatives: &S::Derivatives<'_>,
        projection: &Projection,
    ) -> Result<DMatrix<f64>, ModelError> {
        let columns = self.columns();
        let mut jacobian = DMatrix::zeros(projection.rows(), columns.len());
        for (chunk, which) in columns.chunks(WIDTH).enumerate() {
            let mut seeded = S::lift::<Jet<WIDTH>>(parameters);
            for (direction, &(index, factor)) in which.iter().enumerate() {
                let mut by = Jet::constant(0.0);
                by.eps[direction] = factor;
                S::add(&self.layout, &mut seeded, index, by);
            }
            let path = S::path(derivatives, &seeded)?;
            let of = S::of_scene(&seeded);
            let motion = |step: usize, body: usize| -> Kinematics<Jet<WIDTH>> {
                S::state_on(&path, step, body).kinematics(&of.bodies[body].center)
            };
            projection.each(motion, |row, y| {
                for (direction, e) in y.eps.iter().take(which.len()).enumerate() {
                    jacobian[(row, chunk * WIDTH + direction)] = *e;
                }
            });
        }
        Ok(jacobian)
    }

    /// The roll-out at some settings, its Jacobian and what else is asked of it.
    fn with<R>(
        &self,
        settings: &[Set],
        ask: impl FnOnce(Rolled<'_, '_, S>) -> Result<R, ModelError>,
    ) -> Result<R, ModelError> {
        let parameters = self.at(settings);
        let trajectory = self.simulator.run(&parameters)?;
        // One step without a derivative for sure must not lose a candidate; what it is worth is asked apart.
        let derivatives =
            self.simulator.linearise(&parameters, &trajectory, OnFailure::Continue)?;
        let projection = self.projection(&parameters, &trajectory);
        ask(Rolled {
            parameters: &parameters,
            derivatives: &derivatives,
            projection,
            unconverged: S::unconverged(&trajectory),
        })
    }
}

/// A roll-out with its derivatives.
struct Rolled<'r, 'd, S: ContactModel + 'd> {
    parameters: &'r S::Parameters<f64>,
    derivatives: &'r S::Derivatives<'d>,
    projection: Projection,
    unconverged: usize,
}

impl<S: ContactModel> Experiment for Prepared<S> {
    fn interrupt_by(&mut self, flag: Arc<AtomicBool>) {
        self.simulator.interrupt_by(flag);
    }

    fn told(&self, settings: &[Set]) -> Result<Told, ModelError> {
        self.with(settings, |r| {
            let jacobian = self.jacobian(r.parameters, r.derivatives, &r.projection)?;
            let prior = self.nuisances.iter().map(|(_, sigma)| sigma.powi(-2)).collect();
            Ok(Told { joint: Joint { jacobian, prior }, unconverged: r.unconverged })
        })
    }

    fn gradient(
        &self,
        settings: &[Set],
        cotangent: &DMatrix<f64>,
        jacobian: &DMatrix<f64>,
    ) -> Result<Option<Vec<f64>>, ModelError> {
        // dψ = Σ_ij G_ij dH_ij = 2 Σ_i d(Σ_r (JG)_ri J_ri): the outcome of column i is Σ_r (JG)_ri y_r.
        let weights = jacobian * cotangent * 2.0;
        let columns = self.columns();
        let count = self.values.len();
        self.with(settings, |r| {
            let one = |(i, &(index, factor)): (usize, &(usize, f64))| {
                let outcome = r.projection.weighted(weights.column(i).iter().copied().collect());
                let mut direction = vec![0.0; count];
                direction[index] = factor;
                S::hessian_product(r.derivatives, &direction, &outcome)
            };
            let products: Vec<_> = columns.par_iter().enumerate().map(one).collect();
            let mut gradient = vec![0.0; settings.len()];
            for product in products {
                let Some(product) = product? else { return Ok(None) };
                for (sum, (index, _)) in gradient.iter_mut().zip(settings) {
                    *sum += product[*index];
                }
            }
            Ok(Some(gradient))
        })
    }

    fn switch(
        &self,
        settings: &[Set],
        (parameter, sigma): Set,
    ) -> Result<Option<NearSwitch>, ModelError> {
        let (index, _) = self.free[parameter];
        let found = self.with(settings, |r| S::switches(r.derivatives, &[(index, 3.0 * sigma)]))?;
        let harmful = found.into_iter().flatten().filter(|s| s.harm != Harm::None);
        let nearest = harmful.min_by(|a, b| a.distance.total_cmp(&b.distance));
        Ok(nearest.map(|s| NearSwitch { what: s.what, sigmas: s.distance / sigma, step: s.step }))
    }

    fn trust(
        &self,
        settings: &[Set],
        asked: Asked,
        grids: usize,
    ) -> Result<Option<Judged>, ModelError> {
        let parameters = self.at(settings);
        let outcome = self.with(settings, |r| {
            let jacobian = self.jacobian(r.parameters, r.derivatives, &r.projection)?;
            let column = jacobian.column(asked.index);
            let norm = column.norm();
            let along = || column.iter().map(|x| x / norm).collect();
            Ok((norm > 0.0 && norm.is_finite()).then(|| r.projection.weighted(along())))
        })?;
        let Some(outcome) = outcome else { return Ok(None) };
        let asked = Asked { index: self.free[asked.index].0, ..asked };
        let subject = Subject {
            simulator: &self.simulator,
            parameters: &parameters,
            outcome: &outcome,
            on_failure: OnFailure::Continue,
        };
        Ok(trust::assess(&subject, &[asked], grids)?.into_iter().next())
    }
}
