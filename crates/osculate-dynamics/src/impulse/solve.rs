//! Projected Gauss–Seidel on the rows of a step, with the velocity kept live.
//!
//! ```text
//! v = v_f + M⁻¹Jᵀ r
//! normal     r ← max(0, r − ω (u + b + γ r)/(W + γ))
//! friction   the disk problem at the load of the group, directly after its normals
//! ```
//!
//! A sweep in which nothing changes ends the solve: impulses that are optimal to rounding are kept bit by bit. The
//! residual is that of the natural map, in velocity, relative to what the rows would see without impulses:
//!
//! ```text
//! |r − max(0, r − (u + b + γ r)/(W + γ))| (W + γ)       ‖x − P_ρ(x − u/τ)‖ τ,   τ = tr A
//! ```

use super::residual::{Worst, friction_residual};
use super::row::Velocities;
use super::rows::{Bias, FrictionPair, Group, NormalRow, Rows};
use super::settings::{FrictionMode, ImpulseSettings};
use super::spin::Angular;
use super::stall::{Manner, Pace, State, Watch};
use nalgebra::{Matrix3, Vector2, Vector3};
use osculate_contact::impulse::{ImpulseError, Regime, cone::Cone, disk};

/// What a solve took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImpulseStats {
    /// Sweeps done; of several islands, the most.
    pub sweeps: usize,
    /// Natural residual, relative to the velocities of the rows of its island without impulses \[–\].
    pub residual: f64,
    /// What was asked \[–\].
    pub tolerance: f64,
    /// Whether the residual is within the tolerance.
    pub converged: bool,
    /// Whether the last sweep changed nothing at all.
    pub stationary: bool,
    /// Contacts of the step.
    pub contacts: usize,
    /// The contact row with the largest residual.
    pub worst: usize,
    /// The tree of which a joint has a larger residual than every contact.
    pub worst_tree: Option<usize>,
    /// Islands of bodies that contacts or joints link, each solved alone.
    pub islands: usize,
}

impl ImpulseStats {
    /// What is left at the end, in units of the velocity `scale` \[m/s\]: as it is where nothing moves.
    pub(super) fn judge(&mut self, worst: &Worst, scale: f64) {
        (self.worst, self.worst_tree) = (worst.contact, worst.tree);
        self.residual = if scale > 0.0 { worst.size / scale } else { worst.size };
        self.converged = self.residual <= self.tolerance;
    }
}

/// A row whose residual is below this part of what its rounding scales with is solved.
pub(super) const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// What a sweep does with overlaps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Position,
    Velocity,
}

/// Sweeps until the residual is within the tolerance, and says what is left.
///
/// # Errors
/// Where an impulse law refuses its input.
pub(crate) fn solve(
    rows: &mut Rows,
    v: &mut Velocities,
    settings: &ImpulseSettings,
    scale: f64,
) -> Result<ImpulseStats, ImpulseError> {
    let tolerance = settings.tolerance;
    let mut stats = ImpulseStats { tolerance, contacts: rows.normals.len(), ..Default::default() };
    if rows.normals.is_empty() && rows.joints.is_empty() {
        return Ok(ImpulseStats { converged: true, stationary: true, ..stats });
    }
    let mut solver = Solver { settings, phase: Phase::Position, manner: Manner::WHOLE };
    // The counter-examples converge to what is not Coulomb's law: their residual stays.
    let exact = settings.friction_mode.bisection().is_none();
    let watched = settings.help_stalled && exact;
    let mut watch = Watch::new(tolerance, settings.sweeps);
    while stats.sweeps < settings.sweeps {
        let change = solver.sweep(rows, v)?;
        stats.sweeps += 1;
        stats.stationary = change <= 0.0;
        if stats.stationary
            || (change <= tolerance * scale && solver.residual(rows, v).size <= tolerance * scale)
        {
            break;
        }
        if watched && watch.is_due(stats.sweeps) {
            let size = solver.residual(rows, v).size;
            let pace = watch.pace(stats.sweeps, size);
            let left = settings.sweeps - stats.sweeps;
            if pace != Pace::Falls && watch.may_leap(size) {
                let (done, landed) = solver.leap((rows, v), size, left)?;
                stats.sweeps += done;
                if let Some(state) = landed {
                    watch.landed(stats.sweeps, size, state);
                    continue;
                }
            }
            let size = solver.residual(rows, v).size;
            solver.manner = watch.next(stats.sweeps, pace, State::of(rows, v, size));
        }
    }
    let mut worst = solver.residual(rows, v);
    let solved = worst.size <= tolerance * scale;
    if !solved && watch.restore(worst.size, rows, v) {
        worst = solver.residual(rows, v);
        stats.stationary = false;
    }
    stats.judge(&worst, scale);
    Ok(stats)
}

