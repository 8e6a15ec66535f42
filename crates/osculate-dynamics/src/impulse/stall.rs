//! Sweeps that get nowhere, and other ways to go on.
//!
//! ```text
//! at looks kᵢ:   slow      ln(rᵢ/rᵢ₊₁) < ½ (kᵢ₊₁ − kᵢ) ln(1/tolerance)/(most sweeps)
//!                stalled   slow, and rᵢ₊₁ > 0.9 rᵢ
//! slow           leap: r + t Δ, Δ the change of one sweep, t = 4², 4³ … 4⁷, on the cones; the best after four sweeps;
//!                only where two sweeps change the same: ‖Δ₂ − Δ₁‖ ≤ ½ ‖Δ₁‖
//! stalled, no leap helps      the next manner: shorter steps, one contact as a whole
//! ```
//!
//! *Slow* is half the mean rate that the tolerance asks for. Rows that contradict each other are wound up by the same
//! little in every sweep until one of them is at its limit: a leap takes many of these sweeps at once. Where friction and load drive each other
//! through a coupling stronger than the row itself, full steps go round in a cycle; shorter ones, or the one contact solved as a whole, converge. All
//! manners have the same fixed points.
//!
//! Nothing is watched before the first look, so that what converges before keeps its bits. A solve that fails ends at the
//! smallest residual that was looked at.

use super::row::Velocities;
use super::rows::Rows;
use nalgebra::{Vector2, Vector3};

/// How a sweep goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Manner {
    /// Part of the way that an impulse goes to what its row asks for \[–\].
    pub(crate) part: f64,
    /// Whether the impulses of a contact that is alone in its group are found together.
    pub(crate) together: bool,
}

impl Manner {
    /// The usual one.
    pub(crate) const WHOLE: Self = Self { part: 1.0, together: false };
}

/// The order in which they are tried.
const MANNERS: [Manner; 6] = [
    Manner::WHOLE,
    Manner { part: 0.5, together: false },
    Manner { part: 1.0, together: true },
    Manner { part: 0.5, together: true },
    Manner { part: 0.25, together: true },
    Manner { part: 0.125, together: true },
];

/// Sweeps before the first look.
const FIRST: usize = 128;

/// Sweeps of the first trial of a manner.
const TRIAL: usize = 64;

/// Sweeps from a leap to the next look.
const LANDED: usize = 32;

/// Ratio of two residuals from which sweeps have stalled \[–\].
const STALLED: f64 = 0.9;

/// Sweeps that a leap stands for.
pub(crate) const LEAPS: [f64; 6] = [16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0];

/// Sweeps after which a leap is judged.
pub(crate) const SETTLE: usize = 4;

/// Leaps at most one after the other that bring nothing to be seen.
const MOST_LEAPS: usize = 8;

/// Ratio of two residuals below which something is seen \[–\].
const SEEN: f64 = 0.98;

/// What a look finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// On the way.
    Falls,
    /// Not there in time.
    Slow,
    /// Not at all.
    Stalled,
}

/// Watches the residual of a solve.
#[derive(Debug)]
pub(crate) struct Watch {
    /// `ln(1/tolerance)/(most sweeps)`.
    rate: f64,
    manner: usize,
    trial: usize,
    leaps: usize,
    /// The last look, and the next: sweeps done.
    looked: usize,
    next: usize,
    residual: f64,
    best: Option<Box<State>>,
}

/// A state of a solve, and its residual.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) residual: f64,
    pub(crate) rows: Rows,
    pub(crate) velocities: Vec<Vector3<f64>>,
}

impl State {
    pub(crate) fn of(rows: &Rows, v: &Velocities, residual: f64) -> Self {
        Self { residual, rows: rows.clone(), velocities: v.to_vec() }
    }

    pub(crate) fn put(&self, rows: &mut Rows, v: &mut Velocities) {
        rows.clone_from(&self.rows);
        v.copy_from_slice(&self.velocities);
    }
}

