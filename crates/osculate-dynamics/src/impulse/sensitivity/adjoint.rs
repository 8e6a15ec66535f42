//! Adjoint: one transposed solve a step, all parameters.
//!
//! ```text
//! μ = A⁻ᵀ CᵀM⁻¹ v̄,   λ = v̄ − Rᵀμ,   ψ = M⁻¹λ
//! v̄·dv = λ·dv_f + λ·d(M⁻¹) Jᵀr + Σ d[f·w_p(ψ) − Λ·w_p(v⁺)] − μ_N (db + r_N dγ) + load (x̂·J_Tψ) dshare
//! f = r_N n + r_T,  Λ = μ_N n + μ_T,   w_p(v) relative velocity at the point p of the twists v
//! ```
//!
//! Both products change with point and normal alone, and are one formula with two sets of twists: `J` and `Jᵀ` are pulled back
//! together.

use super::Linearisation;
use super::carry::{self, AnchorBar, AnchorState, Memory};
use super::free;
use super::linear::StepLinear;
use crate::impulse::body::RigidState;
use crate::impulse::record::StepRecord;
use crate::sensitivity::Outcome;
use crate::sensitivity::observe::Observer;
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::collider::DIMENSIONS;
use osculate_geometry::manifold::ContactBar;
use osculate_math::{se3::Pose, so3};

/// Derivatives by a state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StateBar {
    pub(super) center: Vector3<f64>,
    pub(super) rotation: Vector3<f64>,
    pub(super) velocity: Vector3<f64>,
    pub(super) angular_velocity: Vector3<f64>,
}

/// Derivatives by everything but states and anchors.
#[derive(Debug)]
pub(super) struct Total {
    pub(super) mass: Vec<f64>,
    pub(super) inertia: Vec<Matrix3<f64>>,
    pub(super) center: Vec<Vector3<f64>>,
    pub(super) dimensions: Vec<[f64; DIMENSIONS]>,
    /// By the coefficient of each pair of bodies.
    pub(super) friction: Vec<([usize; 2], f64)>,
    pub(super) restitution: Vec<f64>,
    pub(super) torsional_radius: Vec<f64>,
    pub(super) normal: Vec<f64>,
    pub(super) anchor_beta: f64,
    pub(super) gravity: Vector3<f64>,
    pub(super) wrenches: Vec<[Vector3<f64>; 2]>,
}

impl Total {
    fn new(bodies: usize, normal: usize, wrenches: usize) -> Self {
        Self {
            mass: vec![0.0; bodies],
            inertia: vec![Matrix3::zeros(); bodies],
            center: vec![Vector3::zeros(); bodies],
            dimensions: vec![[0.0; DIMENSIONS]; bodies],
            friction: Vec::new(),
            restitution: vec![0.0; bodies],
            torsional_radius: vec![0.0; bodies],
            normal: vec![0.0; normal],
            anchor_beta: 0.0,
            gravity: Vector3::zeros(),
            wrenches: vec![[Vector3::zeros(); 2]; wrenches],
        }
    }
}

impl Linearisation<'_> {
    /// Outcome and its derivative by every parameter of the layout.
    pub fn adjoint(&self, outcome: &impl Outcome) -> (f64, Vec<f64>) {
        let parameters = self.source.parameters;
        let bodies = self.source.system.items.len();
        let wrenches = parameters.scene.wrenches.len();
        let mut sweep = Sweep {
            lin: self,
            bars: vec![StateBar::default(); bodies],
            earlier: vec![StateBar::default(); bodies],
            anchors: Vec::new(),
            total: Total::new(bodies, parameters.normal.len(), wrenches),
            observer: Observer::default(),
            value: 0.0,
        };
        sweep.observe(self.steps.len(), outcome);
        for step in (0..self.steps.len()).rev() {
            sweep.step_back(step);
            sweep.observe(step, outcome);
        }
        (sweep.value, sweep.collect())
    }
}

