//! A step at its fixed point: which rows act, and the matrix of their linearisation.
//!
//! ```text
//! unknowns  dr_N of loaded normals, dr_T of sticking pairs, s of sliding pairs:  dr_T = x̂ dρ + t s,  ρ = share Σ r_N
//! rows      normal    J_N dv + γ dr_N         = −e_N          x̂ = r_T/‖r_T‖,  t ⟂ x̂
//!           stick     J_T dv                  = −e_T
//!           slide     t·(J_T dv) + α s        = −t·e_T        α = −slip·x̂/‖r_T‖
//!           spin      n·(dω_a − dω_b)         = −e_S          where it slips no row: dτ = ±r (μ Σ dr_N − Σ d‖r_T‖)
//! dv = dv₀ + M⁻¹C dx,      C: J_Nᵀ + Σ share J_Tᵀx̂ (pairs that share the load),  J_Tᵀ,  J_Tᵀt
//! A = R M⁻¹C + diag(γ, 0, α),      A dx = −e − R dv₀
//! ```
//!
//! `A` is symmetric where nothing slides. Bodies that do not touch, directly or through others, have matrices of their own, see
//! [`super::assembly`]. Spin and rolling on one ellipsoid are in [`super::ellipsoid`], patches that slide and spin on one surface in
//! [`super::torsion`], the rows of joints in [`super::tree`]; to a tree `M` is `Ĥ`.

use super::assembly::Island;
use super::ellipsoid::LiveEllipsoid;
use super::factor::{Factor, with_buffer};
use super::line::{Line, LineBuf, LineList, Part};
use super::source::Source;
use super::torsion::LiveTorsion;
use super::tree::TreeStep;
use crate::impulse::body::RigidState;
use nalgebra::{Matrix3, Vector2, Vector3};

/// A loaded normal.
#[derive(Clone, Debug)]
pub(super) struct LiveNormal {
    /// Which contact of the record.
    pub(super) contact: usize,
    pub(super) point: Vector3<f64>,
    /// `r_N` \[N s\].
    pub(super) impulse: f64,
    /// `u⁻` where it rebounds \[m/s\].
    pub(super) rebound: Option<f64>,
    /// Place of its unknown.
    pub(super) unknown: usize,
}

/// What a friction pair does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Friction {
    /// Two unknowns.
    Stick,
    /// One unknown, across `along` = x̂; `α` \[1/kg\].
    Slide { along: Vector2<f64>, alpha: f64 },
    /// Its disk is a point, which it leaves along `along`, or not at all; no unknown.
    Empty { along: Vector2<f64> },
}

/// Where a friction pair acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Contact(usize),
    Anchor(usize),
}

impl Place {
    /// Its index, and whether it is that of an anchor.
    pub(super) fn index(self) -> (usize, bool) {
        match self {
            Self::Contact(i) => (i, false),
            Self::Anchor(i) => (i, true),
        }
    }
}

/// A pair of friction rows that has a load.
#[derive(Clone, Debug)]
pub(super) struct LivePair {
    pub(super) place: Place,
    pub(super) bodies: [usize; 2],
    pub(super) point: Vector3<f64>,
    pub(super) normal: Vector3<f64>,
    pub(super) directions: [Vector3<f64>; 2],
    /// `r_T` \[N s\].
    pub(super) impulse: Vector2<f64>,
    pub(super) friction: Friction,
    /// `Σ r_N` \[N s\].
    pub(super) load: f64,
    /// `ρ` for each unit of the load \[–\].
    pub(super) share: f64,
    /// Of how many pairs that share the load it is one.
    pub(super) parts: f64,
    /// `β/h` times the displacement is its bias.
    pub(super) displacement: Vector3<f64>,
    /// Place of its first unknown, and of a normal whose load it shares.
    pub(super) unknown: usize,
    pub(super) normal_unknown: usize,
}

/// Spin friction of a region that does not slide as a whole.
#[derive(Clone, Debug)]
pub(super) struct LiveSpin {
    pub(super) bodies: [usize; 2],
    /// The contact whose normal it has.
    pub(super) contact: usize,
    pub(super) line: LineBuf,
    /// `τ` \[N m s\].
    pub(super) impulse: f64,
    /// Its unknown where it is held, else the sign of `τ`.
    pub(super) state: Result<usize, f64>,
    /// The contact whose gap the radius has.
    pub(super) nearest: usize,
    /// `r` \[m\] and what it multiplies, `μ N − Σ‖r_T‖` \[N s\].
    pub(super) radius: f64,
    pub(super) budget: f64,
    /// A normal whose load it shares.
    pub(super) normal_unknown: usize,
    /// How the budget grows with `μ`: `N`, less the part of what slides \[N s\].
    pub(super) by_friction: f64,
}

