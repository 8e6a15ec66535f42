//! Sliding, spin and rolling of a contact on one ellipsoid (`condim` 4 and 6).
//!
//! ```text
//! scaled    y_i = r_i/μ_i,   w_i = μ_i u_i                     ‖y‖ ≤ r_N
//! stick     u_i = 0                                            slide  w + α y = 0,  ‖y‖ = r_N,  ŷ = y/r_N
//! dr_i = μ_i (ŷ_i dr_N + Σ T_ti s_t) + y_i dμ_i,  T ⟂ ŷ        rows   Σ T_ti (μ_i J_i dv + μ_i de_i + u_i dμ_i) + α s_t = 0
//! ```
//!
//! A coefficient of zero has no row, and a derivative of zero.

use super::adjoint::{StateBar, Sweep};
use super::back::{Back, Field};
use super::ball::{ROUNDING, across};
use super::collect::INSIDE;
use super::line::LineBuf;
use super::linear::StepLinear;
use super::lines::Lines;
use super::tangent::Pass;
use crate::impulse::record::StepRecord;
use crate::impulse::rows::tangents;
use nalgebra::Vector3;
use osculate_contact::impulse::Condim;
use osculate_geometry::manifold::ContactPoint;
use osculate_math::{Jet, lift, norm::scale};
use std::ops::Range;

/// Whether spin and rolling of a contact share an ellipsoid with sliding.
pub(super) fn has(condim: Condim) -> bool {
    matches!(condim, Condim::Spinning | Condim::Rolling)
}

/// Slide, slide, spin, roll, roll.
const ROWS: usize = 5;

/// The friction of a loaded contact.
#[derive(Clone, Debug)]
pub(super) struct LiveEllipsoid {
    pub(super) contact: usize,
    pub(super) bodies: [usize; 2],
    /// Normal and tangents.
    directions: [Vector3<f64>; 3],
    pub(super) lines: [LineBuf; ROWS],
    /// `μ_i`; a row whose coefficient is zero does not act.
    coefficients: [f64; ROWS],
    /// `r_i` \[N s, N m s\].
    impulses: [f64; ROWS],
    /// `u_i` \[m/s, rad/s\].
    slips: [f64; ROWS],
    /// Where it slides, `T`.
    slides: Option<Vec<[f64; ROWS]>>,
    /// First unknown, and that of its normal.
    unknown: usize,
    pub(super) normal_unknown: usize,
    /// How far it is from the other state, as that of a pair \[–\].
    pub(super) margin: f64,
}

impl LiveEllipsoid {
    pub(super) fn slides(&self) -> bool {
        self.slides.is_some()
    }

    fn acting(&self) -> impl Iterator<Item = usize> + '_ {
        (0..ROWS).filter(|&i| self.coefficients[i] > 0.0)
    }

    /// `r` of the world, linear and angular, of numbers of the rows.
    fn world(&self, x: &[f64; ROWS]) -> [Vector3<f64>; 2] {
        let [n, s, t] = &self.directions;
        [s * x[0] + t * x[1], n * x[2] + s * x[3] + t * x[4]]
    }

    /// `w ← w + Jᵀ r`.
    pub(super) fn apply(&self, w: &mut [Vector3<f64>]) {
        self.lines.iter().zip(self.impulses).for_each(|(line, r)| line.view().apply(r, w));
    }

    /// `Σ T_ti μ_t` or `μ` of the unknowns: multipliers of the rows.
    fn multipliers(&self, unknowns: &[f64]) -> [f64; ROWS] {
        let own = &unknowns[self.unknown..];
        let mut out = [0.0; ROWS];
        match &self.slides {
            None => self.acting().zip(own).for_each(|(i, x)| out[i] = *x),
            Some(basis) => {
                for (t, x) in basis.iter().zip(own) {
                    for (out, t) in out.iter_mut().zip(t) {
                        *out += t * x;
                    }
                }
            }
        }
        out
    }
}

