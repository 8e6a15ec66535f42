//! A tree in the reverse sweep.

use super::balance::{bound, numbers};
use super::closures::pull_closures;
use super::laws::{TARGET, pull_smooth};
use super::{LiveRow, RowState, TreeStep};
use crate::articulated::immediate::{RowNumbers, RowSource};
use crate::articulated::{InverseBar, JointLaws, TreeKinematics, pull_inverse_dynamics};
use crate::impulse::Coriolis;
use crate::impulse::sensitivity::adjoint::{StateBar, Total, settle};
use crate::impulse::sensitivity::back::Back;
use crate::impulse::sensitivity::source::Source;
use crate::reduction::{
    JointBar, NUMBER_COUNT, Power, Reduction, TreeBar, number_mut, pull_incremented,
};
use nalgebra::Vector3;
use osculate_math::Jet;

type Pair = (Vector3<f64>, Vector3<f64>);

/// Numbers of a joint's laws, its coordinate and its velocities.
pub(super) const SEEDS: usize = NUMBER_COUNT + 1 + 6;
pub(super) type Seeded = Jet<SEEDS>;

/// Velocities of the links that contacts see, and the covectors with which they do.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct LinkFields {
    /// At `ψ` and at `v⁺`.
    pub(in super::super) twists: [Vec<Pair>; 2],
    /// Forces and torques at the centres of mass, likewise.
    pub(in super::super) powers: [Vec<Pair>; 2],
}

/// Derivatives by joints.
pub(in super::super) struct TreeSweep<'a> {
    pub(super) reduction: &'a Reduction<f64>,
    pub(in super::super) total: TreeBar<f64>,
    /// By the joints after the step that is next.
    pub(in super::super) bar: JointBar<f64>,
}

/// What a step is pulled back with.
#[derive(Clone, Copy)]
pub(in super::super) struct Tests<'a> {
    pub(in super::super) step: usize,
    /// `ψ`, one a degree of freedom.
    pub(in super::super) psi: &'a [f64],
}

impl LinkFields {
    pub(in super::super) fn new(source: &Source<'_>, tree: &TreeStep, psi: &[f64]) -> Self {
        let Some(reduction) = &source.joints else { return Self::default() };
        let of = |v: &[f64]| tree.kinematics.center_velocities(&reduction.model, v);
        let none = vec![(Vector3::zeros(), Vector3::zeros()); reduction.bodies.len()];
        Self { twists: [of(psi), of(&tree.after)], powers: [none.clone(), none] }
    }
}

impl<'a> TreeSweep<'a> {
    /// Adds what inverse dynamics depend on beside positions, velocities and gravity.
    pub(super) fn add_inverse(&mut self, at: &TreeKinematics, by: &InverseBar, total: &mut Total) {
        for (link, &body) in self.reduction.bodies.iter().enumerate() {
            total.mass[body] += by.masses[link];
            total.inertia[body] += by.inertias[link];
            self.total.centers[link] += by.centers[link];
            let twists = (&by.placements[link], &by.offsets[link]);
            self.reduction.add_frames(at, link, twists, &mut self.total);
            for (place, k) in self.reduction.model.joint_dofs(link).enumerate() {
                self.total.terms.numbers[link][place] += by.armature[k];
            }
        }
    }

    pub(in super::super) fn new(source: &'a Source<'_>) -> Option<Self> {
        let reduction = source.joints.as_ref()?;
        let given = source.given()?;
        let total = TreeBar::zero(reduction, given.efforts.len(), given.targets.len());
        let bar = JointBar::zero(reduction.model.dofs());
        Some(Self { reduction, total, bar })
    }

    /// Takes the derivatives by poses and velocities of the links out of those of all bodies and adds them to those by joints.
    pub(in super::super) fn pull_links(
        &mut self,
        at: &TreeKinematics,
        rates: &[f64],
        bars: &mut [StateBar],
    ) {
        let (mut poses, mut wrenches) = (Vec::new(), Vec::new());
        for &body in &self.reduction.bodies {
            let bar = std::mem::take(&mut bars[body]);
            poses.push((bar.center, bar.rotation));
            wrenches.push((bar.velocity, bar.angular_velocity));
        }
        add(&mut self.bar.rate, &at.generalised_forces(&self.reduction.model, &wrenches));
        let power = Power { rates, wrenches: &wrenches };
        let position = &mut self.bar.position;
        self.reduction.pull_motions(at, &poses, &[power], (position, &mut self.total));
    }

