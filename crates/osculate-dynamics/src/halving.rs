//! Steps that do not converge are cut in halves, and the motion is rolled out again on the grid that needs.
//!
//! ```text
//! Δt_n → Δt_n/2, Δt_n/2     again and again, until every step converges or one has been halved `most` times
//! ```
//!
//! What comes out is a roll-out like any other, with the scene on its own grid: derivatives of it are exact on that grid,
//! and do not know that the grid may change with the parameters. Prescribed motions stay on the geodesics between their
//! poses, wrenches are held. Only for one-step methods: the coefficients of the others are for steps of one length.

use crate::{
    BodyKind, InitialRate, OnFailure, Parameters, RunError, SceneError, Simulator, StepError,
    Trajectory,
};
use nalgebra::Vector3;
use osculate_math::se3::Pose;

/// A roll-out on the grid that it needed.
#[derive(Clone, Debug)]
pub struct Halved {
    /// The scene on that grid.
    pub simulator: Simulator,
    /// The numbers, with wrenches held.
    pub parameters: Parameters,
    /// The motion.
    pub trajectory: Trajectory,
    /// How many steps stand for each step that was asked for.
    pub substeps: Vec<usize>,
}

/// A part of a step that was asked for: `2^−halvings` of it, from a share on.
#[derive(Clone, Copy)]
struct Piece {
    step: usize,
    halvings: u32,
    from: f64,
}

impl Piece {
    fn share(self) -> f64 {
        0.5_f64.powi(self.halvings.min(1000) as i32)
    }

    fn halves(self) -> [Self; 2] {
        let first = Self { halvings: self.halvings + 1, ..self };
        [first, Self { from: self.from + first.share(), ..first }]
    }
}

impl Simulator {
    /// Rolls out with the steps that do not converge in halves, whatever the settings say of failures.
    ///
    /// * `most`: how many times a step of the grid may be halved: down to `Δt/2^most`.
    /// * `trajectory`: memory, and what may interrupt it.
    ///
    /// Every cut rolls out again from the start. The first step is not cut where the initial rate depends on its length
    /// ([`InitialRate::FirstStep`]).
    ///
    /// # Errors
    /// The failure of a step that has been halved `most` times, with the index of the step that was asked for; where the
    /// method has a memory of several steps ([`SceneError::Memory`]).
    pub fn run_halving(
        &self,
        parameters: &Parameters,
        most: u32,
        mut trajectory: Trajectory,
    ) -> Result<Halved, RunError> {
        let method = self.settings().method;
        if method.tableau(crate::integrator::MOST).history > 1 {
            return Err(SceneError::Memory { method: format!("{method:?}") }.into());
        }
        let whole = |step| Piece { step, halvings: 0, from: 0.0 };
        let mut grid: Vec<Piece> = (0..self.steps()).map(whole).collect();
        loop {
            let simulator = self.on(&grid)?;
            let parameters = self.held(parameters, &grid);
            let mut error = match simulator.run_into(&parameters, &mut trajectory) {
                Ok(()) => {
                    let mut substeps = vec![0; self.steps()];
                    grid.iter().for_each(|p| substeps[p.step] += 1);
                    return Ok(Halved { simulator, parameters, trajectory, substeps });
                }
                Err(RunError::Step(error)) => error,
                Err(error) => return Err(error),
            };
            let at = match &mut error {
                StepError::NotConverged { step, .. }
                | StepError::Singular { step, .. }
                | StepError::Diverged { step, .. }
                | StepError::Interrupted { step } => std::mem::replace(step, grid[*step].step),
            };
            let piece = grid[at];
            let kept = piece.step == 0 && self.settings().initial_rate == InitialRate::FirstStep;
            let interrupted = matches!(error, StepError::Interrupted { .. });
            if piece.halvings >= most || kept || interrupted {
                return Err(error.into());
            }
            grid.splice(at..=at, piece.halves());
        }
    }

    /// The scene on a grid of pieces.
    fn on(&self, grid: &[Piece]) -> Result<Self, SceneError> {
        let mut scene = self.scene().clone();
        for body in &mut scene.bodies {
            if let BodyKind::Static { motion } = &mut body.kind {
                *motion = poses(&body.pose, motion, grid);
            }
        }
        let mut settings = *self.settings();
        settings.newton.on_failure = OnFailure::Stop;
        let durations = grid.iter().map(|p| self.durations()[p.step] * p.share());
        Self::new(scene, settings, durations.collect())
    }

    /// The numbers, with what is given for each step held over its pieces: wrenches, efforts and targets of joints.
    fn held(&self, parameters: &Parameters, grid: &[Piece]) -> Parameters {
        let mut held = parameters.clone();
        held.wrenches = self.over(&parameters.wrenches, grid);
        if let (Some(held), Some(given)) = (&mut held.articulation, &parameters.articulation) {
            held.efforts = self.over(&given.efforts, grid);
            held.targets = self.over(&given.targets, grid);
        }
        held
    }

    /// The entries of each step, for each of its pieces.
    fn over<V: Copy>(&self, all: &[V], grid: &[Piece]) -> Vec<V> {
        grid.iter().flat_map(|p| self.of_step(all, p.step)).copied().collect()
    }
}

/// Poses at the ends of the pieces, as far as the motion goes.
fn poses(first: &Pose, motion: &[Pose], grid: &[Piece]) -> Vec<Pose> {
    let moving = grid.iter().take_while(|p| p.step < motion.len());
    let end = |p: &Piece| {
        let to = &motion[p.step];
        let share = p.from + p.share();
        if share >= 1.0 {
            return *to;
        }
        let from = if p.step == 0 { first } else { &motion[p.step - 1] };
        let (moved, turned): (Vector3<f64>, Vector3<f64>) = to.increment_from(from);
        from.incremented(&(moved * share), &(turned * share))
    };
    moving.map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_parts_of_their_step_without_gap() {
        let step = Piece { step: 3, halvings: 0, from: 0.0 };
        let [first, last] = step.halves();
        let [third, fourth] = last.halves();
        let ends: Vec<_> = [first, third, fourth].map(|p| (p.from, p.from + p.share())).into();
        assert_eq!(ends, [(0.0, 0.5), (0.5, 0.75), (0.75, 1.0)]);
        assert!([first, third, fourth].iter().all(|p| p.step == 3));
    }

    #[test]
    fn prescribed_motion_passes_through_its_poses_and_evenly_between() {
        let at = |x: f64| Pose { position: Vector3::new(x, 0.0, 0.0), ..Pose::identity() };
        let whole = Piece { step: 0, halvings: 0, from: 0.0 };
        let [a, b] = Piece { step: 1, ..whole }.halves();
        let grid = [whole, a, b, Piece { step: 2, ..whole }];
        let ends = poses(&at(0.0), &[at(1.0), at(3.0)], &grid);
        let x: Vec<f64> = ends.iter().map(|p| p.position.x).collect();
        assert_eq!(x, [1.0, 2.0, 3.0]);
    }
}
