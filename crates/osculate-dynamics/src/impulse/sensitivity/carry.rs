//! Anchors as carried state: where they stand, and how far they were dragged.
//!
//! ```text
//! held with a body   T = R R₀ᵀ,  q = c + T (p₀ − c₀),  m = T n₀,  e = T d₀;  an anchor that let go is no memory
//! field              e, or that of the two anchors of the region
//! d = P_n [transport(field(p); m → n) + disp_a(p̄) − disp_b(p̄)],   p̄ = (p₀ + p)/2
//! of two anchors: without what stretches their span
//! ```

use crate::impulse::patch::holder;
use crate::impulse::system::System;
use nalgebra::{Matrix3, Vector3};
use osculate_contact::impulse::patch::anchors::anchors;
use osculate_contact::impulse::patch::motion::midpoint;
use osculate_contact::impulse::patch::{
    DisplacementField, Interpolation, IsotropicFootprint, Motion, PlacesBar, carry, pull_anchors,
    transport,
};
use osculate_geometry::manifold::ContactPoint;
use osculate_math::{Jet, Scalar, mat3, se3::Pose, so3};

/// An anchor of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnchorState<T = f64> {
    pub(super) position: Vector3<T>,
    pub(super) normal: Vector3<T>,
    /// `d` \[m\].
    pub(super) displacement: Vector3<T>,
}

/// What an anchor continues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory<T = f64> {
    pub(super) old: AnchorState<T>,
    pub(super) partner: Option<AnchorState<T>>,
    /// Poses of the two bodies about their centres of mass at the start of the last step.
    pub(super) before: [Pose<T>; 2],
    /// And now.
    pub(super) now: [Pose<T>; 2],
    /// How they moved between.
    pub(super) motions: [Motion<T>; 2],
    /// The body of the two that holds the memory.
    pub(super) holder: usize,
}

/// How a body moved between two poses.
pub(super) fn motion<T: Scalar>(before: &Pose<T>, now: &Pose<T>) -> Motion<T> {
    Motion::between(before, now, Interpolation::Screw)
}

/// Which of two bodies holds their memories.
pub(super) fn holder_of(system: &System, bodies: [usize; 2]) -> usize {
    usize::from(holder(system, bodies) == bodies[1])
}

/// `R` of a region \[m\].
pub(super) fn length(system: &System, bodies: [usize; 2]) -> f64 {
    let [a, b] = bodies.map(|i| system.items[i].radius.unwrap_or(f64::INFINITY));
    a.min(b)
}

/// Where contacts act.
fn middles<T: Scalar>(points: &[ContactPoint<T>]) -> impl Iterator<Item = Vector3<T>> {
    points.iter().map(|p| (p.point_a + p.point_b).map(|x| x * 0.5))
}

/// The middle of a region, where friction acts that slides and spins on one surface.
pub(super) fn middle<T: Scalar>(points: &[ContactPoint<T>]) -> Vector3<T> {
    let sum = middles(points).fold(Vector3::zeros(), |sum: Vector3<T>, x| sum + x);
    sum.map(|x| x / points.len() as f64)
}

/// Where the anchor `index` of a region stands.
pub(super) fn position<T: Scalar>(
    points: &[ContactPoint<T>],
    index: usize,
    (length, footprint): (f64, IsotropicFootprint),
) -> Vector3<T> {
    let middles: Vec<Vector3<T>> = middles(points).collect();
    let found = anchors(&middles, &points[0].normal, length, footprint);
    found.and_then(|a| a.points().get(index).copied()).unwrap_or(middles[0])
}

impl<T: Scalar> Memory<T> {
    /// `d` of the anchor that continues it \[m\].
    pub(super) fn displacement(&self, new: &AnchorState<T>) -> Vector3<T> {
        let (before, now) = (&self.before[self.holder], &self.now[self.holder]);
        let turn = mat3::mul_transposed(&now.rotation, &before.rotation);
        let held = |a: &AnchorState<T>| {
            let position = now.position + mat3::apply(&turn, &(a.position - before.position));
            (position, mat3::apply(&turn, &a.displacement))
        };
        let (q, e) = held(&self.old);
        let m = mat3::apply(&turn, &self.old.normal);
        let field = match &self.partner {
            Some(other) => {
                let (p, f) = held(other);
                DisplacementField::of_two(&[q, p], &[e, f], &m)
            }
            None => DisplacementField::uniform(e),
        };
        let middle = midpoint(&self.old.position, &new.position);
        let start = field.at(&new.position);
        carry(&start, &[m, new.normal], &self.motions, &middle)
    }
}

/// Derivatives of a number by an anchor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AnchorBar {
    pub(super) position: Vector3<f64>,
    pub(super) normal: Vector3<f64>,
    pub(super) displacement: Vector3<f64>,
}

