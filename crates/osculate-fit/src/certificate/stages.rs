//! Where the forms are evaluated: stages of one pair in contact, from a trajectory and at random.
//!
//! A stage leads from the state after one step to the state after the next, `Δt_i` the duration of that step: the stage
//! of backward Euler along whatever trajectory was computed. Every pair of poses is a state that the residual has to be
//! right at, so none of it depends on the method.

use super::pair::{PairModel, PairPoses};
use nalgebra::Vector3;
use osculate_contact::{ContactLaw, DissipationSchedule, Status};
use osculate_dynamics::{BodyState, Simulator, Trajectory};
use osculate_math::{se3::Pose, so3};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};

/// Trials for one random stage.
const TRIALS: usize = 40;
/// Corrections of the depth of a random stage: another sample may become the deepest.
const DEPTH_CORRECTIONS: usize = 6;

/// A stage of one pair, in axes in which the collider has no rotation now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StageOf {
    /// Index of the pair in the list of models.
    pub(super) pair: usize,
    pub(super) start: PairPoses,
    pub(super) now: PairPoses,
    pub(super) duration: f64,
    /// Whether it was drawn, not met.
    pub(super) random: bool,
}

impl StageOf {
    fn between(pair: usize, start: PairPoses, now: PairPoses, duration: f64) -> Self {
        // The laws do not see a rotation of everything; norms of blocks do not either.
        let turn = now.collider.rotation.transpose();
        let turned = |p: &Pose| Pose { position: turn * p.position, rotation: turn * p.rotation };
        let both = |p: &PairPoses| PairPoses {
            colliding: turned(&p.colliding),
            collider: turned(&p.collider),
        };
        Self { pair, start: both(&start), now: both(&now), duration, random: false }
    }

    /// The deepest sample now: its distance to the threshold \[m\] (negative within) and the field's gradient there.
    fn deepest(&self, model: &PairModel) -> Option<(f64, Vector3<f64>)> {
        let law = ContactLaw::default();
        let stage = model.stage(&law, &model.params, (&self.start, &self.now), self.duration);
        let gaps = (0..stage.points.len()).map(|i| {
            let field = model.collider.field(&stage.sample(i).position);
            (field.phi - model.params.threshold, field.gradient)
        });
        gaps.min_by(|x, y| x.0.total_cmp(&y.0))
    }

    /// Whether a sample carries load now.
    fn touches(&self, model: &PairModel) -> bool {
        let law = ContactLaw { schedule: DissipationSchedule::Current, ..ContactLaw::default() };
        let stage = model.stage(&law, &model.params, (&self.start, &self.now), self.duration);
        let mut touches = false;
        stage.for_each_near(|i| touches |= stage.traction(i).status == Status::Contact);
        touches
    }
}

/// Poses of a pair in two consecutive states.
fn met(model: (usize, &PairModel), states: [&[BodyState]; 2], duration: f64) -> StageOf {
    let (index, m) = model;
    let [start, now] =
        states.map(|s| PairPoses { colliding: s[m.a].pose(), collider: s[m.b].pose() });
    StageOf::between(index, start, now, duration)
}

/// Every stage of a trajectory in which a pair touches.
pub(super) fn touching(
    simulator: &Simulator,
    trajectory: &Trajectory,
    models: &[PairModel],
) -> Vec<StageOf> {
    let mut stages = Vec::new();
    for step in 0..simulator.steps() {
        let states = [trajectory.path.state(step), trajectory.path.state(step + 1)];
        let duration = simulator.durations()[step];
        for model in models.iter().enumerate() {
            let stage = met(model, states, duration);
            if stage.touches(model.1) {
                stages.push(stage);
            }
        }
    }
    stages
}

/// At most `count` stages for each pair that touches: half of them evenly from those met, half random.
pub(super) fn choose(
    met: &[StageOf],
    models: &[PairModel],
    count: usize,
    seed: u64,
) -> Vec<StageOf> {
    let mut chosen = Vec::new();
    for (index, model) in models.iter().enumerate() {
        let of_pair: Vec<&StageOf> = met.iter().filter(|s| s.pair == index).collect();
        let wanted = count.div_ceil(2).min(of_pair.len());
        let even = (0..wanted).map(|k| *of_pair[k * of_pair.len() / wanted]);
        chosen.extend(even);
        if of_pair.is_empty() {
            continue;
        }
        let mut rng =
            StdRng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(index as u64));
        let speeds = speeds(&of_pair, model);
        chosen.extend((0..count / 2).filter_map(|_| drawn(&of_pair, model, speeds, &mut rng)));
    }
    chosen
}

/// Largest relative speed \[m/s\] and turning rate \[rad/s\] of the stages met, at least those of friction's falloff.
fn speeds(met: &[&StageOf], model: &PairModel) -> (f64, f64) {
    let (least, reach) = (model.params.falloff_speed, model.reach());
    // A body that touches at its centre of mass alone need not turn.
    let least_rate = if reach > 0.0 { least / reach } else { 0.0 };
    met.iter().fold((least, least_rate), |(v, w), s| {
        let (p, r) = s.now.colliding.increment_from(&s.start.colliding);
        let (pb, rb) = s.now.collider.increment_from(&s.start.collider);
        (v.max((p - pb).norm() / s.duration), w.max((r - rb).norm() / s.duration))
    })
}

/// A stage with the colliding body in any orientation, as deep as one that was met, moving in any direction.
fn drawn(
    met: &[&StageOf],
    model: &PairModel,
    (speed, rate): (f64, f64),
    rng: &mut impl Rng,
) -> Option<StageOf> {
    (0..TRIALS).find_map(|_| {
        let mut stage = *met[rng.random_range(0..met.len())];
        stage.random = true;
        let (depth, _) = stage.deepest(model)?;
        let depth = depth * (0.5 + rng.random::<f64>());
        let turn = so3::exp(&(in_ball(rng) * std::f64::consts::PI));
        stage.now.colliding.rotation = turn * stage.now.colliding.rotation;
        for _ in 0..DEPTH_CORRECTIONS {
            let (gap, gradient) = stage.deepest(model)?;
            let square = gradient.norm_squared();
            if square > 0.0 {
                stage.now.colliding.position += gradient * ((depth - gap) / square);
            }
        }
        let moved = in_ball(rng) * (speed * stage.duration);
        let turned = in_ball(rng) * (rate * stage.duration);
        stage.start.colliding = stage.now.colliding.incremented(&-moved, &-turned);
        stage.touches(model).then_some(stage)
    })
}

/// A vector of the unit ball.
fn in_ball(rng: &mut impl Rng) -> Vector3<f64> {
    loop {
        let v = Vector3::from_fn(|_, _| 2.0 * rng.random::<f64>() - 1.0);
        if v.norm_squared() <= 1.0 {
            return v;
        }
    }
}