/// Sweeps in which overlaps are no bias, after the positions are known.
///
/// # Errors
/// Where an impulse law refuses its input.
pub(crate) fn settle(
    rows: &mut Rows,
    v: &mut Velocities,
    settings: &ImpulseSettings,
) -> Result<(), ImpulseError> {
    let solver = Solver { settings, phase: Phase::Velocity, manner: Manner::WHOLE };
    for _ in 0..settings.velocity_sweeps {
        if solver.sweep(rows, v)? <= 0.0 {
            break;
        }
    }
    Ok(())
}

/// Largest velocity of a row without impulses, its bias included \[m/s\].
pub(crate) fn row_scale(rows: &Rows, free: &Velocities) -> f64 {
    let normals = rows.normals.iter().map(|n| n.row.velocity(free).abs() + n.bias.abs());
    let pairs = rows.pairs.iter().map(|p| (slip(p, free)).norm());
    // Rows of joints start with the residual that they would have without impulses: a limit that is apart has none.
    let joints = rows.joints.iter().map(|j| j.idle_residual(free));
    normals.chain(pairs).chain(joints).fold(0.0, f64::max)
}

/// `u_T` \[m/s\].
#[inline]
pub(crate) fn velocity(pair: &FrictionPair, v: &Velocities) -> Vector2<f64> {
    Vector2::new(pair.rows[0].velocity(v), pair.rows[1].velocity(v))
}

/// `u_T + β d/h` \[m/s\].
#[inline]
pub(super) fn slip(pair: &FrictionPair, v: &Velocities) -> Vector2<f64> {
    velocity(pair, v) + pair.bias
}

/// How a sweep is done.
pub(super) struct Solver<'a> {
    pub(super) settings: &'a ImpulseSettings,
    pub(super) phase: Phase,
    pub(super) manner: Manner,
}