impl AnchorBar {
    pub(super) fn add(&mut self, other: &Self) {
        self.position += other.position;
        self.normal += other.normal;
        self.displacement += other.displacement;
    }
}

/// Derivatives of a number by what a displacement is carried from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MemoryBar {
    /// By position and normal of the new anchor.
    pub(super) new: [Vector3<f64>; 2],
    pub(super) old: AnchorBar,
    pub(super) partner: AnchorBar,
    /// By translation and rotation of the two bodies, before and now.
    pub(super) before: [[Vector3<f64>; 2]; 2],
    pub(super) now: [[Vector3<f64>; 2]; 2],
}

/// What turned with the holder: position, normal and displacement of an old anchor, and their derivatives.
#[derive(Clone, Copy)]
struct Held {
    position: Vector3<f64>,
    displacement: Vector3<f64>,
    position_bar: Vector3<f64>,
    displacement_bar: Vector3<f64>,
}

fn field_of(own: &Held, other: Option<&Held>, m: &Vector3<f64>) -> DisplacementField {
    match other {
        Some(o) => DisplacementField::of_two(
            &[own.position, o.position],
            &[own.displacement, o.displacement],
            m,
        ),
        None => DisplacementField::uniform(own.displacement),
    }
}

impl Memory {
    /// Pullback of [`Memory::displacement`], by bodies that move; a body at rest carries nothing.
    pub(super) fn pull(
        &self,
        new: &AnchorState,
        bar: &Vector3<f64>,
        moves: [bool; 2],
    ) -> MemoryBar {
        let mut out = MemoryBar::default();
        let (before, now) = (&self.before[self.holder], &self.now[self.holder]);
        let turn = now.rotation * before.rotation.transpose();
        let held = |a: &AnchorState| Held {
            position: now.position + turn * (a.position - before.position),
            displacement: turn * a.displacement,
            position_bar: Vector3::zeros(),
            displacement_bar: Vector3::zeros(),
        };
        let mut own = held(&self.old);
        let mut other = self.partner.as_ref().map(held);
        let m = turn * self.old.normal;
        let n = &new.normal;
        let field = field_of(&own, other.as_ref(), &m);
        let start = field.at(&new.position);
        let middle = midpoint(&self.old.position, &new.position);
        let motions = &self.motions;
        let dragged = motions[0].displacement(&middle) - motions[1].displacement(&middle);
        // d = x − n (n·x)
        let x = transport(&start, &m, n) + dragged;
        let by = bar - n * n.dot(bar);
        let (start_bar, mut m_bar, n_bar) = pull_transport(&start, &m, n, &by);
        out.new[1] = n_bar - x * n.dot(bar) - bar * n.dot(&x);
        let mut middle_bar = Vector3::zeros();
        for (k, y) in [by, -by].iter().enumerate() {
            if moves[k] {
                middle_bar += self.pull_motion(k, &motions[k], &middle, y, &mut out);
            }
        }
        out.new[0] = middle_bar * 0.5;
        out.old.position = middle_bar * 0.5;
        match &mut other {
            Some(o) => {
                let at = &new.position;
                let (by_place, by_normal) = pull_field([&mut own, o], &m, at, &start_bar);
                out.new[0] += by_place;
                m_bar += by_normal;
            }
            None => own.displacement_bar = start_bar,
        }
        self.pull_held(&turn, (&m, &m_bar), (own, other), &mut out);
        out
    }

    /// Old anchors held with a body to the anchors and the poses of the body.
    fn pull_held(
        &self,
        turn: &Matrix3<f64>,
        (m, m_bar): (&Vector3<f64>, &Vector3<f64>),
        (own, other): (Held, Option<Held>),
        out: &mut MemoryBar,
    ) {
        let (before, now) = (&self.before[self.holder], &self.now[self.holder]);
        let [mut by_now, mut by_before] = [[Vector3::zeros(); 2]; 2];
        let mut turned = |from: &Vector3<f64>, to: &Vector3<f64>, bar: &Vector3<f64>| {
            let back = turn.tr_mul(bar);
            by_now[1] += to.cross(bar);
            by_before[1] -= from.cross(&back);
            back
        };
        out.old.normal = turned(&self.old.normal, m, m_bar);
        let all = [Some((&self.old, own)), self.partner.as_ref().zip(other)];
        let mut shift = Vector3::zeros();
        for (k, (old, held)) in all.into_iter().flatten().enumerate() {
            let (from, to) = (old.position - before.position, held.position - now.position);
            let back = turned(&from, &to, &held.position_bar);
            shift += held.position_bar;
            let displaced = turned(&old.displacement, &held.displacement, &held.displacement_bar);
            let into = if k == 0 { &mut out.old } else { &mut out.partner };
            into.position += back;
            into.displacement += displaced;
        }
        by_now[0] += shift;
        by_before[0] -= turn.tr_mul(&shift);
        for k in 0..2 {
            out.now[self.holder][k] += by_now[k];
            out.before[self.holder][k] += by_before[k];
        }
    }

