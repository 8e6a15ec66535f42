//! Sliding and spin of a patch on one surface (`torsion` ellipsoid or limit surface).
//!
//! ```text
//! scaled    y = (r_T, τ/ℓ),   w = (u_T + β d/h, ℓ ω_N)           y = −c g(w),  c = μ Σ r_N,  g = ∇D of the surface of c = ℓ = 1
//! ellipsoid D = ‖w‖, ℓ = r                                        limit surface: that of a disk, ℓ = 3/2 r
//! stick     w = 0                                                 slide  e = w/‖w‖,  ∇²D(e) = Σ γ_t T_t T_tᵀ,  T_t ⟂ e
//! dy = −g dc + Σ T_t s_t                                          rows   T_t·dw + α_t s_t = 0,   α_t = ‖w‖/(c γ_t)
//! ```
//!
//! `w` turns by what is across `e`, and friction by `−c ∇²D` of that; written with `s_t` the matrix stays symmetric but for the load. The lever
//! `ℓ` goes with the radius `r = max(r_min, √(δ r_patch))` of the contact of the region that overlaps most, the first at a tie.

use super::adjoint::{StateBar, Sweep};
use super::back::{Back, Field};
use super::ball::{ROUNDING, across};
use super::carry::{AnchorBar, AnchorState};
use super::collect::{Candidate, INSIDE, Region};
use super::line::LineBuf;
use super::linear::{Place, StepLinear};
use super::lines::Lines;
use super::tangent::Pass;
use crate::impulse::rows::tangents;
use crate::impulse::settings::Torsion;
use nalgebra::Vector3;
use osculate_contact::impulse::limit_surface;
use osculate_contact::impulse::torsion::effective_radius;
use osculate_geometry::manifold::ContactPoint;
use osculate_math::{Jet, lift, norm::scale};

/// Slide, slide, spin.
const ROWS: usize = 3;

/// Friction of a patch that has a load.
#[derive(Clone, Debug)]
pub(super) struct LiveTorsion {
    pub(super) place: Place,
    pub(super) bodies: [usize; 2],
    pub(super) point: Vector3<f64>,
    /// Normal and tangents.
    directions: [Vector3<f64>; 3],
    lines: [LineBuf; ROWS],
    /// `r_T` and `τ` \[N s, N m s\].
    impulses: [f64; ROWS],
    /// `u_T + β d/h` and `ω_N` \[m/s, rad/s\].
    slips: [f64; ROWS],
    displacement: Vector3<f64>,
    /// `Σ r_N` \[N s\].
    load: f64,
    /// `ℓ` \[m\], and what of it comes with each unit of the radius \[–\].
    lever: f64,
    by_radius: f64,
    /// The contact whose gap the radius has.
    nearest: usize,
    slides: Option<Slip>,
    /// First unknown, and that of a normal whose load it shares.
    unknown: usize,
    pub(super) normal_unknown: usize,
    /// How far it is from the other state, as that of a pair \[–\].
    pub(super) margin: f64,
}

/// A patch that slips.
#[derive(Clone, Debug)]
struct Slip {
    /// `−g`.
    along: Vector3<f64>,
    /// `T`; empty where the surface is a point.
    basis: Vec<Vector3<f64>>,
}

/// Where friction is on its surface.
struct OnSurface {
    /// By how much the surface must grow to pass through the impulse \[–\].
    size: f64,
    /// `−g` and `‖w‖` \[m/s\].
    along: Vector3<f64>,
    speed: f64,
    /// `T` with `γ`.
    basis: [(Vector3<f64>, f64); 2],
}