/// A step, linearised.
#[derive(Clone, Debug, Default)]
pub(super) struct StepLinear {
    pub(super) normals: Vec<LiveNormal>,
    pub(super) pairs: Vec<LivePair>,
    pub(super) spins: Vec<LiveSpin>,
    pub(super) ellipsoids: Vec<LiveEllipsoid>,
    pub(super) torsions: Vec<LiveTorsion>,
    pub(super) tree: Option<TreeStep>,
    /// Row and column of each unknown.
    pub(super) rows: LineList,
    pub(super) columns: LineList,
    pub(super) islands: Vec<Island>,
    /// First unknown of the one free body that all rows move, where it is one.
    pub(super) alone: Option<usize>,
    /// Memory of islands.
    pub(super) spare: Vec<Island>,
    /// `1/m` and `I⁻¹` in the world of each free body.
    pub(super) inverse: Vec<(f64, Matrix3<f64>)>,
    /// Velocities after the step: of the free bodies, then of the tree.
    pub(super) after: Vec<Vector3<f64>>,
    /// Velocities of bodies that follow prescribed poses; empty where there is none.
    pub(super) prescribed: Vec<[Vector3<f64>; 2]>,
}

impl StepLinear {
    /// Takes all rows out, and makes room for those of contacts.
    pub(super) fn reset(&mut self, contacts: usize) {
        self.normals.clear();
        self.pairs.clear();
        self.spins.clear();
        self.ellipsoids.clear();
        self.torsions.clear();
        self.rows.truncate(0);
        self.columns.truncate(0);
        self.spare.append(&mut self.islands);
        self.normals.reserve(contacts);
        self.pairs.reserve(contacts);
        self.rows.reserve(3 * contacts);
        self.columns.reserve(3 * contacts);
    }

    /// Velocities of a body that is not solved for.
    pub(super) fn prescribed(&self, body: usize) -> [Vector3<f64>; 2] {
        self.prescribed.get(body).copied().unwrap_or([Vector3::zeros(); 2])
    }

    /// Adds a row whose column is the same.
    pub(super) fn push_row(&mut self, line: Line<'_>) {
        self.rows.push(line);
        self.columns.push(line);
    }

    /// `M⁻¹ w`, in place.
    pub(super) fn respond(&self, w: &mut [Vector3<f64>]) {
        for (pair, (mass, inertia)) in w.chunks_exact_mut(2).zip(&self.inverse) {
            pair[0] *= *mass;
            pair[1] = inertia * pair[1];
        }
        if let Some(tree) = &self.tree {
            answer(tree, &mut w[tree.at..]);
        }
    }

    /// `Cᵀ v`.
    pub(super) fn pull_columns(&self, v: &[Vector3<f64>], out: &mut Vec<f64>) {
        out.clear();
        match self.alone {
            Some(at) => {
                let (l, a) = (&v[at], &v[at + 1]);
                out.extend(self.columns.pairs().iter().map(|[j, k]| j.dot(l) + k.dot(a)));
            }
            None => out.extend(self.columns.iter().map(|column| column.velocity(v))),
        }
    }

    /// `w ← w − Rᵀ x`.
    pub(super) fn subtract_rows(&self, x: &[f64], w: &mut [Vector3<f64>]) {
        match self.alone {
            Some(at) => {
                let mut sum = [w[at], w[at + 1]];
                for ([l, a], x) in self.rows.pairs().iter().zip(x) {
                    sum[0] -= l * *x;
                    sum[1] -= a * *x;
                }
                [w[at], w[at + 1]] = sum;
            }
            None => self.rows.iter().zip(x).for_each(|(row, x)| row.apply(-x, w)),
        }
    }

    /// `J M⁻¹Jᵀ` of a row.
    pub(super) fn mobility(&self, line: Line<'_>) -> f64 {
        mobility(line, (&self.inverse, self.tree.as_ref()))
    }

    /// `wᵀM⁻¹w`.
    pub(super) fn energy(&self, w: &[Vector3<f64>]) -> f64 {
        let how = (self.inverse.as_slice(), self.tree.as_ref());
        let free = 2 * self.inverse.len();
        let each = w[..free].chunks_exact(2).enumerate();
        each.map(|(i, own)| body_energy(2 * i, own, how)).sum::<f64>()
            + body_energy(free, &w[free..], how)
    }