    /// Pullback of `y·disp(p)` of a body; returns the derivative by `p`.
    fn pull_motion(
        &self,
        body: usize,
        motion: &Motion,
        p: &Vector3<f64>,
        y: &Vector3<f64>,
        out: &mut MemoryBar,
    ) -> Vector3<f64> {
        // disp(p) = Jl⁻¹(φ) dx + φ × dx/2 + φ × (p − x̄)
        let phi = &motion.rotation;
        let dx = self.now[body].position - self.before[body].position;
        let inverse = so3::left_jacobian_inverse(phi);
        let across = y.cross(phi);
        let by_dx = inverse.tr_mul(y) + across * 0.5;
        let seeded = Vector3::from_fn(|k, _| Jet::<3>::variable(phi[k], k));
        let jacobian = so3::left_jacobian_inverse(&seeded);
        let mut by_phi = dx.cross(y) * 0.5 + (p - motion.center).cross(y);
        for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
            by_phi += Vector3::from(jacobian[(r, c)].eps) * (y[r] * dx[c]);
        }
        out.now[body][0] += by_dx - across * 0.5;
        out.before[body][0] -= by_dx + across * 0.5;
        // φ = log(R R₀ᵀ): δφ = Jl⁻¹ δ − Jl⁻ᵀ δ₀
        out.now[body][1] += inverse.tr_mul(&by_phi);
        out.before[body][1] -= inverse * by_phi;
        across
    }
}

/// Pullback of [`transport`]: by the displacement, the old and the new normal.
fn pull_transport(
    d: &Vector3<f64>,
    old: &Vector3<f64>,
    new: &Vector3<f64>,
    y: &Vector3<f64>,
) -> (Vector3<f64>, Vector3<f64>, Vector3<f64>) {
    // c d + a × d + a (a·d)/w,   a = old × new,  c = old·new,  w = 1 + c
    let (a, c) = (old.cross(new), old.dot(new));
    let w = 1.0 + c;
    if w <= f64::EPSILON {
        return (*y, Vector3::zeros(), Vector3::zeros());
    }
    let (ad, ay) = (a.dot(d), a.dot(y));
    let by_c = d.dot(y) - ay * ad / (w * w);
    let by_a = d.cross(y) + y * (ad / w) + d * (ay / w);
    (
        y * c + y.cross(&a) + a * (ay / w),
        new.cross(&by_a) + new * by_c,
        by_a.cross(old) + old * by_c,
    )
}

/// Pullback of the field of two anchors at a place: by the place and the normal; adds to the anchors.
fn pull_field(
    [a, b]: [&mut Held; 2],
    m: &Vector3<f64>,
    place: &Vector3<f64>,
    bar: &Vector3<f64>,
) -> (Vector3<f64>, Vector3<f64>) {
    let (span, change) = (b.position - a.position, b.displacement - a.displacement);
    let square = span.norm_squared();
    let arm = place - (a.position + b.position) * 0.5;
    // mean + twist m × arm,   twist = change·(m × span)/span²
    let twist = if square > 0.0 { change.dot(&m.cross(&span)) / square } else { 0.0 };
    let by_arm = (bar * twist).cross(m);
    let mut by_normal = arm.cross(&(bar * twist));
    let (mut by_span, mut by_change) = (Vector3::zeros(), Vector3::zeros());
    if square > 0.0 {
        let by_twist = bar.dot(&m.cross(&arm)) / square;
        by_change = m.cross(&span) * by_twist;
        by_normal += span.cross(&change) * by_twist;
        by_span = change.cross(m) * by_twist - span * (2.0 * by_twist * twist);
    }
    a.displacement_bar += bar * 0.5 - by_change;
    b.displacement_bar += bar * 0.5 + by_change;
    a.position_bar -= by_arm * 0.5 + by_span;
    b.position_bar += by_span - by_arm * 0.5;
    (by_arm, by_normal)
}

/// Pullback of the places of the anchors of a region; none where nothing depends on them.
pub(super) fn pull_places(
    points: &[Vector3<f64>],
    normal: &Vector3<f64>,
    region: (f64, IsotropicFootprint),
    bars: &[AnchorBar],
) -> Option<PlacesBar> {
    let [first, second] =
        [bars.first(), bars.get(1)].map(|b| b.map_or(Vector3::zeros(), |b| b.position));
    let none = first == Vector3::zeros() && second == Vector3::zeros();
    (!none).then(|| pull_anchors(points, normal, region, &[first, second]))
}