impl OnSurface {
    /// * `y`: in units of the budget.
    fn new(torsion: Torsion, y: &Vector3<f64>, slip: &Vector3<f64>) -> Self {
        if torsion != Torsion::LimitSurface {
            let size = y.norm();
            let along = y / size;
            let mut basis =
                across(along.as_slice()).into_iter().map(|t| (Vector3::from_column_slice(&t), 1.0));
            let [s, t] = [basis.next(), basis.next()].map(|t| t.unwrap_or((Vector3::zeros(), 1.0)));
            return Self { size, along, speed: -along.dot(slip), basis: [s, t] };
        }
        let (direction, size) = limit_surface::ray(&-y);
        let g = limit_surface::gradient(&direction);
        let eigen = limit_surface::hessian(&direction).symmetric_eigen();
        // The null vector is the slip itself.
        let null = eigen.eigenvectors.tr_mul(&direction).iamax();
        let [i, j] = [[1, 2], [0, 2], [0, 1]][null];
        let axis = |k: usize| (eigen.eigenvectors.column(k).into_owned(), eigen.eigenvalues[k]);
        let speed = g.dot(slip) / g.dot(&direction);
        Self { size, along: -g, speed, basis: [axis(i), axis(j)] }
    }
}

impl LiveTorsion {
    pub(super) fn slides(&self) -> bool {
        self.slides.is_some()
    }

    fn levers(&self) -> Vector3<f64> {
        Vector3::new(1.0, 1.0, self.lever)
    }

    /// `r` of the world, linear and angular, of numbers of the rows.
    fn world(&self, x: &[f64; ROWS]) -> [Vector3<f64>; 2] {
        let [n, s, t] = &self.directions;
        [s * x[0] + t * x[1], n * x[2]]
    }

    /// `w ← w + Jᵀ r`.
    pub(super) fn apply(&self, w: &mut [Vector3<f64>]) {
        self.lines.iter().zip(self.impulses).for_each(|(line, r)| line.view().apply(r, w));
    }

    /// The row of scaled weights.
    fn mix(&self, weights: &Vector3<f64>) -> LineBuf {
        let mut sum = self.lines[0].view().scaled(weights.x);
        sum.add(self.lines[1].view(), weights.y);
        sum.add(self.lines[2].view(), weights.z * self.lever);
        sum
    }

    /// Multipliers of the rows: of the scaled ones where it slips.
    fn multipliers(&self, unknowns: &[f64]) -> [f64; ROWS] {
        let own = &unknowns[self.unknown..];
        match &self.slides {
            None => [own[0], own[1], own[2]],
            Some(slip) => {
                let mixed = slip.basis.iter().zip(own).map(|(t, x)| t * *x);
                mixed.fold(Vector3::zeros(), |sum: Vector3<f64>, x| sum + x).into()
            }
        }
    }
}

impl StepLinear {
    /// Adds the friction of a patch where its group has a load.
    pub(super) fn push_torsion(
        &mut self,
        lines: &Lines<'_>,
        at: &Candidate,
        region: &Region<'_>,
        diagonal: &mut Vec<f64>,
    ) {
        let load: f64 = self.normals[region.group.clone()].iter().map(|n| n.impulse).sum();
        if load <= 0.0 {
            return;
        }
        let n = at.normal;
        let [s, t] = tangents(&n);
        let rows = [
            lines.line(at.bodies, &at.point, &s),
            lines.line(at.bodies, &at.point, &t),
            lines.angular(at.bodies, &n),
        ];
        let drift = at.displacement * (lines.settings.anchor_beta / lines.duration);
        let bias = [s.dot(&drift), t.dot(&drift), 0.0];
        let mut slips =
            rows.each_ref().map(|(line, drift)| line.view().velocity(&self.after) + drift);
        slips.iter_mut().zip(bias).for_each(|(u, b)| *u += b);
        let by_radius = if lines.settings.torsion == Torsion::LimitSurface { 1.5 } else { 1.0 };
        let mut live = LiveTorsion {
            place: at.place,
            bodies: at.bodies,
            point: at.point,
            directions: [n, s, t],
            lines: rows.map(|(line, _)| line),
            impulses: [s.dot(&at.impulse), t.dot(&at.impulse), n.dot(region.spin)],
            slips,
            displacement: at.displacement,
            load,
            lever: by_radius * region.radius,
            by_radius,
            nearest: region.nearest,
            slides: None,
            unknown: self.rows.len(),
            normal_unknown: self.normals[region.group.start].unknown,
            margin: 0.0,
        };
        let friction = lines.system.friction(at.bodies, lines.settings);
        self.settle_torsion(&mut live, lines, friction, diagonal);
        if let Some(slip) = &live.slides {
            let pull = live.mix(&slip.along);
            for normal in &self.normals[region.group.clone()] {
                self.columns.add(normal.unknown, pull.view(), friction);
            }
        }
        self.torsions.push(live);
    }