impl StepLinear {
    /// Friction of loaded contacts with spin and rolling.
    pub(super) fn collect_ellipsoids(
        &mut self,
        (lines, record): (&Lines<'_>, &StepRecord),
        place: &[usize],
        diagonal: &mut Vec<f64>,
    ) {
        for (index, c) in record.contacts.iter().enumerate() {
            let group = place[index]..place[index + 1];
            if group.is_empty() {
                continue;
            }
            let (condim, spin, roll) = lines.system.condim(c.bodies);
            if !has(condim) {
                continue;
            }
            let (n, point) = (c.point.normal, c.middle());
            let share = lines.system.friction(c.bodies, lines.settings);
            let coefficients = condim.coefficients([share, spin, roll]);
            let [s, t] = tangents(&n);
            let along = [s, t, n, s, t];
            let rows: [(LineBuf, f64); ROWS] = std::array::from_fn(|i| match i {
                0 | 1 => lines.line(c.bodies, &point, &along[i]),
                _ => lines.angular(c.bodies, &along[i]),
            });
            let impulses: [f64; ROWS] =
                std::array::from_fn(|i| along[i].dot(if i < 2 { &c.friction } else { &c.angular }));
            let squares = coefficients.map(|mu| mu * mu);
            let mobility =
                |((line, _), mu): (&(LineBuf, f64), f64)| mu * lines.mobility(line.view());
            let trace: f64 = rows.iter().zip(squares).map(mobility).sum();
            let slip = |(line, drift): &(LineBuf, f64)| line.view().velocity(&self.after) + drift;
            let live = LiveEllipsoid {
                contact: index,
                bodies: c.bodies,
                directions: [n, s, t],
                coefficients,
                impulses,
                slips: rows.each_ref().map(slip),
                lines: rows.map(|(line, _)| line),
                slides: None,
                unknown: self.rows.len(),
                normal_unknown: self.normals[group.start].unknown,
                margin: 0.0,
            };
            self.push_ellipsoid(live, &group, trace, diagonal);
        }
    }

    fn push_ellipsoid(
        &mut self,
        mut live: LiveEllipsoid,
        group: &Range<usize>,
        trace: f64,
        diagonal: &mut Vec<f64>,
    ) {
        let acting: Vec<usize> = live.acting().collect();
        if acting.is_empty() {
            return;
        }
        let load: f64 = self.normals[group.clone()].iter().map(|n| n.impulse).sum();
        let y: Vec<f64> = acting.iter().map(|&i| live.impulses[i] / live.coefficients[i]).collect();
        let size = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        let power: f64 = acting.iter().map(|&i| live.impulses[i] * live.slips[i]).sum();
        let alpha = if size > 0.0 { -power / (size * size) } else { 0.0 };
        if size < load * INSIDE || alpha <= ROUNDING * trace {
            live.margin = 1.0 - size / load;
            for &i in &acting {
                self.push_row(live.lines[i].view());
                diagonal.push(0.0);
            }
        } else {
            live.margin = alpha / (alpha + trace);
            let unit: Vec<f64> = y.iter().map(|y| y / size).collect();
            let mix = |weights: &[f64]| {
                let mut sum = live.lines[0].view().scaled(0.0);
                for (&i, w) in acting.iter().zip(weights) {
                    sum.add(live.lines[i].view(), w * live.coefficients[i]);
                }
                sum
            };
            let pull = mix(&unit);
            for normal in &self.normals[group.clone()] {
                self.columns.add(normal.unknown, pull.view(), 1.0);
            }
            let mut basis = Vec::new();
            for t in across(&unit) {
                self.push_row(mix(&t).view());
                diagonal.push(alpha);
                let mut all = [0.0; ROWS];
                acting.iter().zip(&t).for_each(|(&i, t)| all[i] = *t);
                basis.push(all);
            }
            live.slides = Some(basis);
        }
        self.ellipsoids.push(live);
    }
}

impl<const M: usize> Pass<'_, M> {
    /// Residuals of the rows of an ellipsoid, and its impulses.
    pub(super) fn ellipsoid(
        &self,
        live: &LiveEllipsoid,
        point: &ContactPoint<Jet<M>>,
        residual: &mut [Jet<M>],
        wrench: &mut [[Vector3<Jet<M>>; 2]],
    ) {
        let (source, parameters) = (&self.lin.source, self.parameters);
        let middle = (point.point_a + point.point_b).map(|x| x * 0.5);
        let n = point.normal;
        let [before, s, t] = live.directions.map(|d| lift(&d));
        let turned = n - before;
        let [s, t] = [s, t].map(|t: Vector3<Jet<M>>| t - scale(&before, t.dot(&turned)));
        let u = self.relative(live.bodies, &middle, |b| self.after(b));
        let [a, b] = live.bodies.map(|b| self.after(b)[1]);
        let w = a - b;
        let slips = [s.dot(&u), t.dot(&u), n.dot(&w), s.dot(&w), t.dot(&w)];
        let scene = source.simulator.scene();
        let triple = [
            parameters.friction(scene, &source.settings, live.bodies),
            parameters.spin_friction(live.bodies),
            parameters.rolling_friction(live.bodies),
        ];
        let mu = Condim::Rolling.coefficients(triple);
        let mut r = live.impulses.map(Jet::<M>::from);
        match &live.slides {
            None => {
                for (k, i) in live.acting().enumerate() {
                    residual[live.unknown + k] = slips[i];
                }
            }
            Some(basis) => {
                for i in live.acting() {
                    r[i] = mu[i] * (live.impulses[i] / live.coefficients[i]);
                }
                for (k, basis) in basis.iter().enumerate() {
                    let mut sum = Jet::from(0.0);
                    for i in live.acting() {
                        sum += mu[i] * slips[i] * basis[i];
                    }
                    residual[live.unknown + k] = sum;
                }
            }
        }
        self.push(wrench, live.bodies, &middle, &(scale(&s, r[0]) + scale(&t, r[1])));
        let torque = scale(&n, r[2]) + scale(&s, r[3]) + scale(&t, r[4]);
        self.twist(wrench, live.bodies, &torque);
    }
}

