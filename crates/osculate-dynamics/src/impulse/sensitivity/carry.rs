//! Anchors as carried state: where they stand, and how far they were dragged.
//!
//! ```text
//! held with a body   T = R R₀ᵀ,  q = c + T (p₀ − c₀),  m = T n₀,  e = T d₀ (0 where it let go)
//! field              e, or that of the two anchors of the region
//! d = P_n [transport(field(p); m → n) + disp_a(p̄) − disp_b(p̄)],   p̄ = (p₀ + p)/2
//! ```

use crate::impulse::patch::holder;
use crate::impulse::system::System;
use nalgebra::Vector3;
use osculate_contact::impulse::patch::anchors::anchors;
use osculate_contact::impulse::patch::motion::midpoint;
use osculate_contact::impulse::patch::{
    DisplacementField, Interpolation, IsotropicFootprint, Motion, carry,
};
use osculate_geometry::manifold::ContactPoint;
use osculate_math::{Jet, Scalar, lift, mat3, se3::Pose, so3};

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
    /// Whether the two let go.
    pub(super) released: [bool; 2],
    /// Poses of the two bodies about their centres of mass at the start of the last step.
    pub(super) before: [Pose<T>; 2],
    /// And now.
    pub(super) now: [Pose<T>; 2],
    /// The body of the two that holds the memory.
    pub(super) holder: usize,
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

/// Where the anchor `index` of a region stands.
pub(super) fn position<T: Scalar>(
    points: &[ContactPoint<T>],
    index: usize,
    length: f64,
    footprint: IsotropicFootprint,
) -> Vector3<T> {
    let middles: Vec<Vector3<T>> =
        points.iter().map(|p| (p.point_a + p.point_b).map(|x| x * 0.5)).collect();
    let found = anchors(&middles, &points[0].normal, length, footprint);
    found.and_then(|a| a.points().get(index).copied()).unwrap_or(middles[0])
}