    /// From the derivatives by the joints after a step to those by the velocities of its rows; what is left is by the positions before it.
    pub(in super::super) fn velocities(
        &mut self,
        source: &Source<'_>,
        tree: &TreeStep,
        step: usize,
        total: &mut Total,
    ) -> Vec<f64> {
        let h = source.simulator.durations()[step];
        let drift = match source.settings.coriolis {
            Coriolis::Explicit => None,
            Coriolis::Conserving => self.pull_drift(source, tree, step, total),
        };
        let delta: Vec<f64> = tree.after.iter().map(|v| v * h).collect();
        let (by_position, by_delta) = pull_incremented(&tree.q, &delta, &self.bar.position);
        let mut rates = std::mem::replace(&mut self.bar.rate, vec![0.0; delta.len()]);
        self.bar.position = by_position;
        if let Some((velocity, position)) = drift {
            rates = velocity;
            add(&mut self.bar.position, &position);
        }
        rates.iter().zip(by_delta).map(|(r, d)| r + d * h).collect()
    }

    /// Pulls the balance of a step and the rows of joints.
    pub(in super::super) fn pull(
        &mut self,
        source: &Source<'_>,
        tree: &TreeStep,
        (back, tests): (&mut Back<'_>, Tests<'_>),
        (total, bars): (&mut Total, &mut [StateBar]),
    ) {
        let h = source.simulator.durations()[tests.step];
        self.pull_inertia(source, tree, (tests, h), total);
        self.pull_wrenches(source, (back, tests, h), total);
        self.pull_laws(source, tree, (back, tests, h));
        let closures = (self.reduction, &mut self.total);
        pull_closures(closures, tree, (back, h), bars);
        let fields = &back.links;
        let [change, after] = &fields.powers;
        let powers = [
            Power { rates: tests.psi, wrenches: change },
            Power { rates: &tree.after, wrenches: after },
        ];
        let position = &mut self.bar.position;
        self.reduction.pull_motions(&tree.kinematics, &[], &powers, (position, &mut self.total));
        settle(position);
        settle(&mut self.bar.rate);
    }