    /// Whether a patch sticks or slips, and its rows.
    fn settle_torsion(
        &mut self,
        live: &mut LiveTorsion,
        lines: &Lines<'_>,
        friction: f64,
        diagonal: &mut Vec<f64>,
    ) {
        let levers = live.levers();
        let budget = friction * live.load;
        let slip = Vector3::from(live.slips).component_mul(&levers);
        if budget <= 0.0 {
            // The surface is a point, which friction leaves against the slip.
            let along = match lines.settings.torsion {
                _ if slip.norm() <= 0.0 => Vector3::zeros(),
                Torsion::LimitSurface => -limit_surface::gradient(&slip),
                _ => -slip.normalize(),
            };
            live.margin = f64::INFINITY;
            live.slides = Some(Slip { along, basis: Vec::new() });
            return;
        }
        let y = Vector3::from(live.impulses).component_div(&levers) / budget;
        let squares = levers.component_mul(&levers);
        let trace: f64 =
            live.lines.iter().zip(squares.iter()).map(|(l, s)| lines.mobility(l.view()) * s).sum();
        let on = (y.norm() > 0.0).then(|| OnSurface::new(lines.settings.torsion, &y, &slip));
        let slides = |on: &OnSurface| on.size >= INSIDE && on.speed > ROUNDING * trace * budget;
        match on.as_ref().filter(|on| slides(on)) {
            None => {
                live.margin = 1.0 - on.map_or(0.0, |on| on.size);
                for line in &live.lines {
                    self.push_row(line.view());
                    diagonal.push(0.0);
                }
            }
            Some(on) => {
                let alpha = on.speed / budget;
                live.margin = alpha / (alpha + trace);
                for (t, bend) in &on.basis {
                    self.push_row(live.mix(t).view());
                    diagonal.push(alpha / bend);
                }
                let basis = on.basis.map(|(t, _)| t).to_vec();
                live.slides = Some(Slip { along: on.along, basis });
            }
        }
    }
}

impl<const M: usize> Pass<'_, M> {
    /// Residuals of the rows of a patch, and its impulses.
    pub(super) fn torsion(
        &self,
        live: &LiveTorsion,
        (points, anchors): (&[ContactPoint<Jet<M>>], &[AnchorState<Jet<M>>]),
        residual: &mut [Jet<M>],
        wrench: &mut [[Vector3<Jet<M>>; 2]],
    ) {
        let (source, parameters) = (&self.lin.source, self.parameters);
        let [p, n, d] = self.at(live.place, points, anchors);
        let [before, s, t] = live.directions.map(|d| lift(&d));
        let turned = n - before;
        let [s, t] = [s, t].map(|t: Vector3<Jet<M>>| t - scale(&before, t.dot(&turned)));
        let h = source.simulator.durations()[self.step];
        let drift = scale(&d, parameters.anchor_beta / h);
        let u = self.relative(live.bodies, &p, |b| self.after(b)) + drift;
        let [a, b] = live.bodies.map(|b| self.after(b)[1]);
        let slips = [s.dot(&u), t.dot(&u), n.dot(&(a - b))];
        let radius = parameters.spin_radius(live.bodies, points[live.nearest].gap);
        let levers = [Jet::from(1.0), Jet::from(1.0), radius * live.by_radius];
        let mut r = live.impulses.map(Jet::<M>::from);
        match &live.slides {
            None => residual[live.unknown..live.unknown + ROWS].copy_from_slice(&slips),
            Some(slip) => {
                let scene = source.simulator.scene();
                let mu = parameters.friction(scene, &source.settings, live.bodies);
                let grown = (mu - mu.re) * live.load;
                for i in 0..ROWS {
                    let scaled = grown * slip.along[i] + live.impulses[i] / levers[i].re;
                    r[i] = scaled * levers[i];
                }
                for (k, basis) in slip.basis.iter().enumerate() {
                    let mut sum = Jet::from(0.0);
                    for i in 0..ROWS {
                        sum += levers[i] * slips[i] * basis[i];
                    }
                    residual[live.unknown + k] = sum;
                }
            }
        }
        self.push(wrench, live.bodies, &p, &(scale(&s, r[0]) + scale(&t, r[1])));
        self.twist(wrench, live.bodies, &scale(&n, r[2]));
    }
}