impl Solver<'_> {
    /// One sweep; the largest change of a row's velocity by its own impulse \[m/s\].
    pub(super) fn sweep(&self, rows: &mut Rows, v: &mut Velocities) -> Result<f64, ImpulseError> {
        let mut change = 0.0_f64;
        let Rows { normals, pairs, groups, joints, .. } = rows;
        for group in groups.iter_mut() {
            if self.is_coupled(group) {
                let (i, j) = (group.normals.start, group.pairs.start);
                match self.coupled(&mut normals[i], &mut pairs[j], v) {
                    Ok(step) => {
                        change = change.max(step);
                        continue;
                    }
                    // Only a try: row by row it can be done.
                    Err(_) if self.settings.friction_mode == FrictionMode::FixedNormal => {}
                    Err(error) => return Err(error),
                }
            }
            let mut load = 0.0;
            for normal in &mut normals[group.normals.clone()] {
                change = change.max(self.normal(normal, v));
                load += normal.impulse;
            }
            let pairs = &mut pairs[group.pairs.clone()];
            let part = self.manner.part;
            if let Some(step) = group.angular.sweep_with((load, part), pairs, v)? {
                change = change.max(step);
                continue;
            }
            for pair in pairs.iter_mut() {
                change = change.max(self.friction(pair, load, v)?);
            }
            if let Angular::Spin(spin) = &mut group.angular {
                change = change.max(spin.sweep((load, part), pairs, v));
            }
        }
        for joints in joints {
            change = change.max(joints.relax(v));
        }
        Ok(change)
    }

    /// Whether the impulses of a group are found together: of one contact without angular rows.
    pub(super) fn is_coupled(&self, group: &Group) -> bool {
        let plain = matches!(group.angular, Angular::None) && group.pairs.len() == 1;
        let together = match self.settings.friction_mode {
            FrictionMode::FixedNormal => self.manner.together && group.normals.len() == 1,
            _ => group.point,
        };
        together && plain
    }

    /// `ω` \[–\].
    fn relaxation(&self) -> f64 {
        self.settings.relaxation * self.manner.part
    }

    fn bias(&self, normal: &NormalRow) -> f64 {
        let left_out = self.phase == Phase::Velocity && normal.kind == Bias::Overlap;
        if left_out { 0.0 } else { normal.bias }
    }

    /// `u + b + γ r`, zero where it is rounding.
    fn normal_residual(&self, normal: &NormalRow, v: &Velocities) -> f64 {
        let bias = self.bias(normal);
        let soft = normal.compliance * normal.impulse;
        let residual = normal.row.velocity(v) + bias + soft;
        let size = normal.row.magnitude(v) + bias.abs() + soft + normal.weight * normal.impulse;
        if residual.abs() <= ROUNDING * size { 0.0 } else { residual }
    }

    /// Natural residual of a normal row \[m/s\].
    pub(super) fn normal_step(&self, normal: &NormalRow, v: &Velocities) -> f64 {
        let whole = normal.weight + normal.compliance;
        let aim = (normal.impulse - self.normal_residual(normal, v) / whole).max(0.0);
        (normal.impulse - aim).abs() * whole
    }

    fn normal(&self, normal: &mut NormalRow, v: &mut Velocities) -> f64 {
        let whole = normal.weight + normal.compliance;
        let residual = self.normal_residual(normal, v);
        let old = normal.impulse;
        normal.impulse = (old - self.relaxation() * residual / whole).max(0.0);
        let step = normal.impulse - old;
        normal.row.apply(step, v);
        step.abs() * whole
    }

    fn friction(
        &self,
        pair: &mut FrictionPair,
        load: f64,
        v: &mut Velocities,
    ) -> Result<f64, ImpulseError> {
        let radius = pair.share * load;
        let slip = slip(pair, v);
        let old = pair.impulse;
        let whole = disk::update(&pair.block, radius, &old, &slip)?.impulse;
        let new = self.relaxed(&old, &whole, radius);
        let step = new - old;
        pair.impulse = new;
        for (row, step) in pair.rows.iter().zip(step.iter()) {
            row.apply(*step, v);
        }
        Ok((pair.block * step).norm())
    }

    /// Normal and friction of one contact together.
    fn coupled(
        &self,
        normal: &mut NormalRow,
        pair: &mut FrictionPair,
        v: &mut Velocities,
    ) -> Result<f64, ImpulseError> {
        let dilates = self.settings.friction_mode == FrictionMode::BisectionDesaxce;
        if dilates {
            // Its lift is that of the slip after the normal row alone.
            self.normal(normal, v);
        }
        let old = Vector3::new(normal.impulse, pair.impulse.x, pair.impulse.y);
        // It asks for its lift of contacts that Coulomb's law leaves alone too.
        let solved = !dilates
            && self.normal_step(normal, v) <= 0.0
            && friction_residual(pair, normal.impulse, v) <= self.pair_rounding(pair, v);
        if solved {
            return Ok(0.0);
        }
        let cone = self.cone(normal, pair, v);
        let new = match self.settings.friction_mode.bisection() {
            None => cone.solve()?.impulse,
            Some(law) => law.solve(&cone, &old)?.impulse,
        };
        // The cone is convex: between two impulses in it there are others.
        let part = self.manner.part;
        let new = if part < 1.0 { old + (new - old) * part } else { new };
        let step = new - old;
        (normal.impulse, pair.impulse) = (new.x, Vector2::new(new.y, new.z));
        normal.row.apply(step.x, v);
        pair.rows[0].apply(step.y, v);
        pair.rows[1].apply(step.z, v);
        Ok((cone.block * step).norm())
    }

    /// A contact and its friction, with all other impulses as they are.
    pub(super) fn cone(&self, normal: &NormalRow, pair: &FrictionPair, v: &Velocities) -> Cone {
        let block = self.block(normal, pair);
        let old = Vector3::new(normal.impulse, pair.impulse.x, pair.impulse.y);
        let slip = slip(pair, v);
        let soft = normal.compliance * normal.impulse;
        let now = Vector3::new(normal.row.velocity(v) + self.bias(normal) + soft, slip.x, slip.y);
        Cone { block, velocity: now - block * old, friction: pair.share }
    }

    fn block(&self, normal: &NormalRow, pair: &FrictionPair) -> Matrix3<f64> {
        let [s, t] = pair.rows.each_ref().map(|r| normal.row.coupling(r));
        let a = &pair.block;
        let n = normal.weight + normal.compliance;
        Matrix3::new(n, s, t, s, a[(0, 0)], a[(0, 1)], t, a[(1, 0)], a[(1, 1)])
    }

    /// What the rounding of the slip scales with \[m/s\].
    fn pair_rounding(&self, pair: &FrictionPair, v: &Velocities) -> f64 {
        let size = pair.rows[0].magnitude(v) + pair.rows[1].magnitude(v) + pair.bias.norm();
        ROUNDING * (size + pair.block.trace() * pair.impulse.norm())
    }

    /// Part of the way to a new impulse, or beyond it, inside the disk; the new one bit by bit without relaxation.
    fn relaxed(&self, old: &Vector2<f64>, new: &Vector2<f64>, radius: f64) -> Vector2<f64> {
        let beyond = self.relaxation() - 1.0;
        if beyond.abs() <= 0.0 {
            return *new;
        }
        let x = new + (new - old) * beyond;
        let size = x.norm();
        if size > radius { x * (radius / size) } else { x }
    }
}

/// What a pair does at the end of a solve: on the circle and against a slip that is not rounding, or inside.
///
/// * `radius`: of its circle \[N s\].
pub(crate) fn regime(pair: &FrictionPair, radius: f64, v: &Velocities) -> Regime {
    let (size, u) = (pair.impulse.norm(), slip(pair, v));
    let rounding = 1e-9 * pair.block.trace() * radius;
    if radius <= 0.0 {
        Regime::Empty
    } else if size >= radius * (1.0 - 1e-9) && u.dot(&pair.impulse) < -rounding * size {
        Regime::Slide
    } else {
        Regime::Stick
    }
}

/// Friction impulse in the world \[N s\].
pub(crate) fn world(pair: &FrictionPair) -> Vector3<f64> {
    pair.directions[0] * pair.impulse.x + pair.directions[1] * pair.impulse.y
}
