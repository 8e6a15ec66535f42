//! The stage residual `r(q; q⁰, v⁰, θ)`, its Jacobian `K = ∂r/∂q`, and the pullback of `r·λ`.
//!
//! ```text
//! r_c = m (c − c⁰ − Δt v⁰)/Δt² − m g − F − Σ f
//! r_θ = −axial(R J (R̃ − R)ᵀ)/Δt² − τ − Σ torques    R̃ = (1 + Δt W⁰) R⁰,  J = tr(I)/2·1 − I
//! K_θθ = (tr(M) 1 − M)/Δt² + …                       M = R J R̃ᵀ
//! ```
//!
//! `r_θ` is the derivative of `Φ_rot = −tr(R J R̃ᵀ)/Δt²` along `exp(δθ) R`; `axial(R J Rᵀ) = 0` is subtracted, so that
//! products are of the size of the difference and not of the rotations (four digits at Δt = 1 ms). Contacts are found anew at every
//! evaluation. Generic over the scalar: f64 for Newton, jets for the tangent and for second derivatives.
//! With [`RotationUpdate::Chart`] `r_θ` and its contacts' `V_rel` are those of `chart.rs`.

mod body;
mod chart;
mod culling;
mod inertia;
mod near;
mod pairs;
mod pull;
mod scatter;

pub(crate) use body::Inertial;
pub(crate) use culling::Culling;
pub(crate) use near::{Again, Near};
pub(crate) use pairs::{Pair, PairSearch, join};
pub(crate) use pull::SystemBar;

use pairs::in_order;
use scatter::{scatter, scatter_blocks};

use crate::linalg::BlockMatrix;
use crate::linalg::blocks::BLOCK;
use crate::parameters::{Parameters, Wrench};
use crate::reduction::{JointStage, Reduction};
use crate::state::BodyState;
use crate::{RotationUpdate, Scene, SceneError};
use nalgebra::Vector3;
use osculate_contact::assembly::{Blocks, PairStage, Wrenches};
use osculate_contact::kinematics::Pullback;
use osculate_contact::{ContactLaw, ContactParams, DissipationSchedule, PairOverride};
use osculate_math::{Scalar, lift};
use std::borrow::Cow;

/// Poses, start and duration of a stage by slot, and the wrenches of its step (one a dynamic body of the scene, or none).
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a, T> {
    pub(crate) now: &'a [BodyState<T>],
    pub(crate) start: &'a [BodyState<T>],
    /// At the start of the step: where the charts of its rotations are ([`RotationUpdate::Chart`]).
    pub(crate) base: &'a [BodyState<T>],
    pub(crate) duration: f64,
    pub(crate) wrenches: &'a [Wrench<T>],
    /// Those of the joints, where the scene has any.
    pub(crate) joints: Option<JointStage<'a, T>>,
}

/// The part of a scene that one evaluation looks at: the whole, or an island. Each of its bodies has a slot, in which its states
/// stand, and its unknowns.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a, T> {
    /// Body of each slot.
    pub(crate) bodies: &'a [usize],
    /// First unknown of each slot; `None` for static bodies.
    pub(crate) unknown: &'a [Option<usize>],
    pub(crate) unknowns: usize,
    pub(crate) pairs: &'a [Pair<T>],
    /// Pairs `(i, j)`, `i < j`, of dynamic bodies (by unknowns/6) that share a block.
    pub(crate) edges: &'a [(u32, u32)],
}

impl<T> Part<'_, T> {
    /// Whether a body of a pair has unknowns: nobody asks for the force between two that have none.
    fn has_unknowns(&self, pair: &Pair<T>) -> bool {
        pair.slots.iter().any(|&slot| self.unknown[slot].is_some())
    }
}

/// A scene with the numbers of one evaluation.
#[derive(Clone, Debug)]
pub(crate) struct System<'s, T> {
    pub(crate) law: ContactLaw,
    pub(crate) rotation: RotationUpdate,
    pub(crate) bodies: Vec<Inertial<T>>,
    /// First unknown of each body; `None` for static ones.
    pub(crate) unknown: Vec<Option<usize>>,
    pub(crate) unknowns: usize,
    pub(crate) gravity: Vector3<T>,
    pub(crate) scene: &'s Scene,
    /// Joint coordinates, where the scene has any.
    pub(crate) reduction: Option<Reduction<T>>,
    contact: Vec<ContactParams<T>>,
    overrides: Vec<PairOverride<T>>,
    /// Every body has the slot of its index.
    slots: Vec<usize>,
    /// Every pair there is, and the edges: where they are few enough not to look for near ones.
    every: Option<Joined<T>>,
}

/// Pairs, and the edges of the graph that they join bodies to.
type Joined<T> = (Vec<Pair<T>>, Vec<(u32, u32)>);

/// The most unknowns of a scene whose pairs are all looked at, in one dense system.
pub(crate) const SMALL: usize = 4 * BLOCK;

/// The least pairs of a part that are evaluated in parallel.
const PARALLEL: usize = 128;