impl Sweep<'_> {
    pub(super) fn pull_torsions(
        &mut self,
        back: &mut Back<'_>,
        anchors: &mut [AnchorBar],
        bars: &mut [StateBar],
    ) {
        let source = self.source;
        let h = source.simulator.durations()[back.step];
        let beta = source.settings.anchor_beta / h;
        for live in &back.linear.torsions {
            let (bodies, n, p) = (live.bodies, &live.directions[0], &live.point);
            let tests = live.multipliers(&back.rows);
            let lever = if live.slides() { live.lever } else { 1.0 };
            let rows = [-tests[0], -tests[1], -tests[2] * lever];
            let (mut middle, mut normal) = (Vector3::zeros(), Vector3::zeros());
            for (x, field) in [(&live.impulses, Field::Change), (&rows, Field::After)] {
                let [linear, angular] = live.world(x);
                let twists = back.twists(source, bodies, field);
                let [by_point, u] = self.pull_velocity(back, (&twists, p), &linear, bars);
                middle += by_point;
                self.pull_spin(back, bodies, &angular, field);
                // dt = −n (t·dn), and the axis of spin is the normal.
                normal += twists.spin() * x[2] - linear * n.dot(&u);
            }
            if let Some(slip) = &live.slides {
                let levers = live.levers();
                let moved = live.lines.each_ref().map(|line| line.view().velocity(&back.psi));
                let along = slip.along.component_mul(&levers).dot(&Vector3::from(moved));
                self.add_friction(bodies, along * live.load);
                let by_lever = live.impulses[2] / live.lever * moved[2] - tests[2] * live.slips[2];
                self.add_radius(back, (bodies, live.nearest), by_lever * live.by_radius);
            }
            match live.place {
                Place::Contact(i) => {
                    back.contacts[i].middle += middle;
                    back.contacts[i].normal += normal;
                }
                Place::Anchor(i) => {
                    let d = &live.displacement;
                    let [lambda, _] = live.world(&[tests[0], tests[1], 0.0]);
                    self.total.anchor_beta -= lambda.dot(d) / h;
                    anchors[i].position += middle;
                    anchors[i].normal += normal + lambda * (beta * n.dot(d));
                    anchors[i].displacement -= lambda * beta;
                }
            }
        }
    }

    /// By the radius of spin friction of two bodies at the gap of a contact.
    pub(super) fn add_radius(
        &mut self,
        back: &mut Back<'_>,
        (bodies, contact): ([usize; 2], usize),
        by: f64,
    ) {
        let parameters = self.source.parameters;
        let (radii, patches) = (&parameters.torsional_radius, &parameters.torsional_patch_radius);
        let [least, patch] = [radii, patches].map(|of| parameters.larger(of, bodies));
        let x = [radii[least], patches[patch], back.record.contacts[contact].point.gap];
        let seeded: [Jet<3>; 3] = std::array::from_fn(|i| Jet::variable(x[i], i));
        let [by_least, by_patch, by_gap] = effective_radius(seeded[0], seeded[1], seeded[2]).eps;
        self.total.torsional_radius[least] += by * by_least;
        self.total.torsional_patch_radius[patch] += by * by_patch;
        back.contacts[contact].gap += by * by_gap;
    }
}