impl<T: Scalar> Memory<T> {
    /// `d` of the anchor that continues it \[m\].
    pub(super) fn displacement(&self, new: &AnchorState<T>) -> Vector3<T> {
        let (before, now) = (&self.before[self.holder], &self.now[self.holder]);
        let turn = mat3::mul_transposed(&now.rotation, &before.rotation);
        let held = |a: &AnchorState<T>, released: bool| {
            let position = now.position + mat3::apply(&turn, &(a.position - before.position));
            let d = if released { Vector3::zeros() } else { mat3::apply(&turn, &a.displacement) };
            (position, d)
        };
        let (q, e) = held(&self.old, self.released[0]);
        let m = mat3::apply(&turn, &self.old.normal);
        let field = match &self.partner {
            Some(other) => {
                let (p, f) = held(other, self.released[1]);
                DisplacementField::of_two(&[q, p], &[e, f], &m)
            }
            None => DisplacementField::uniform(e),
        };
        let motion =
            |i: usize| Motion::between(&self.before[i], &self.now[i], Interpolation::Screw);
        let middle = midpoint(&self.old.position, &new.position);
        let start = field.at(&new.position);
        carry(&start, &[m, new.normal], &[motion(0), motion(1)], &middle)
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

/// Directions of one pass of jets.
const WIDTH: usize = 9;
type Pass = Jet<WIDTH>;

impl Memory {
    /// Pullback of [`Memory::displacement`], by bodies that move; a body at rest carries nothing.
    pub(super) fn pull(
        &self,
        new: &AnchorState,
        bar: &Vector3<f64>,
        moves: [bool; 2],
    ) -> MemoryBar {
        let mut out = MemoryBar::default();
        let [place, normal] = &mut out.new;
        let mut slots: Vec<&mut Vector3<f64>> = vec![
            place,
            normal,
            &mut out.old.position,
            &mut out.old.normal,
            &mut out.old.displacement,
            &mut out.partner.position,
            &mut out.partner.displacement,
        ];
        let mut places: Vec<Slot> = (0..7).map(Slot::Vector).collect();
        for (k, (before, now)) in out.before.iter_mut().zip(&mut out.now).enumerate() {
            if moves[k] {
                let [a, b] = before;
                let [c, d] = now;
                slots.extend([a, b, c, d]);
                places.extend((0..4).map(|j| Slot::Pose(k, j)));
            }
        }
        for (slots, places) in slots.chunks_mut(WIDTH / 3).zip(places.chunks(WIDTH / 3)) {
            let by = self.along(new, places).map(|x| x.eps);
            for (i, slot) in slots.iter_mut().enumerate() {
                **slot = Vector3::from_fn(|k, _| (0..3).map(|c| by[c][3 * i + k] * bar[c]).sum());
            }
        }
        out
    }

    /// The displacement in jets of some of what it is carried from.
    fn along(&self, new: &AnchorState, places: &[Slot]) -> Vector3<Pass> {
        let mut vectors = [
            new.position,
            new.normal,
            self.old.position,
            self.old.normal,
            self.old.displacement,
            self.partner.map_or_else(Vector3::zeros, |p| p.position),
            self.partner.map_or_else(Vector3::zeros, |p| p.displacement),
        ]
        .map(|v| lift::<Pass>(&v));
        let pose = |p: &Pose| Pose {
            position: lift::<Pass>(&p.position),
            rotation: p.rotation.map(Jet::constant),
        };
        let mut poses = [self.before.each_ref().map(pose), self.now.each_ref().map(pose)];
        for (i, place) in places.iter().enumerate() {
            for k in 0..3 {
                match *place {
                    Slot::Vector(j) => vectors[j][k].eps[3 * i + k] = 1.0,
                    Slot::Pose(body, j) => {
                        let pose = &mut poses[j / 2][body];
                        if j % 2 == 0 {
                            pose.position[k].eps[3 * i + k] = 1.0;
                            continue;
                        }
                        let turned =
                            so3::skew(&Vector3::ith(k, 1.0)) * pose.rotation.map(|x: Pass| x.re);
                        for (x, t) in pose.rotation.iter_mut().zip(turned.iter()) {
                            x.eps[3 * i + k] = *t;
                        }
                    }
                }
            }
        }
        let [position, normal, p, n, d, q, e] = vectors;
        let [before, now] = poses;
        let old = AnchorState { position: p, normal: n, displacement: d };
        let partner = self.partner.map(|_| AnchorState { position: q, normal: n, displacement: e });
        let memory =
            Memory { old, partner, released: self.released, before, now, holder: self.holder };
        memory.displacement(&AnchorState { position, normal, displacement: d })
    }
}

/// What one triple of directions is.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// One of seven vectors.
    Vector(usize),
    /// Translation and rotation before, translation and rotation now of a body.
    Pose(usize, usize),
}

/// Derivatives by the points and the normal of a region.
pub(super) struct PlacesBar {
    pub(super) points: Vec<Vector3<f64>>,
    pub(super) normal: Vector3<f64>,
}

/// Pullback of the places of the anchors of a region.
pub(super) fn pull_places(
    points: &[Vector3<f64>],
    normal: &Vector3<f64>,
    (length, footprint): (f64, IsotropicFootprint),
    bars: &[AnchorBar],
) -> PlacesBar {
    let mut lifted: Vec<Vector3<Jet<3>>> = points.iter().map(lift).collect();
    let seeded = |v: &Vector3<f64>| Vector3::from_fn(|k, _| Jet::<3>::variable(v[k], k));
    let by = |points: &[Vector3<Jet<3>>], normal: &Vector3<Jet<3>>| {
        let found = anchors(points, normal, length, footprint);
        let mut sum = Vector3::zeros();
        for (p, bar) in found.as_ref().map_or(&[][..], |a| a.points()).iter().zip(bars) {
            sum +=
                Vector3::from_fn(|k, _| (0..3).map(|c| p[c].eps[k] * bar.position[c]).sum::<f64>());
        }
        sum
    };
    let constant = lift(normal);
    let mut out = PlacesBar { points: Vec::with_capacity(points.len()), normal: Vector3::zeros() };
    for (i, point) in points.iter().enumerate() {
        lifted[i] = seeded(point);
        out.points.push(by(&lifted, &constant));
        lifted[i] = lift(point);
    }
    out.normal = by(&lifted, &seeded(normal));
    out
}
