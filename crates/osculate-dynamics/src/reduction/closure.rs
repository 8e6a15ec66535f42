//! Compliant loop closures: forces between two links, or a link and the world.
//!
//! ```text
//! E = k |g|²/2 + d |g − g⁰|²/(2Δt)        r = Gᵀ (k g + d (g − g⁰)/Δt),   G = ∂g/∂x
//! g: x₁ − x₂ of the two origins;  revolute: and z₁ − z₂ of the two axes;  fixed: and log(R₁ R₂ᵀ)
//! ```
//!
//! `G` and its derivatives come from jets in the twelve increments of the two bodies.

use super::Reduction;
use super::matrix::LinkMatrix;
use crate::articulated::{Attachment, ClosureKind, LoopClosure};
use crate::linalg::blocks::{BLOCK, Block};
use crate::state::{BodyState, StateBar};
use crate::system::Stage;
use nalgebra::Vector3;
use osculate_math::se3::Pose;
use osculate_math::{Jet, Scalar, mat3, so3};

/// Unknowns of two bodies.
const BOTH: usize = 2 * BLOCK;

/// Numbers of a closure: stiffness and damping.
pub(crate) const CLOSURE_NUMBERS: usize = 2;

/// The two frames, each in the centre-of-mass frame of its body (in the world where it has none), and the numbers.
#[derive(Clone, Copy, Debug)]
struct Spring<T> {
    kind: ClosureKind,
    frames: [Pose<T>; 2],
    stiffness: T,
    damping: T,
}

impl<T: Scalar> Spring<T> {
    fn lift<U: Scalar>(&self, f: impl Fn(T) -> U) -> Spring<U> {
        let pose =
            |x: &Pose<T>| Pose { position: x.position.map(&f), rotation: x.rotation.map(&f) };
        Spring {
            kind: self.kind,
            frames: [pose(&self.frames[0]), pose(&self.frames[1])],
            stiffness: f(self.stiffness),
            damping: f(self.damping),
        }
    }

    /// `g` of the poses of the two bodies.
    fn gap(&self, bodies: &[Pose<T>; 2]) -> [T; BLOCK] {
        let frame = |i: usize| {
            let (body, frame) = (&bodies[i], &self.frames[i]);
            let position = body.position + mat3::apply(&body.rotation, &frame.position);
            (position, mat3::mul(&body.rotation, &frame.rotation))
        };
        let ((a, first), (b, second)) = (frame(0), frame(1));
        let turned: Vector3<T> = match self.kind {
            ClosureKind::Ball => Vector3::zeros(),
            ClosureKind::Revolute => (first.column(2) - second.column(2)).into_owned(),
            ClosureKind::Fixed => so3::log(&mat3::mul_transposed(&first, &second)),
        };
        let moved = a - b;
        [moved.x, moved.y, moved.z, turned.x, turned.y, turned.z]
    }

    /// `k |g|²/2 + d |g − g⁰|²/(2Δt)` \[J\].
    fn potential(&self, now: &[Pose<T>; 2], start: &[Pose<T>; 2], duration: f64) -> T {
        let pairs = self.gap(now).into_iter().zip(self.gap(start));
        pairs.fold(T::zero(), |sum, (g, g0)| {
            let moved = g - g0;
            sum + self.stiffness * g * g * 0.5 + self.damping * moved * moved * (0.5 / duration)
        })
    }

    /// Forces and torques on the two bodies, as they stand in the residual.
    fn residual(&self, now: &[Pose<T>; 2], start: &[Pose<T>; 2], duration: f64) -> [T; BOTH] {
        let gap = self.lift(Jet::<BOTH, T>::constant).gap(&seeded(now));
        let before = self.gap(start);
        let mut r = [T::zero(); BOTH];
        for (g, g0) in gap.iter().zip(&before) {
            let force = self.stiffness * g.re + self.damping * (g.re - *g0) / duration;
            for (r, by) in r.iter_mut().zip(&g.eps) {
                *r += *by * force;
            }
        }
        r
    }
}

/// Poses seeded in the increments `c + δ`, `exp(δ) R` of both.
fn seeded<T: Scalar>(poses: &[Pose<T>; 2]) -> [Pose<Jet<BOTH, T>>; 2] {
    std::array::from_fn(|i| {
        let v =
            |first: usize| Vector3::from_fn(|k, _| Jet::variable(T::zero(), BLOCK * i + first + k));
        let rotation = poses[i].rotation.map(Jet::constant);
        Pose {
            position: poses[i].position.map(Jet::constant) + v(0),
            rotation: mat3::mul(&so3::exp(&v(3)), &rotation),
        }
    })
}

/// Cotangents of what a closure is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosureBar<T> {
    /// Stiffness, damping.
    pub(crate) numbers: [T; CLOSURE_NUMBERS],
    /// Position and rotation (an increment on the left) of each frame, in its link's frame.
    pub(crate) frames: [[T; BLOCK]; 2],
}

impl<T: Scalar> ClosureBar<T> {
    pub(crate) fn zero() -> Self {
        Self { numbers: [T::zero(); CLOSURE_NUMBERS], frames: [[T::zero(); BLOCK]; 2] }
    }
}

impl<T: Scalar> Reduction<T> {
    fn spring(&self, closure: &LoopClosure<T>) -> Spring<T> {
        let frame = |a: &Attachment<T>| match a.link {
            Some(link) => {
                let center = self.model.links()[link].inertia.center;
                Pose { position: a.frame.position - center, rotation: a.frame.rotation }
            }
            None => a.frame,
        };
        Spring {
            kind: closure.kind,
            frames: [frame(&closure.first), frame(&closure.second)],
            stiffness: closure.stiffness,
            damping: closure.damping,
        }
    }

