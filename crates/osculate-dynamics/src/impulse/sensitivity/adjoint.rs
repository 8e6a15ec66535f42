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

use super::back::Back;
use super::carry::AnchorBar;
use super::free;
use super::linear::StepLinear;
use super::source::Source;
use super::tree::{LinkFields, Tests, TreeSweep};
use super::{ImpulseGradientError, ImpulseParameters, Linearisation};
use crate::OnFailure;
use crate::impulse::simulate::{ImpulseSimulator, ImpulseTrajectory};
use crate::impulse::tree::{flat_of, padded};
use crate::sensitivity::Outcome;
use crate::sensitivity::observe::Observer;
use nalgebra::{Matrix3, Vector3};
use osculate_geometry::collider::DIMENSIONS;
use osculate_geometry::manifold::ContactBar;
use osculate_math::so3;

/// Derivatives by a state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StateBar {
    pub(super) center: Vector3<f64>,
    pub(super) rotation: Vector3<f64>,
    pub(super) velocity: Vector3<f64>,
    pub(super) angular_velocity: Vector3<f64>,
}

/// Derivatives below it are none: a motion that is damped away leaves numbers that arithmetic is slow with.
const NONE: f64 = 1e-200;

/// Takes derivatives to zero that are next to nothing.
pub(super) fn settle(x: &mut [f64]) {
    x.iter_mut().filter(|x| x.abs() < NONE).for_each(|x| *x = 0.0);
}

impl StateBar {
    fn settle(&mut self) {
        for x in
            [&mut self.center, &mut self.rotation, &mut self.velocity, &mut self.angular_velocity]
        {
            settle(x.as_mut_slice());
        }
    }
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
    pub(super) torsional_patch_radius: Vec<f64>,
    pub(super) spin_friction: Vec<f64>,
    pub(super) rolling_friction: Vec<f64>,
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
            torsional_patch_radius: vec![0.0; bodies],
            spin_friction: vec![0.0; bodies],
            rolling_friction: vec![0.0; bodies],
            normal: vec![0.0; normal],
            anchor_beta: 0.0,
            gravity: Vector3::zeros(),
            wrenches: vec![[Vector3::zeros(); 2]; wrenches],
        }
    }
}

impl Linearisation<'_> {
    /// Outcome and its derivative by every parameter of the layout.
    ///
    /// # Errors
    /// Where the trajectory's flag says stop.
    pub fn adjoint(&self, outcome: &impl Outcome) -> Result<(f64, Vec<f64>), ImpulseGradientError> {
        let mut sweep = Sweep::new(&self.source);
        sweep.start(self.steps.len(), outcome);
        for (step, linear) in self.steps.iter().enumerate().rev() {
            self.source.trajectory.go_on(step)?;
            sweep.step_back(step, linear);
            sweep.observe(step, outcome);
            sweep.pull_links(step, linear);
        }
        Ok((sweep.value, sweep.collect()))
    }

    /// As [`Linearisation::new`] and [`Linearisation::adjoint`] in one pass that keeps no step: the same numbers, for one outcome.
    ///
    /// # Errors
    /// As [`Linearisation::new`].
    pub fn gradient(
        simulator: &ImpulseSimulator,
        parameters: &ImpulseParameters,
        trajectory: &ImpulseTrajectory,
        outcome: &impl Outcome,
    ) -> Result<(f64, Vec<f64>), ImpulseGradientError> {
        let source = Source::checked(simulator, parameters, trajectory, OnFailure::Stop)?;
        let (mut scratch, mut linear) = (source.scratch()?, StepLinear::default());
        let mut sweep = Sweep::new(&source);
        let steps = simulator.durations().len();
        sweep.start(steps, outcome);
        for step in (0..steps).rev() {
            source.linearise(step, &mut scratch, &mut linear)?;
            sweep.step_back(step, &linear);
            sweep.observe(step, outcome);
            sweep.pull_links(step, &linear);
        }
        Ok((sweep.value, sweep.collect()))
    }
}

/// The reverse sweep.
pub(super) struct Sweep<'a> {
    pub(super) source: &'a Source<'a>,
    /// By the states after the step that is next.
    pub(super) bars: Vec<StateBar>,
    /// By the poses one step earlier, which anchors are carried from.
    pub(super) earlier: Vec<StateBar>,
    /// By the anchors of the step that is next.
    pub(super) anchors: Vec<AnchorBar>,
    pub(super) total: Total,
    pub(super) tree: Option<TreeSweep<'a>>,
    pub(super) observer: Observer<f64>,
    pub(super) value: f64,
    /// Memory of the points of a region.
    pub(super) points: Vec<Vector3<f64>>,
    buffers: Buffers,
}