/// The reverse sweep.
pub(super) struct Sweep<'a> {
    pub(super) lin: &'a Linearisation<'a>,
    /// By the states after the step that is next.
    pub(super) bars: Vec<StateBar>,
    /// By the poses one step earlier, which anchors are carried from.
    pub(super) earlier: Vec<StateBar>,
    /// By the anchors of the step that is next.
    pub(super) anchors: Vec<AnchorBar>,
    pub(super) total: Total,
    pub(super) observer: Observer<f64>,
    pub(super) value: f64,
}

/// What a step is pulled back through.
pub(super) struct Back<'a> {
    pub(super) linear: &'a StepLinear,
    pub(super) record: &'a StepRecord,
    pub(super) states: &'a [RigidState],
    pub(super) step: usize,
    /// `μ` of each unknown.
    pub(super) rows: Vec<f64>,
    /// `M⁻¹λ`.
    pub(super) psi: Vec<Vector3<f64>>,
    /// By point, normal and gap of each contact.
    pub(super) contacts: Vec<ContactBar>,
}

impl Sweep<'_> {
    fn observe(&mut self, step: usize, outcome: &impl Outcome) {
        if !outcome.observes(step) {
            return;
        }
        let source = &self.lin.source;
        let parameters = &source.parameters.scene.bodies;
        let states = source.trajectory.state(step);
        let motion = states.iter().zip(parameters).map(|(y, p)| y.kinematics(&p.center));
        self.value += self.observer.value(outcome, step, motion);
        for (i, state) in states.iter().enumerate() {
            let moves = source.system.items[i].unknown.is_some();
            let by = self.observer.gradient(outcome, step, i, moves);
            let v = |k: usize| Vector3::new(by[k], by[k + 1], by[k + 2]);
            let arm = state.rotation * parameters[i].center;
            let bar = &mut self.bars[i];
            bar.center += v(0);
            bar.rotation += v(3) - arm.cross(&v(0));
            bar.velocity += v(6);
            bar.angular_velocity += v(9);
            self.total.center[i] -= state.rotation.tr_mul(&v(0));
        }
    }

    /// From the derivatives by the states after a step to those by the states before it.
    fn step_back(&mut self, step: usize) {
        let source = &self.lin.source;
        let linear = &self.lin.steps[step];
        let record = &source.trajectory.records[step];
        let states = source.trajectory.state(step);
        let mut bars =
            std::mem::replace(&mut self.earlier, vec![StateBar::default(); states.len()]);
        let v = self.velocities(step, &mut bars);
        let mut rows = vec![0.0; linear.rows.len()];
        let mut pushed = v.clone();
        linear.respond(&mut pushed);
        for (x, column) in rows.iter_mut().zip(&linear.columns) {
            *x = column.velocity(&pushed);
        }
        linear.solve_transposed(&mut rows);
        let mut lambda = v;
        for (row, x) in linear.rows.iter().zip(&rows) {
            row.apply(-x, &mut lambda);
        }
        let mut psi = lambda.clone();
        linear.respond(&mut psi);
        let zero = ContactBar { middle: Vector3::zeros(), normal: Vector3::zeros(), gap: 0.0 };
        let contacts = vec![zero; record.contacts.len()];
        let mut back = Back { linear, record, states, step, rows, psi, contacts };
        self.pull_bodies(&back, &lambda, &mut bars);
        self.pull_normals(&mut back, &mut bars);
        self.pull_spins(&mut back);
        let mut anchors = std::mem::take(&mut self.anchors);
        anchors.resize(record.anchors.len(), AnchorBar::default());
        self.pull_pairs(&mut back, &mut anchors, &mut bars);
        self.pull_anchors(&mut back, &anchors, &mut bars);
        self.pull_contacts(&back, &mut bars);
        self.bars = bars;
    }

    /// Pulls positions back; returns the derivatives by the velocities after the step.
    fn velocities(&mut self, step: usize, bars: &mut [StateBar]) -> Vec<Vector3<f64>> {
        let source = &self.lin.source;
        let h = source.simulator.durations()[step];
        let after = &self.lin.steps[step].after;
        let mut v = Vec::with_capacity(after.len());
        for ((item, out), bar) in source.system.items.iter().zip(&self.bars).zip(bars) {
            match item.unknown {
                Some(at) => {
                    let turn = after[at + 1] * h;
                    v.push(out.velocity + out.center * h);
                    v.push(
                        out.angular_velocity + so3::left_jacobian(&turn).tr_mul(&out.rotation) * h,
                    );
                    bar.center += out.center;
                    bar.rotation += so3::exp(&turn).tr_mul(&out.rotation);
                }
                // A prescribed pose is data; a body at rest has one pose.
                None if !item.motion.is_empty() => {}
                None => {
                    bar.center += out.center;
                    bar.rotation += out.rotation;
                }
            }
        }
        v
    }

    /// Velocities without contact, and the inertia that impulses meet.
    fn pull_bodies(&mut self, back: &Back<'_>, lambda: &[Vector3<f64>], bars: &mut [StateBar]) {
        let source = &self.lin.source;
        let h = source.simulator.durations()[back.step];
        let mut impulses = vec![Vector3::zeros(); lambda.len()];
        for normal in &back.linear.normals {
            // The row, not the column: what friction adds belongs to the pairs.
            back.linear.rows[normal.unknown].apply(normal.impulse, &mut impulses);
        }
        for pair in &back.linear.pairs {
            pair.lines[0].apply(pair.impulse.x, &mut impulses);
            pair.lines[1].apply(pair.impulse.y, &mut impulses);
        }
        for spin in &back.linear.spins {
            spin.line.apply(spin.impulse, &mut impulses);
        }
        let mut changes = impulses.clone();
        back.linear.respond(&mut changes);
        for (i, item) in source.system.items.iter().enumerate() {
            let (Some(at), Some(body)) = (item.unknown, &item.inertia) else { continue };
            let (state, bar) = (&back.states[i], &mut bars[i]);
            let wrench = source.wrench(back.step, at / 2);
            bar.velocity += lambda[at];
            if item.has_gravity {
                self.total.gravity += lambda[at] * h;
            }
            let by_velocity = wrench.force * h + impulses[at];
            self.total.mass[i] -= by_velocity.dot(&lambda[at]) / (body.mass * body.mass);
            let angular = back.linear.after[at + 1] - changes[at + 1];
            let pulled = free::pull(
                body,
                state,
                (&wrench.torque, &angular, &lambda[at + 1]),
                h,
                source.settings.gyroscopic,
            );
            let (psi, change) = (back.psi[at + 1], changes[at + 1]);
            // d(R I⁻¹Rᵀ) τ = δ × change − R I⁻¹Rᵀ (δ × τ) − R I⁻¹ dI I⁻¹Rᵀ τ
            bar.rotation +=
                pulled.rotation + change.cross(&lambda[at + 1]) - impulses[at + 1].cross(&psi);
            bar.angular_velocity += pulled.angular_velocity;
            let [a, b] = [psi, change].map(|x| state.rotation.tr_mul(&x));
            self.total.inertia[i] += pulled.inertia - a * b.transpose();
            if let Some(w) =
                self.total.wrenches.get_mut(back.step * source.system.dynamic() + at / 2)
            {
                w[0] += lambda[at] * (h / body.mass);
                w[1] += pulled.torque;
            }
        }
    }

    /// Anchors to contacts, poses and the anchors that they continue.
    fn pull_anchors(&mut self, back: &mut Back<'_>, anchors: &[AnchorBar], bars: &mut [StateBar]) {
        let source = &self.lin.source;
        let mut next = match back.step {
            0 => Vec::new(),
            k => vec![AnchorBar::default(); source.trajectory.records[k - 1].anchors.len()],
        };
        let mut bars_of_place = anchors.to_vec();
        for (i, anchor) in back.record.anchors.iter().enumerate() {
            let (Some(j), true) = (anchor.continues, back.step > 0) else { continue };
            if anchors[i].displacement == Vector3::zeros() {
                continue;
            }
            let past = &source.trajectory.records[back.step - 1].anchors;
            let before = source.trajectory.state(back.step - 1);
            let state = |a: &crate::impulse::AnchorImpulse| AnchorState {
                position: a.position,
                normal: a.normal,
                displacement: a.displacement,
            };
            let poses = |s: &[RigidState]| -> [Pose; 2] { anchor.bodies.map(|b| s[b].pose()) };
            let partner = past[j].partner.filter(|&p| !past[p].released);
            let memory = Memory {
                old: state(&past[j]),
                partner: partner.map(|p| state(&past[p])),
                before: poses(before),
                now: poses(back.states),
                holder: carry::holder_of(&source.system, anchor.bodies),
            };
            let moves = anchor.bodies.map(|b| source.system.items[b].unknown.is_some());
            let bar = memory.pull(&state(anchor), &anchors[i].displacement, moves);
            bars_of_place[i].position += bar.new[0];
            bars_of_place[i].normal += bar.new[1];
            next[j].add(&bar.old);
            if let Some(p) = partner {
                next[p].add(&bar.partner);
            }
            for (k, body) in anchor.bodies.into_iter().enumerate() {
                self.earlier[body].center += bar.before[k][0];
                self.earlier[body].rotation += bar.before[k][1];
                bars[body].center += bar.now[k][0];
                bars[body].rotation += bar.now[k][1];
            }
        }
        self.anchors = next;
        self.pull_places(back, &bars_of_place);
    }

    /// Places of anchors to the contacts of their regions.
    fn pull_places(&mut self, back: &mut Back<'_>, bars: &[AnchorBar]) {
        let source = &self.lin.source;
        let mut i = 0;
        while i < bars.len() {
            let anchor = &back.record.anchors[i];
            let [from, to] = anchor.contacts;
            let count = 1 + usize::from(anchor.partner.is_some());
            let own = &bars[i..i + count];
            let length = carry::length(&source.system, anchor.bodies);
            let points: Vec<Vector3<f64>> = back.record.contacts[from..to]
                .iter()
                .map(|c| (c.point.point_a + c.point.point_b) * 0.5)
                .collect();
            let footprint = source.settings.footprint;
            let normal = &anchor.normal;
            let by = carry::pull_places(&points, normal, (length, footprint), own);
            for (bar, middle) in back.contacts[from..to].iter_mut().zip(&by.points) {
                bar.middle += middle;
            }
            let direct = own.iter().fold(Vector3::zeros(), |sum, b| sum + b.normal);
            back.contacts[from].normal += by.normal + direct;
            i += count;
        }
    }

    /// Points, normals and gaps to poses and dimensions.
    fn pull_contacts(&mut self, back: &Back<'_>, bars: &mut [StateBar]) {
        let source = &self.lin.source;
        let parameters = &source.parameters.scene.bodies;
        for (contact, bar) in back.record.contacts.iter().zip(&back.contacts) {
            if bar.gap == 0.0 && bar.middle == Vector3::zeros() && bar.normal == Vector3::zeros() {
                continue;
            }
            let bodies = contact.bodies;
            let poses = bodies.map(|b| back.states[b].local_pose(&parameters[b].center));
            let point = &contact.point;
            let pulled = contact.contact.pull(poses.each_ref(), point, bar);
            let middle = (point.point_a + point.point_b) * 0.5;
            for (k, body) in bodies.into_iter().enumerate() {
                let twist = &pulled[k];
                let state = &back.states[body];
                bars[body].center += twist.translation;
                bars[body].rotation +=
                    twist.rotation + (middle - state.center).cross(&twist.translation);
                self.total.center[body] -= state.rotation.tr_mul(&twist.translation);
                if let Some(collider) = &parameters[body].collider {
                    let arm = middle - poses[k].position;
                    let rotation = &state.rotation;
                    let by = contact.contact.pull_dimensions(k, collider, rotation, &arm, twist);
                    for (sum, d) in self.total.dimensions[body].iter_mut().zip(by) {
                        *sum += d;
                    }
                }
            }
        }
    }
}