impl<'s, T: Scalar> System<'s, T> {
    /// The scene with the numbers given.
    pub(crate) fn new(
        scene: &'s Scene,
        (law, rotation): (ContactLaw, RotationUpdate),
        p: &Parameters<T>,
    ) -> Result<Self, SceneError> {
        if p.bodies.len() != scene.bodies.len() {
            return Err(SceneError::Count {
                what: "bodies of the parameters",
                found: p.bodies.len(),
                expected: scene.bodies.len(),
            });
        }
        match (&scene.articulation, &p.articulation) {
            (Some(scene), Some(p)) => p.check(scene)?,
            (None, None) => {}
            (scene, p) => {
                let (found, expected) = (usize::from(p.is_some()), usize::from(scene.is_some()));
                let what = "articulations of the parameters";
                return Err(SceneError::Count { what, found, expected });
            }
        }
        let mut unknowns = 0;
        let unknown = scene.bodies.iter().map(|b| {
            b.is_dynamic().then(|| {
                unknowns += BLOCK;
                unknowns - BLOCK
            })
        });
        let unknown: Vec<_> = unknown.collect();
        let bodies = p.bodies.iter().zip(&scene.bodies).map(|(p, b)| Inertial::new(b, p));
        let mut system = Self {
            law,
            rotation,
            bodies: bodies.collect::<Result<_, _>>()?,
            unknown,
            unknowns,
            gravity: p.gravity,
            scene,
            reduction: None,
            contact: p.bodies.iter().map(|b| b.contact).collect(),
            overrides: p.overrides.clone(),
            slots: (0..scene.bodies.len()).collect(),
            every: None,
        };
        system.reduction = Reduction::new(scene, p, &system.unknown);
        // A scene with joints is one dense system of any size.
        if unknowns <= SMALL || system.reduction.is_some() {
            let pairs = scene.pairs().into_iter();
            let mut pairs: Vec<_> = pairs.map(|(a, b)| system.pair(a, b)).collect();
            let mut edges = Vec::new();
            join(&mut pairs, &system.unknown, &mut edges);
            system.every = Some((pairs, edges));
        }
        Ok(system)
    }

    /// How many unknowns are solved for: six a body, or those of joint coordinates.
    pub(crate) fn solved(&self) -> usize {
        self.reduction.as_ref().map_or(self.unknowns, |r| r.unknowns)
    }

    /// Whether the scene is small: all its pairs are looked at, in one dense system.
    pub(crate) fn is_small(&self) -> bool {
        self.every.is_some()
    }

    /// Every pair of a small scene.
    fn small_pairs(&self) -> impl Iterator<Item = &Pair<T>> {
        self.every.iter().flat_map(|(pairs, _)| pairs)
    }