impl Watch {
    pub(crate) fn new(tolerance: f64, sweeps: usize) -> Self {
        Self {
            rate: -tolerance.min(1.0).ln() / sweeps as f64,
            manner: 0,
            trial: TRIAL,
            leaps: 0,
            looked: 0,
            next: FIRST,
            residual: f64::NAN,
            best: None,
        }
    }

    /// Whether it is time to look.
    pub(crate) fn is_due(&self, sweeps: usize) -> bool {
        sweeps >= self.next
    }

    /// How the residual \[m/s\] falls.
    pub(crate) fn pace(&self, sweeps: usize, residual: f64) -> Pace {
        let asked = 0.5 * self.rate * (sweeps - self.looked) as f64;
        // Nothing can be said at the first look; what is not a number gets nowhere.
        let falls = self.looked == 0 || (self.residual / residual).ln() >= asked;
        match falls {
            true => Pace::Falls,
            false if residual < STALLED * self.residual => Pace::Slow,
            false => Pace::Stalled,
        }
    }

    /// Whether a leap may be tried.
    pub(crate) fn may_leap(&mut self, residual: f64) -> bool {
        self.leaps = if residual < SEEN * self.residual { 0 } else { self.leaps + 1 };
        self.leaps <= MOST_LEAPS
    }

    /// Goes on after a leap from the residual \[m/s\]: the next look compares with what was before it.
    pub(crate) fn landed(&mut self, sweeps: usize, residual: f64, state: State) {
        (self.looked, self.next, self.residual) = (sweeps, sweeps + LANDED, residual);
        self.keep(state);
    }

    fn keep(&mut self, state: State) {
        if self.best.as_ref().is_none_or(|b| state.residual < b.residual) {
            self.best = Some(Box::new(state));
        }
    }

    /// How to go on without a leap.
    pub(crate) fn next(&mut self, sweeps: usize, pace: Pace, state: State) -> Manner {
        let passed = sweeps - self.looked;
        if pace == Pace::Stalled {
            self.manner = (self.manner + 1) % MANNERS.len();
            // After the last manner the first again, for longer: what is slow but falls needs time.
            if self.manner == 0 {
                (self.trial, self.leaps) = (2 * self.trial, 0);
            }
        }
        let interval = match pace {
            Pace::Stalled => self.trial,
            _ if self.looked > 0 => 2 * passed,
            _ => passed,
        };
        (self.looked, self.next, self.residual) = (sweeps, sweeps + interval, state.residual);
        if pace != Pace::Falls || self.best.is_some() {
            self.keep(state);
        }
        MANNERS[self.manner]
    }

    /// Goes back to the best state that was looked at, where a residual is not smaller.
    pub(crate) fn restore(self, residual: f64, rows: &mut Rows, v: &mut Velocities) -> bool {
        match self.best {
            Some(best) if residual.is_nan() || residual > best.residual => {
                best.put(rows, v);
                true
            }
            _ => false,
        }
    }
}

/// Whether two sweeps, from `first` to `second` and to the impulses of `rows`, changed the same.
pub(crate) fn is_steady(first: &Rows, second: &Rows, rows: &Rows) -> bool {
    let (mut size, mut turned) = (0.0, 0.0);
    let mut see = |a: f64, b: f64, c: f64| {
        size += (b - a) * (b - a);
        turned += (c - 2.0 * b + a) * (c - 2.0 * b + a);
    };
    for ((a, b), c) in first.normals.iter().zip(&second.normals).zip(&rows.normals) {
        see(a.impulse, b.impulse, c.impulse);
    }
    for ((a, b), c) in first.pairs.iter().zip(&second.pairs).zip(&rows.pairs) {
        (0..2).for_each(|k| see(a.impulse[k], b.impulse[k], c.impulse[k]));
    }
    turned <= 0.25 * size
}