    /// `M⁻¹ w` of the bodies of a row, in place.
    pub(super) fn respond_parts(&self, parts: &[Part; 2], w: &mut [Vector3<f64>]) {
        for part in parts {
            let own = &mut w[part.at..part.at + part.count];
            respond_part(part, (&self.inverse, self.tree.as_ref()), own);
        }
    }

    /// `x ← A⁻ x`.
    pub(super) fn solve(&self, x: &mut [f64]) {
        self.each_island(x, Factor::solve);
    }

    /// `x ← (A⁻)ᵀ x`.
    pub(super) fn solve_transposed(&self, x: &mut [f64]) {
        self.each_island(x, Factor::solve_transposed);
    }

    fn each_island(&self, x: &mut [f64], solve: impl Fn(&Factor, &mut [f64])) {
        for island in &self.islands {
            // All unknowns, in their order.
            if island.unknowns.len() == x.len() {
                return solve(&island.factor, x);
            }
            with_buffer(island.unknowns.len(), |part| {
                part.iter_mut().zip(&island.unknowns).for_each(|(y, &i)| *y = x[i]);
                solve(&island.factor, part);
                part.iter().zip(&island.unknowns).for_each(|(y, &i)| x[i] = *y);
            });
        }
    }

    /// How many rows follow from others.
    pub(super) fn redundant(&self) -> usize {
        self.islands.iter().map(|i| i.unknowns.len() - i.factor.rank()).sum()
    }
}

/// `J M⁻¹Jᵀ` of a row.
pub(super) fn mobility(
    line: Line<'_>,
    (inverse, tree): (&[(f64, Matrix3<f64>)], Option<&TreeStep>),
) -> f64 {
    let (first, second) = line.entries.split_at(line.parts[0].count);
    let each = line.parts.iter().zip([first, second]);
    each.map(|(part, own)| body_energy(part.at, own, (inverse, tree))).sum()
}

/// `wᵀM⁻¹w` of one body whose first unknown is `at`.
fn body_energy(
    at: usize,
    own: &[Vector3<f64>],
    (inverse, tree): (&[(f64, Matrix3<f64>)], Option<&TreeStep>),
) -> f64 {
    match (own, inverse.get(at / 2), tree) {
        ([l, a], Some((mass, inertia)), _) => l.dot(l) * mass + a.dot(&(inertia * a)),
        ([_, ..], None, Some(tree)) => with_buffer(tree.after.len(), |w| {
            w.iter_mut().enumerate().for_each(|(k, x)| *x = own[k / 3][k % 3]);
            tree.factor.solve(w);
            w.iter().enumerate().map(|(k, x)| own[k / 3][k % 3] * x).sum()
        }),
        _ => 0.0,
    }
}

/// `M⁻¹ w` of one body, in place.
fn respond_part(
    part: &Part,
    (inverse, tree): (&[(f64, Matrix3<f64>)], Option<&TreeStep>),
    own: &mut [Vector3<f64>],
) {
    match (own, inverse.get(part.at / 2), tree) {
        ([l, a], Some((mass, inertia)), _) => {
            *l *= *mass;
            *a = inertia * *a;
        }
        // A tree stands behind the free bodies.
        (own, None, Some(tree)) => answer(tree, own),
        _ => {}
    }
}

/// `Ĥ⁻¹ w` of the tree, in place.
fn answer(tree: &TreeStep, w: &mut [Vector3<f64>]) {
    if w.is_empty() {
        return;
    }
    with_buffer(tree.after.len(), |own| {
        own.iter_mut().enumerate().for_each(|(k, x)| *x = w[k / 3][k % 3]);
        tree.factor.solve(own);
        own.iter().enumerate().for_each(|(k, x)| w[k / 3][k % 3] = *x);
    });
}

impl StepLinear {
    /// Largest speed that gravity and the velocities at the start bring to a row without impulses \[m/s\].
    pub(super) fn speed(&self, source: &Source<'_>, step: usize) -> f64 {
        let h = source.simulator.durations()[step];
        let states = source.trajectory.state(step);
        let size = |(item, s): (&crate::impulse::system::Item, &RigidState)| {
            s.velocity.norm() + s.angular_velocity.norm() * item.radius.unwrap_or(0.0)
        };
        let start = source.system.items.iter().zip(states).map(size).fold(0.0, f64::max);
        start + source.system.gravity.norm() * h
    }
}