impl Sweep<'_> {
    pub(super) fn pull_ellipsoids(&mut self, back: &mut Back<'_>, bars: &mut [StateBar]) {
        for live in &back.linear.ellipsoids {
            let (bodies, n) = (live.bodies, &live.directions[0]);
            let p = back.record.contacts[live.contact].middle();
            let tests = live.multipliers(&back.rows);
            let scaled: [f64; ROWS] = match live.slides {
                Some(_) => std::array::from_fn(|i| -tests[i] * live.coefficients[i]),
                None => tests.map(|x| -x),
            };
            let (mut middle, mut normal) = (Vector3::zeros(), Vector3::zeros());
            for (x, field) in [(&live.impulses, Field::Change), (&scaled, Field::After)] {
                let [linear, angular] = live.world(x);
                let twists = back.twists(self.source, bodies, field);
                let [by_point, u] = self.pull_velocity(back, (&twists, &p), &linear, bars);
                middle += by_point;
                self.pull_spin(back, bodies, &angular, field);
                let w = twists.spin();
                // dt = −n (t·dn), and the axis of spin is the normal.
                let rolling = angular - n * x[2];
                normal += w * x[2] - linear * n.dot(&u) - rolling * n.dot(&w);
            }
            if live.slides.is_some() {
                let by = |i: usize| {
                    let y = live.impulses[i] / live.coefficients[i];
                    y * live.lines[i].view().velocity(&back.psi) - tests[i] * live.slips[i]
                };
                let mut sums = [0.0; 3];
                live.acting().for_each(|i| sums[[0, 0, 1, 2, 2][i]] += by(i));
                self.add_friction(bodies, sums[0]);
                let source = self.source.parameters;
                let spin = source.larger(&source.spin_friction, bodies);
                let roll = source.larger(&source.rolling_friction, bodies);
                self.total.spin_friction[spin] += sums[1];
                self.total.rolling_friction[roll] += sums[2];
            }
            let bar = &mut back.contacts[live.contact];
            bar.middle += middle;
            bar.normal += normal;
        }
    }
}