/// Memory of a step, kept for the next.
#[derive(Default)]
struct Buffers {
    bars: Vec<StateBar>,
    anchors: Vec<AnchorBar>,
    rows: Vec<f64>,
    lambda: Vec<Vector3<f64>>,
    psi: Vec<Vector3<f64>>,
    contacts: Vec<ContactBar>,
    impulses: Vec<Vector3<f64>>,
    changes: Vec<Vector3<f64>>,
}

impl<'a> Sweep<'a> {
    fn new(source: &'a Source<'a>) -> Self {
        let parameters = source.parameters;
        let (bodies, wrenches) = (source.system.items.len(), parameters.scene.wrenches.len());
        Self {
            source,
            bars: vec![StateBar::default(); bodies],
            earlier: vec![StateBar::default(); bodies],
            anchors: Vec::new(),
            total: Total::new(bodies, parameters.normal.len(), wrenches),
            tree: TreeSweep::new(source),
            observer: Observer::default(),
            value: 0.0,
            points: Vec::new(),
            buffers: Buffers::default(),
        }
    }

    fn observe(&mut self, step: usize, outcome: &impl Outcome) {
        if !outcome.observes(step) {
            return;
        }
        let source = self.source;
        let parameters = &source.parameters.scene.bodies;
        let states = source.trajectory.state(step);
        let motion = states.iter().zip(parameters).map(|(y, p)| y.kinematics(&p.center));
        self.value += self.observer.value(outcome, step, motion);
        for (i, state) in states.iter().enumerate() {
            let moves = source.system.items[i].inertia.is_some();
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

    /// The derivatives at the end of the trajectory.
    fn start(&mut self, steps: usize, outcome: &impl Outcome) {
        self.observe(steps, outcome);
        let source = self.source;
        if let (Some(tree), Some(joints), Some(state)) =
            (&mut self.tree, &source.joints, source.trajectory.joints(steps))
        {
            let at = joints.kinematics(&state.configuration);
            tree.pull_links(&at, &state.rates, &mut self.bars);
        }
    }

    /// Takes the derivatives by the states of links at the start of a step to those by joints.
    fn pull_links(&mut self, step: usize, linear: &StepLinear) {
        let state = self.source.trajectory.joints(step);
        if let (Some(tree), Some(own), Some(state)) = (&mut self.tree, &linear.tree, state) {
            tree.pull_links(&own.kinematics, &state.rates, &mut self.bars);
        }
    }

    /// From the derivatives by the states after a step to those by the states before it.
    fn step_back(&mut self, step: usize, linear: &StepLinear) {
        let source = self.source;
        let record = &source.trajectory.records[step];
        let states = source.trajectory.state(step);
        let mut buffers = std::mem::take(&mut self.buffers);
        buffers.bars.clear();
        buffers.bars.resize(states.len(), StateBar::default());
        let mut bars = std::mem::replace(&mut self.earlier, buffers.bars);
        let Buffers { mut rows, mut lambda, mut psi, mut contacts, .. } = buffers;
        self.velocities((step, linear), &mut lambda, &mut bars);
        psi.clone_from(&lambda);
        linear.respond(&mut psi);
        linear.pull_columns(&psi, &mut rows);
        linear.solve_transposed(&mut rows);
        linear.subtract_rows(&rows, &mut lambda);
        psi.clone_from(&lambda);
        linear.respond(&mut psi);
        let zero = ContactBar { middle: Vector3::zeros(), normal: Vector3::zeros(), gap: 0.0 };
        contacts.clear();
        contacts.resize(record.contacts.len(), zero);
        let links = linear
            .tree
            .as_ref()
            .map(|tree| LinkFields::new(source, tree, &flat_of(&psi[tree.at..], tree.after.len())));
        let links = links.unwrap_or_default();
        let mut back = Back { linear, record, states, step, rows, psi, contacts, links };
        let moved = (&mut buffers.impulses, &mut buffers.changes);
        self.pull_bodies(&back, &lambda, moved, &mut bars);
        self.pull_normals(&mut back, &mut bars);
        self.pull_spins(&mut back);
        self.pull_ellipsoids(&mut back, &mut bars);
        let mut anchors = std::mem::replace(&mut self.anchors, buffers.anchors);
        anchors.resize(record.anchors.len(), AnchorBar::default());
        self.pull_pairs(&mut back, &mut anchors, &mut bars);
        self.pull_torsions(&mut back, &mut anchors, &mut bars);
        self.pull_anchors(&mut back, &mut anchors, &mut bars);
        if let (Some(sweep), Some(tree)) = (&mut self.tree, &linear.tree) {
            let psi = flat_of(&back.psi[tree.at..], tree.after.len());
            let tests = Tests { step, psi: &psi };
            sweep.pull(source, tree, (&mut back, tests), (&mut self.total, &mut bars));
        }
        self.pull_contacts(&back, &mut bars);
        bars.iter_mut().for_each(StateBar::settle);
        let Back { rows, psi, contacts, .. } = back;
        let (impulses, changes) = (buffers.impulses, buffers.changes);
        let bars = std::mem::replace(&mut self.bars, bars);
        self.buffers = Buffers { bars, anchors, rows, lambda, psi, contacts, impulses, changes };
    }

    /// Pulls positions back; `v` becomes the derivatives by the velocities after the step.
    fn velocities(
        &mut self,
        (step, linear): (usize, &StepLinear),
        v: &mut Vec<Vector3<f64>>,
        bars: &mut [StateBar],
    ) {
        let source = self.source;
        let h = source.simulator.durations()[step];
        let after = &linear.after;
        v.clear();
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
                // A prescribed pose is data; links are pulled to joints; a body at rest has one pose.
                None if item.link.is_some() => {}
                None if !item.motion.is_empty() => {}
                None => {
                    bar.center += out.center;
                    bar.rotation += out.rotation;
                }
            }
        }
        if let (Some(sweep), Some(tree)) = (&mut self.tree, &linear.tree) {
            v.extend(padded(&sweep.velocities(source, tree, step, &mut self.total)));
        }
    }