    fn poses(&self, closure: &LoopClosure<T>, states: &[BodyState<T>]) -> [Pose<T>; 2] {
        [&closure.first, &closure.second]
            .map(|a| a.link.map_or_else(Pose::identity, |link| states[self.bodies[link]].pose()))
    }

    /// First unknowns of the two bodies; `None` for the world.
    fn sides(&self, closure: &LoopClosure<T>) -> [Option<usize>; 2] {
        [closure.first.link, closure.second.link].map(|link| link.map(|i| self.at[i]))
    }

    /// Adds the forces of the closures to the residual of all bodies.
    pub(crate) fn add_closures(&self, stage: &Stage<'_, T>, r: &mut [T]) {
        for closure in self.model.closures() {
            let now = self.poses(closure, stage.now);
            let start = self.poses(closure, stage.start);
            let force = self.spring(closure).residual(&now, &start, stage.duration);
            for (side, at) in self.sides(closure).into_iter().enumerate() {
                let Some(at) = at else { continue };
                for k in 0..BLOCK {
                    r[at + k] += force[BLOCK * side + k];
                }
            }
        }
    }

    /// Their incremental potential \[J\].
    pub(super) fn closure_potential(&self, stage: &Stage<'_, T>) -> T {
        let one = |closure: &LoopClosure<T>| {
            let (now, start) = (self.poses(closure, stage.now), self.poses(closure, stage.start));
            self.spring(closure).potential(&now, &start, stage.duration)
        };
        self.model.closures().iter().fold(T::zero(), |sum, closure| sum + one(closure))
    }

    /// Writes their Jacobian.
    pub(crate) fn closure_blocks(&self, stage: &Stage<'_, T>, k: &mut LinkMatrix<T>) {
        k.closures.clear();
        for closure in self.model.closures() {
            let now = seeded(&self.poses(closure, stage.now));
            let start = self.poses(closure, stage.start);
            let start = start.map(|x| constant(&x));
            let spring = self.spring(closure).lift(Jet::constant);
            let r = spring.residual(&now, &start, stage.duration);
            let sides = self.sides(closure);
            for (i, row) in sides.into_iter().enumerate() {
                for (j, column) in sides.into_iter().enumerate() {
                    let (Some(row), Some(column)) = (row, column) else { continue };
                    let block: Block<T> = std::array::from_fn(|e| {
                        r[BLOCK * i + e / BLOCK].eps[BLOCK * j + e % BLOCK]
                    });
                    k.closures.push((row, column, block));
                }
            }
        }
    }

    /// Subtracts `∂(r·λ)/∂(start, numbers, frames)` of the closures; `centers` are those of the links.
    pub(super) fn pull_closures(
        &self,
        stage: &Stage<'_, T>,
        lambda: &[T],
        start_bars: &mut [StateBar<T>],
        (bars, centers): (&mut [ClosureBar<T>], &mut [Vector3<T>]),
    ) {
        for (closure, bar) in self.model.closures().iter().zip(bars) {
            let (now, start) = (self.poses(closure, stage.now), self.poses(closure, stage.start));
            let spring = self.spring(closure);
            let sides = self.sides(closure);
            let test: [T; BOTH] = std::array::from_fn(|k| {
                sides[k / BLOCK].map_or_else(T::zero, |at| -lambda[at + k % BLOCK])
            });
            let fixed = now.map(|x| constant(&x));
            let by_start =
                spring.lift(Jet::constant).residual(&fixed, &seeded(&start), stage.duration);
            let dot = |r: &[Jet<BOTH, T>; BOTH], e: usize| {
                r.iter().zip(&test).fold(T::zero(), |sum, (r, t)| sum + r.eps[e] * *t)
            };
            for (side, link) in [closure.first.link, closure.second.link].into_iter().enumerate() {
                let Some(link) = link else { continue };
                let state = &mut start_bars[self.bodies[link]];
                let v = |first: usize| {
                    Vector3::from_fn(|k, _| dot(&by_start, BLOCK * side + first + k))
                };
                state.center += v(0);
                state.rotation += v(3);
            }
            let mut seeded_spring = spring.lift(Jet::<BOTH, T>::constant);
            seeded_spring.frames = seeded(&spring.frames);
            let start = start.map(|x| constant(&x));
            let by_frames = seeded_spring.residual(&fixed, &start, stage.duration);
            for (side, attachment) in [&closure.first, &closure.second].into_iter().enumerate() {
                for k in 0..BLOCK {
                    let by = dot(&by_frames, BLOCK * side + k);
                    bar.frames[side][k] += by;
                    if let (Some(link), true) = (attachment.link, k < 3) {
                        centers[link][k] -= by;
                    }
                }
            }
            let mut numbers = spring.lift(Jet::<BOTH, T>::constant);
            numbers.stiffness.eps[0] = T::one();
            numbers.damping.eps[1] = T::one();
            let by_numbers = numbers.residual(&fixed, &start, stage.duration);
            for (e, number) in bar.numbers.iter_mut().enumerate() {
                *number += dot(&by_numbers, e);
            }
        }
    }
}

fn constant<const N: usize, T: Scalar>(x: &Pose<T>) -> Pose<Jet<N, T>> {
    Pose { position: x.position.map(Jet::constant), rotation: x.rotation.map(Jet::constant) }
}
