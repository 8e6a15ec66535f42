//! Rows in the velocities of a tree.

use super::law::RowSource;

/// `u + b + γ r = 0` within bounds, with `u = J v`.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeRow {
    /// `J`, one entry a degree of freedom.
    pub jacobian: Vec<f64>,
    /// `Ĥ⁻¹Jᵀ`.
    pub response: Vec<f64>,
    /// `J Ĥ⁻¹Jᵀ`, the inverse of the inertia that the row feels.
    pub weight: f64,
    /// `b`, in the unit of `u`.
    pub bias: f64,
    /// `γ` \[1/kg or 1/(kg m²)\], ≥ 0.
    pub compliance: f64,
    /// Least and largest impulse \[N s or N m s\].
    pub bounds: [f64; 2],
    /// `r` \[N s or N m s\].
    pub impulse: f64,
    /// What it belongs to.
    pub source: RowSource,
}

impl TreeRow {
    /// `u = J v`.
    #[inline]
    pub fn velocity(&self, v: &[f64]) -> f64 {
        self.jacobian.iter().zip(v).map(|(j, v)| j * v).sum()
    }

    /// `v ← v + Ĥ⁻¹Jᵀ r`.
    #[inline]
    pub fn apply(&self, impulse: f64, v: &mut [f64]) {
        for (v, response) in v.iter_mut().zip(&self.response) {
            *v += response * impulse;
        }
    }

    /// The impulse that solves the row alone, within its bounds.
    fn aim(&self, v: &[f64]) -> f64 {
        let whole = self.weight + self.compliance;
        let residual = self.velocity(v) + self.bias + self.compliance * self.impulse;
        let [least, most] = self.bounds;
        (self.impulse - residual / whole).clamp(least, most)
    }

    /// Natural residual: how far the row is from solved, as a velocity.
    pub fn residual(&self, v: &[f64]) -> f64 {
        (self.aim(v) - self.impulse).abs() * (self.weight + self.compliance)
    }

    /// Natural residual that the row would have without its impulse, at velocities without it.
    pub fn idle_residual(&self, free: &[f64]) -> f64 {
        let whole = self.weight + self.compliance;
        let [least, most] = self.bounds;
        (-(self.velocity(free) + self.bias) / whole).clamp(least, most).abs() * whole
    }

    /// Starts from an impulse, held within the bounds.
    pub fn start(&mut self, impulse: f64) {
        let [least, most] = self.bounds;
        self.impulse = impulse.clamp(least, most);
    }

    /// Solves the row alone; the change of its velocity.
    pub fn relax(&mut self, v: &mut [f64]) -> f64 {
        let aim = self.aim(v);
        let step = aim - self.impulse;
        self.apply(step, v);
        self.impulse = aim;
        step.abs() * (self.weight + self.compliance)
    }
}

/// Dry friction of a joint with more degrees of freedom: `u = 0` within `‖r‖ ≤ bound`.
#[derive(Clone, Debug, PartialEq)]
pub struct FrictionBlock {
    /// One row a degree of freedom; their own bounds are not used.
    pub rows: Vec<TreeRow>,
    /// Largest norm of the impulses \[N s or N m s\].
    pub bound: f64,
    /// The link whose joint it is.
    pub link: usize,
    /// Degree of freedom of the first row.
    pub first: usize,
}

/// Steps of the projected iteration of a block each time it is relaxed.
const BLOCK_STEPS: usize = 8;

impl FrictionBlock {
    /// `Σ J Ĥ⁻¹Jᵀ`: no eigenvalue of the block is larger.
    fn trace(&self) -> f64 {
        self.rows.iter().map(|r| r.weight).sum()
    }

    fn aim(&self, v: &[f64], trace: f64) -> Vec<f64> {
        let mut aim: Vec<f64> =
            self.rows.iter().map(|r| r.impulse - r.velocity(v) / trace).collect();
        let norm = aim.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > self.bound {
            aim.iter_mut().for_each(|x| *x *= self.bound / norm);
        }
        aim
    }

    /// Natural residual: how far the block is from solved, as a velocity.
    pub fn residual(&self, v: &[f64]) -> f64 {
        let trace = self.trace();
        let aim = self.aim(v, trace);
        let square: f64 = aim.iter().zip(&self.rows).map(|(a, r)| (a - r.impulse).powi(2)).sum();
        square.sqrt() * trace
    }

    /// Natural residual that the block would have without its impulses, at velocities without them.
    pub fn idle_residual(&self, free: &[f64]) -> f64 {
        let trace = self.trace();
        let square: f64 = self.rows.iter().map(|r| r.velocity(free).powi(2)).sum();
        square.sqrt().min(self.bound * trace)
    }

    /// Scales the impulses back to the bound.
    pub fn hold(&mut self) {
        let norm = self.rows.iter().map(|r| r.impulse * r.impulse).sum::<f64>().sqrt();
        if norm > self.bound {
            self.rows.iter_mut().for_each(|r| r.impulse *= self.bound / norm);
        }
    }

    /// Projected gradient steps on the block alone; the change of its velocities.
    pub fn relax(&mut self, v: &mut [f64]) -> f64 {
        let trace = self.trace();
        let mut change: f64 = 0.0;
        for _ in 0..BLOCK_STEPS {
            let aim = self.aim(v, trace);
            let mut square = 0.0;
            for (row, aim) in self.rows.iter_mut().zip(aim) {
                let step = aim - row.impulse;
                row.apply(step, v);
                row.impulse = aim;
                square += step * step;
            }
            change = change.max(square.sqrt() * trace);
            if square <= 0.0 {
                break;
            }
        }
        change
    }
}