    /// `−ψ·h ID` without wrenches.
    fn pull_inertia(
        &mut self,
        source: &Source<'_>,
        tree: &TreeStep,
        (tests, h): (Tests<'_>, f64),
        total: &mut Total,
    ) {
        let model = &self.reduction.model;
        let u: Vec<f64> = tests.psi.iter().map(|x| -h * x).collect();
        let a: Vec<f64> = tree.after.iter().zip(&tree.v).map(|(x, v)| (x - v) / h).collect();
        let gravity = &source.system.gravity;
        let explicit = source.settings.coriolis == Coriolis::Explicit;
        let still = if explicit { Vec::new() } else { vec![0.0; a.len()] };
        let moving = if explicit { &tree.v } else { &still };
        let by = pull_inverse_dynamics(model, &tree.kinematics, (moving, &a), &u, gravity);
        add(&mut self.bar.position, &by.position);
        if explicit {
            add(&mut self.bar.rate, &by.velocity);
        }
        self.bar.rate.iter_mut().zip(&by.acceleration).for_each(|(r, a)| *r -= a / h);
        total.gravity += by.gravity;
        self.add_inverse(&tree.kinematics, &by, total);
        let first = tests.step * tests.psi.len();
        if let Some(efforts) = self.total.terms.efforts.get_mut(first..first + tests.psi.len()) {
            efforts.iter_mut().zip(tests.psi).for_each(|(e, x)| *e += h * x);
        }
    }

    /// `h ψ·Jᵀ w` of the wrenches on links.
    fn pull_wrenches(
        &self,
        source: &Source<'_>,
        (back, tests, h): (&mut Back<'_>, Tests<'_>, f64),
        total: &mut Total,
    ) {
        for (link, &body) in self.reduction.bodies.iter().enumerate() {
            let item = &source.system.items[body];
            let (linear, angular) = back.links.twists[0][link];
            let mut force = Vector3::zeros();
            if let Some(d) = item.dynamic {
                let wrench = source.wrench(tests.step, d);
                force += wrench.force;
                back.links.powers[0][link].1 += wrench.torque * h;
                if let Some(bar) = total.wrenches.get_mut(tests.step * source.system.dynamic() + d)
                {
                    bar[0] += linear * h;
                    bar[1] += angular * h;
                }
            }
            if !item.has_gravity {
                let mass = self.reduction.model.links()[link].inertia.mass;
                force -= source.system.gravity * mass;
                total.gravity -= linear * (h * mass);
                total.mass[body] -= h * source.system.gravity.dot(&linear);
            }
            back.links.powers[0][link].0 += force * h;
        }
    }

    /// Laws of the joints, and rows that are at a bound or have a law of their own.
    fn pull_laws(
        &mut self,
        source: &Source<'_>,
        tree: &TreeStep,
        (back, tests, h): (&Back<'_>, Tests<'_>, f64),
    ) {
        let model = &self.reduction.model;
        let n = model.dofs();
        let targets = source.given().map_or(&[][..], |g| &g.targets);
        let targets = targets.get(tests.step * n..(tests.step + 1) * n).unwrap_or(&[]);
        for (link, own) in model.links().iter().enumerate() {
            let dofs = model.joint_dofs(link);
            if dofs.is_empty() {
                continue;
            }
            let mut laws = own.joint.laws;
            if let (Some(drive), Some(target)) = (&mut laws.drive, targets.get(dofs.start)) {
                drive.target = *target;
            }
            let q = tree.q.joints()[link].scalar();
            let mut by = [0.0; NUMBER_COUNT];
            let mut by_q = 0.0;
            for k in dofs.clone() {
                by_q += pull_smooth(&laws, q, (tree.after[k], tests.psi[k], h), &mut by);
            }
            if dofs.len() == 1 {
                self.bar.position[dofs.start] += by_q;
            }
            self.add_numbers((tests.step, link), &by);
            let has_rows = tree.rows.iter().any(|row| of_link(row.source) == Some(link));
            if has_rows || tree.blocks.iter().any(|b| b.link == link) {
                self.pull_rows((link, &laws), tree, (back, tests, h));
            }
        }
    }

    /// Rows of a joint that are at a bound or have a law of their own.
    fn pull_rows(
        &mut self,
        (link, laws): (usize, &JointLaws),
        tree: &TreeStep,
        (back, tests, h): (&Back<'_>, Tests<'_>, f64),
    ) {
        let dofs = self.reduction.model.joint_dofs(link);
        let laws = seeded(laws);
        let q = tree.q.joints()[link].scalar().map(|q| Seeded::variable(q, NUMBER_COUNT));
        let v: Vec<Seeded> = (dofs.clone().enumerate())
            .map(|(i, k)| Seeded::variable(tree.v[k], NUMBER_COUNT + 1 + i))
            .collect();
        let mut sum = Seeded::constant(0.0);
        for row in tree.rows.iter().filter(|row| of_link(row.source) == Some(link)) {
            let zero = Seeded::constant(0.0);
            let joint = (&laws, q.unwrap_or(zero), v[0] * v[0]);
            sum += law_of(row, joint, (back, tests.psi, h));
        }
        for block in tree.blocks.iter().filter(|b| b.link == link) {
            let Some(along) = &block.along else { continue };
            let first = block.first - dofs.start;
            let square = v[first..first + block.count]
                .iter()
                .fold(Seeded::constant(0.0), |sum, v| sum + *v * *v);
            let power: f64 = along.iter().zip(&tests.psi[block.first..]).map(|(x, p)| x * p).sum();
            sum += laws.friction.bound(square) * (h * power);
        }
        self.add_numbers((tests.step, link), &sum.eps[..NUMBER_COUNT]);
        if dofs.len() == 1 {
            self.bar.position[dofs.start] += sum.eps[NUMBER_COUNT];
        }
        for (i, k) in dofs.enumerate() {
            self.bar.rate[k] += sum.eps[NUMBER_COUNT + 1 + i];
        }
    }

    /// By the numbers of a joint; the target of a drive belongs to its step.
    fn add_numbers(&mut self, (step, link): (usize, usize), numbers: &[f64]) {
        let model = &self.reduction.model;
        let place = step * model.dofs() + model.joint_dofs(link).start;
        for (i, by) in numbers.iter().enumerate() {
            match self.total.terms.targets.get_mut(place) {
                Some(target) if i == TARGET => *target += by,
                _ => self.total.terms.numbers[link][i] += by,
            }
        }
    }
}

/// What a row of a joint adds: `−μ (b + γ r)` where it acts, `± ψ bound` where it is at its bound.
fn law_of(
    row: &LiveRow,
    (laws, q, square): (&JointLaws<Seeded>, Seeded, Seeded),
    (back, psi, h): (&Back<'_>, &[f64], f64),
) -> Seeded {
    let by = match row.state {
        RowState::Apart => None,
        RowState::Acting(unknown) => {
            numbers(row.source, laws, q, h).map(|RowNumbers { bias, compliance }| {
                (bias + compliance * row.impulse) * -back.rows[unknown]
            })
        }
        RowState::Bound(sign) => {
            bound(row.source, laws, square, h).map(|bound| bound * (sign * psi[row.dof]))
        }
    };
    by.unwrap_or_else(|| Seeded::constant(0.0))
}

/// The link whose joint has the row.
pub(in super::super) fn of_link(source: RowSource) -> Option<usize> {
    match source {
        RowSource::Upper { link }
        | RowSource::Lower { link }
        | RowSource::Drive { link }
        | RowSource::Friction { link } => Some(link),
        RowSource::Closure { .. } | RowSource::Other => None,
    }
}

/// Laws with every number seeded in its direction.
pub(super) fn seeded(laws: &JointLaws) -> JointLaws<Seeded> {
    let mut out = laws.map(&Seeded::constant);
    for i in 0..NUMBER_COUNT {
        if let Some(x) = number_mut(&mut [], &mut out, i) {
            x.eps[i] = 1.0;
        }
    }
    out
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(x, y)| *x += y);
}