/// Adds `factor` times the change since the impulses of `before`, on the cones.
pub(crate) fn leap(rows: &mut Rows, v: &mut Velocities, before: &Rows, factor: f64) {
    let Rows { normals, pairs, groups, .. } = rows;
    for (normal, old) in normals.iter_mut().zip(&before.normals) {
        let new = (normal.impulse + (normal.impulse - old.impulse) * factor).max(0.0);
        normal.row.apply(new - normal.impulse, v);
        normal.impulse = new;
    }
    for group in groups {
        let load: f64 = normals[group.normals.clone()].iter().map(|n| n.impulse).sum();
        let old = &before.pairs[group.pairs.clone()];
        for (pair, old) in pairs[group.pairs.clone()].iter_mut().zip(old) {
            let aim: Vector2<f64> = pair.impulse + (pair.impulse - old.impulse) * factor;
            let (size, radius) = (aim.norm(), pair.share * load);
            let new = if size > radius { aim * (radius / size) } else { aim };
            let step = new - pair.impulse;
            pair.impulse = new;
            pair.rows[0].apply(step.x, v);
            pair.rows[1].apply(step.y, v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(residual: f64) -> State {
        State { residual, rows: Rows::default(), velocities: vec![Vector3::zeros()] }
    }

    #[test]
    fn nothing_is_watched_before_the_first_look_and_nothing_said_at_it() {
        let mut watch = Watch::new(1e-8, 10_000);
        assert!((0..FIRST).all(|k| !watch.is_due(k)) && watch.is_due(FIRST));
        assert_eq!(watch.pace(FIRST, 1.0), Pace::Falls);
        assert_eq!(watch.next(FIRST, Pace::Falls, state(1.0)), Manner::WHOLE);
        assert!(!watch.is_due(2 * FIRST - 1) && watch.is_due(2 * FIRST));
    }

    #[test]
    fn what_converges_by_the_last_sweep_is_never_slow() {
        // At the mean rate that the tolerance asks for, at every look there is.
        let (tolerance, sweeps) = (1e-8, 10_000);
        let rate = f64::ln(1.0 / tolerance) / sweeps as f64;
        let mut watch = Watch::new(tolerance, sweeps);
        for k in (0..sweeps).filter(|&k| k > 0) {
            if watch.is_due(k) {
                let residual = (-rate * k as f64).exp();
                let pace = watch.pace(k, residual);
                assert_eq!(pace, Pace::Falls, "{k}");
                watch.next(k, pace, state(residual));
            }
        }
    }

    #[test]
    fn a_residual_that_stays_goes_through_all_manners_and_starts_again_for_longer() {
        let mut watch = Watch::new(1e-8, 10_000);
        let (mut k, mut seen, mut at) = (FIRST, Vec::new(), Vec::new());
        while seen.len() < 9 {
            k = (k..).find(|&k| watch.is_due(k)).unwrap();
            let pace = watch.pace(k, 0.3);
            seen.push(watch.next(k, pace, state(0.3)));
            at.push(k);
        }
        assert_eq!(seen[0], Manner::WHOLE);
        assert_eq!(seen[1..7], [&MANNERS[1..], &MANNERS[..1]].concat());
        assert_eq!(at[8] - at[7], 2 * TRIAL);
    }

    #[test]
    fn a_solve_that_fails_ends_at_the_smallest_residual_that_was_looked_at() {
        let mut watch = Watch::new(1e-8, 10_000);
        for (k, residual) in [(128, 1.0), (256, 1.0), (320, 0.95), (384, 2.0)] {
            let pace = watch.pace(k, residual);
            let mut found = state(residual);
            found.velocities[0].x = residual;
            watch.next(k, pace, found);
        }
        let (mut rows, mut v) = (Rows::default(), vec![Vector3::zeros()]);
        assert!(watch.restore(1.5, &mut rows, &mut v));
        assert!((v[0].x - 0.95).abs() <= 0.0);
    }

    #[test]
    fn leaps_that_bring_nothing_end_and_those_that_help_go_on() {
        let mut watch = Watch::new(1e-8, 10_000);
        watch.pace(128, 1.0);
        watch.next(128, Pace::Falls, state(1.0));
        let blind = (0..20).filter(|_| watch.may_leap(1.0)).count();
        assert_eq!(blind, MOST_LEAPS);
        assert!(watch.may_leap(0.5));
    }
}