    /// Adds the impulses of all contacts, linear and angular, of each body.
    fn write_impulses(&self, back: &Back<'_>, impulses: &mut [Vector3<f64>]) {
        for normal in &back.linear.normals {
            // The row, not the column: what friction adds belongs to the pairs.
            back.linear.rows.get(normal.unknown).apply(normal.impulse, impulses);
        }
        for pair in &back.linear.pairs {
            let [s, t] = &pair.directions;
            let force = s * pair.impulse.x + t * pair.impulse.y;
            for (body, sign) in pair.bodies.into_iter().zip([1.0, -1.0]) {
                if let Some(at) = self.source.system.items[body].unknown {
                    let arm = pair.point - back.states[body].center;
                    impulses[at] += force * sign;
                    impulses[at + 1] += arm.cross(&force) * sign;
                }
            }
        }
        for spin in &back.linear.spins {
            spin.line.view().apply(spin.impulse, impulses);
        }
        for live in &back.linear.ellipsoids {
            live.apply(impulses);
        }
        for live in &back.linear.torsions {
            live.apply(impulses);
        }
    }

    /// Velocities without contact, and the inertia that impulses meet.
    fn pull_bodies(
        &mut self,
        back: &Back<'_>,
        lambda: &[Vector3<f64>],
        (impulses, changes): (&mut Vec<Vector3<f64>>, &mut Vec<Vector3<f64>>),
        bars: &mut [StateBar],
    ) {
        let source = self.source;
        let h = source.simulator.durations()[back.step];
        impulses.clear();
        impulses.resize(lambda.len(), Vector3::zeros());
        self.write_impulses(back, impulses);
        changes.clone_from(impulses);
        back.linear.respond(changes);
        for (i, item) in source.system.items.iter().enumerate() {
            let (Some(at), Some(body), Some(dynamic)) = (item.unknown, &item.inertia, item.dynamic)
            else {
                continue;
            };
            let (state, bar) = (&back.states[i], &mut bars[i]);
            let wrench = source.wrench(back.step, dynamic);
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
                self.total.wrenches.get_mut(back.step * source.system.dynamic() + dynamic)
            {
                w[0] += lambda[at] * (h / body.mass);
                w[1] += pulled.torque;
            }
        }
    }
}
