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
use crate::linalg::blocks::BLOCK;
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

    /// Writes their Jacobian, column by column: nested jets of both widths would not fit on a stack.
    pub(crate) fn closure_blocks(&self, stage: &Stage<'_, T>, k: &mut LinkMatrix<T>) {
        k.closures.clear();
        for closure in self.model.closures() {
            let now = self.poses(closure, stage.now);
            let start = constant(&self.poses(closure, stage.start));
            let spring = self.spring(closure).lift(Jet::constant);
            let sides = self.sides(closure);
            let first = k.closures.len();
            let zero = [T::zero(); BLOCK * BLOCK];
            let places = sides.iter().flat_map(|row| sides.map(|column| (*row, column)));
            k.closures.extend(places.filter_map(|(r, c)| Some((r?, c?, zero))));
            for direction in 0..BOTH {
                let Some(column) = sides[direction / BLOCK] else { continue };
                let r = spring.residual(&seeded_in(&now, direction), &start, stage.duration);
                for (row, at, block) in &mut k.closures[first..] {
                    // A closure joins two bodies, so a first unknown tells which side it is.
                    if *at != column {
                        continue;
                    }
                    let side = usize::from(sides[0] != Some(*row));
                    for i in 0..BLOCK {
                        block[BLOCK * i + direction % BLOCK] = r[BLOCK * side + i].eps[0];
                    }
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
            let sides = self.sides(closure);
            let test: [T; BOTH] = std::array::from_fn(|k| {
                sides[k / BLOCK].map_or_else(T::zero, |at| -lambda[at + k % BLOCK])
            });
            let (fixed, still) = (constant(&now), constant(&start));
            let by = |spring: &Spring<Jet<1, T>>, start: &[Pose<Jet<1, T>>; 2]| {
                let r = spring.residual(&fixed, start, stage.duration);
                r.iter().zip(&test).fold(T::zero(), |sum, (r, t)| sum + r.eps[0] * *t)
            };
            let plain = self.spring(closure);
            let spring = plain.lift(Jet::constant);
            let links = [closure.first.link, closure.second.link];
            for direction in 0..BOTH {
                let (side, k) = (direction / BLOCK, direction % BLOCK);
                if let Some(link) = links[side] {
                    let state = &mut start_bars[self.bodies[link]];
                    let share = by(&spring, &seeded_in(&start, direction));
                    if k < 3 { state.center[k] += share } else { state.rotation[k - 3] += share }
                }
                let frames = seeded_in(&plain.frames, direction);
                let share = by(&Spring { frames, ..spring }, &still);
                bar.frames[side][k] += share;
                // A frame is seen from the centre of mass.
                if let (Some(link), true) = (links[side], k < 3) {
                    centers[link][k] -= share;
                }
            }
            let one = Jet { re: T::zero(), eps: [T::one()] };
            let stiffer = Spring { stiffness: spring.stiffness + one, ..spring };
            bar.numbers[0] += by(&stiffer, &still);
            let damped = Spring { damping: spring.damping + one, ..spring };
            bar.numbers[1] += by(&damped, &still);
        }
    }
}

/// Poses seeded in one of the increments `c + δ`, `exp(δ) R` of both.
fn seeded_in<T: Scalar>(poses: &[Pose<T>; 2], direction: usize) -> [Pose<Jet<1, T>>; 2] {
    let mut out = constant(poses);
    let (pose, k) = (&mut out[direction / BLOCK], direction % BLOCK);
    if k < 3 {
        pose.position[k].eps[0] = T::one();
    } else {
        let mut turn = Vector3::zeros();
        turn[k - 3] = Jet::variable(T::zero(), 0);
        pose.rotation = mat3::mul(&so3::exp(&turn), &pose.rotation);
    }
    out
}

fn constant<const N: usize, T: Scalar>(poses: &[Pose<T>; 2]) -> [Pose<Jet<N, T>>; 2] {
    [0, 1].map(|i| Pose {
        position: poses[i].position.map(Jet::constant),
        rotation: poses[i].rotation.map(Jet::constant),
    })
}