    /// Calls `f` with the whole scene and the pairs of it that can touch at a stage.
    pub(crate) fn with_whole<R>(
        &self,
        stage: &Stage<'_, T>,
        f: impl FnOnce(&Part<'_, T>) -> R,
    ) -> R {
        let whole = match &self.every {
            Some((pairs, edges)) => (Cow::Borrowed(pairs), Cow::Borrowed(edges)),
            None => {
                let (pairs, edges) = self.near_pairs(stage);
                (Cow::Owned(pairs), Cow::Owned(edges))
            }
        };
        f(&Part {
            bodies: &self.slots,
            unknown: &self.unknown,
            unknowns: self.unknowns,
            pairs: &whole.0,
            edges: &whole.1,
        })
    }

    /// Calls `f` with every pair of the scene that has samples near at a stage.
    pub(crate) fn for_each_pair(
        &self,
        stage: &Stage<'_, T>,
        mut f: impl FnMut(&Pair<T>, &PairStage<'_, T>),
    ) {
        self.with_whole(stage, |part| {
            for pair in part.pairs {
                if let Some(p) = self.pair_stage(pair, stage) {
                    f(pair, &p);
                }
            }
        });
    }

    /// The same of every pair with samples within `margin` \[m\] of being near.
    pub(crate) fn for_each_pair_within(
        &self,
        stage: &Stage<'_, T>,
        margin: f64,
        mut f: impl FnMut(&Pair<T>, &PairStage<'_, T>),
    ) {
        for pair in self.pairs_within(stage, margin) {
            match self.pair_anywhere(&pair, stage) {
                Some(p) if p.may_be_near(self.bodies[pair.a].reach, margin) => f(&pair, &p),
                _ => {}
            }
        }
    }

    /// The pair at a stage, or `None` where no sample can be near.
    pub(crate) fn pair_stage<'a>(
        &'a self,
        pair: &'a Pair<T>,
        stage: &Stage<'_, T>,
    ) -> Option<PairStage<'a, T>> {
        let p = self.pair_anywhere(pair, stage)?;
        p.may_be_near(self.bodies[pair.a].reach, 0.0).then_some(p)
    }

    /// The pair at a stage, or `None` where there is no collider.
    fn pair_anywhere<'a>(
        &'a self,
        pair: &'a Pair<T>,
        stage: &Stage<'_, T>,
    ) -> Option<PairStage<'a, T>> {
        let (a, b) = (&self.bodies[pair.a], &self.bodies[pair.b]);
        let [slot_a, slot_b] = pair.slots;
        let pullback = |states: &[BodyState<T>]| {
            Pullback::new(&states[slot_a].pose(), &states[slot_b].pose(), b.center)
        };
        let start =
            if self.has_rates() { self.carried_back(pair, stage) } else { pullback(stage.start) };
        Some(PairStage {
            law: &self.law,
            params: &pair.params,
            collider: b.collider.as_ref()?,
            points: &a.points,
            weights: &a.weights,
            normals: a.normals.as_deref(),
            now: pullback(stage.now),
            start,
            duration: stage.duration,
        })
    }

    /// As [`System::pair_stage`], after a look at the boxes.
    fn near_stage<'a>(
        &'a self,
        pair: &'a Pair<T>,
        stage: &Stage<'_, T>,
        culling: Option<&Culling>,
    ) -> Option<PairStage<'a, T>> {
        if culling.is_some_and(|boxes| boxes.apart(pair)) {
            return None;
        }
        self.pair_stage(pair, stage)
    }

    /// Writes the residual; returns the scale of the forces in it \[N\].
    pub(crate) fn residual(
        &self,
        part: &Part<'_, T>,
        stage: &Stage<'_, T>,
        culling: &mut Culling,
        r: &mut [T],
    ) -> f64 {
        let mut magnitude = self.inertial_residual(part, stage, r);
        let culling = self.culling(part, stage, culling);
        let force = |pair: &Pair<T>| {
            let p = self.near_stage(pair, stage, culling)?;
            let mut wrenches = Wrenches::default();
            p.add_forces(&mut wrenches);
            Some(wrenches)
        };
        in_order(part.pairs, force, |pair, wrenches| {
            magnitude += wrenches.magnitude;
            scatter(part, pair, stage, &wrenches, r);
        });
        magnitude
    }

    /// Writes residual and Jacobian; returns the scale of the forces \[N\].
    pub(crate) fn residual_and_jacobian(
        &self,
        part: &Part<'_, T>,
        stage: &Stage<'_, T>,
        culling: &mut Culling,
        (r, k): (&mut [T], &mut BlockMatrix<T>),
    ) -> f64 {
        let mut magnitude = self.inertial_residual(part, stage, r);
        k.clear();
        self.inertial_jacobian(part, stage, k);
        let culling = self.culling(part, stage, culling);
        let force = |pair: &Pair<T>| {
            let p = self.near_stage(pair, stage, culling)?;
            let (mut wrenches, mut blocks) = (Wrenches::default(), Blocks::default());
            p.add_forces_and_jacobian(pair.moving, &mut wrenches, &mut blocks);
            if self.has_rates() && wrenches.magnitude > 0.0 {
                let start = self.carried_back_in_jets(pair, stage);
                p.start_slopes().add_blocks(&start, pair.moving, &mut blocks);
            }
            (wrenches.magnitude > 0.0).then_some((wrenches, blocks))
        };
        in_order(part.pairs, force, |pair, (wrenches, blocks)| {
            magnitude += wrenches.magnitude;
            scatter(part, pair, stage, &wrenches, r);
            scatter_blocks(part, pair, stage, &blocks, k);
        });
        magnitude
    }

    /// Whether the residual is the gradient of a potential.
    pub(crate) fn has_potential(&self, stage: &Stage<'_, T>) -> bool {
        self.law.schedule == DissipationSchedule::StageStart
            && self.rotation == RotationUpdate::RateTensor
            && stage.wrenches.iter().all(|w| w.torque == Vector3::zeros())
    }

    /// The incremental potential \[J\] of which the residual is the gradient, where there is one: with the stage-start
    /// schedule, the rate tensor, and without applied torques.
    pub(crate) fn potential(
        &self,
        part: &Part<'_, T>,
        stage: &Stage<'_, T>,
        culling: &mut Culling,
    ) -> Option<T> {
        if !self.has_potential(stage) {
            return None;
        }
        let mut sum = self.inertial_potential(part, stage);
        let culling = self.culling(part, stage, culling);
        let energy = |pair: &Pair<T>| Some(self.near_stage(pair, stage, culling)?.potential());
        in_order(part.pairs, energy, |_, energy| sum += energy);
        Some(sum)
    }

    /// The matrix of the whole scene at a stage.
    pub(crate) fn whole_matrix(&self, stage: &Stage<'_, T>) -> BlockMatrix<T> {
        let (mut r, mut k) = (vec![T::zero(); self.unknowns], BlockMatrix::default());
        self.with_whole(stage, |part| {
            k.reset(self.unknowns / BLOCK, part.edges);
            self.residual_and_jacobian(part, stage, &mut Culling::default(), (&mut r, &mut k));
        });
        k
    }
}

/// A constant body state in another scalar.
pub(crate) fn lift_state<T: Scalar>(y: &BodyState) -> BodyState<T> {
    BodyState {
        center: lift(&y.center),
        rotation: y.rotation.map(T::from),
        velocity: lift(&y.velocity),
        rate: y.rate.map(T::from),
        momentum: lift(&y.momentum),
    }
}
