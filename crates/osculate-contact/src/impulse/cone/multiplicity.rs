//! Every solution of one contact, by the quartic of its sliding ones.
//!
//! ```text
//! in the eigenbasis of A:  D(α) = (l₁ + α)(l₂ + α)
//! W_N r_N D  = Q(α) = −b_N α² + (w·c − b_N (l₁ + l₂)) α + w₁c₁l₂ + w₂c₂l₁ − b_N l₁l₂
//! ‖s‖² D²    = q(α) = ‖c‖² α² + 2 (c₁²l₂ + c₂²l₁) α + c₁²l₂² + c₂²l₁²
//! slide:       μ² Q² − W_N² q = 0,  α > 0,  Q > 0
//! ```
//!
//! Source: Bonnefon and Daviet 2011, *Quartic formulation of Coulomb 3D frictional contact*, INRIA RT-0400; derived here again.

use super::super::ImpulseError;
use super::{Cone, ConeRegime, ConeSolution, Reduced};
use nalgebra::Vector3;

/// Coefficients from the constant upwards.
fn evaluate(p: &[f64], x: f64) -> f64 {
    p.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Where a polynomial changes its sign for `x > 0`, ascending.
///
/// Between neighbouring sign changes of its derivative it is monotone, so that bisection finds each root once. A double root,
/// where two solutions meet, is none or two, as rounding has it.
fn positive_roots(p: &[f64]) -> Vec<f64> {
    if p.len() < 2 {
        return Vec::new();
    }
    let derivative: Vec<f64> = p.iter().enumerate().skip(1).map(|(k, c)| c * k as f64).collect();
    let leading = p.iter().rev().find(|c| c.abs() > 0.0).copied().unwrap_or(1.0);
    // Cauchy's bound.
    let bound = 1.0 + p.iter().fold(0.0, |m: f64, c| m.max((c / leading).abs()));
    let mut ends = vec![0.0];
    ends.extend(positive_roots(&derivative).into_iter().filter(|x| *x < bound));
    ends.push(bound);
    let change = |w: &[f64]| {
        let (mut low, mut high) = (w[0], w[1]);
        let rising = evaluate(p, high) > 0.0;
        if (evaluate(p, low) > 0.0) == rising {
            return None;
        }
        for _ in 0..2200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if (evaluate(p, middle) > 0.0) == rising { high = middle } else { low = middle }
        }
        (high > 0.0).then_some(high)
    };
    ends.windows(2).filter_map(change).collect()
}

impl Cone {
    /// Every impulse that satisfies Coulomb's law: open, sticking, then sliding by growing slip. One or three, but where solutions meet.
    ///
    /// # Errors
    /// As [`Cone::solve`].
    pub fn solutions(&self) -> Result<Vec<ConeSolution>, ImpulseError> {
        let reduced = self.check()?;
        let mut found = Vec::new();
        if self.velocity.x >= 0.0 {
            let (impulse, regime) = (Vector3::zeros(), ConeRegime::Open);
            found.push(ConeSolution { impulse, multiplier: 0.0, regime, steps: 0 });
        }
        if self.friction <= 0.0 {
            if self.velocity.x < 0.0 {
                found.push(self.solve()?);
            }
            return Ok(found);
        }
        let (s, _, load) = reduced.at(0.0);
        if load > 0.0 && s.norm() <= self.friction * load {
            found.push(reduced.solution(0.0, ConeRegime::Stick, 0));
        }
        found.extend(reduced.slides(self.friction));
        Ok(found)
    }
}

impl Reduced {
    /// Every sliding solution.
    fn slides(&self, friction: f64) -> Vec<ConeSolution> {
        // Dimensionless: mobilities over the size of A, velocities over the largest.
        let size = self.spectrum.size;
        let speed = self.drive.amax().max(self.normal_velocity.abs());
        if speed <= 0.0 {
            return Vec::new();
        }
        let [l1, l2] = self.spectrum.values;
        let [w1, w2] = self.spectrum.rotate(&self.coupling).map(|w| w / size);
        let [c1, c2] = self.spectrum.rotate(&self.drive).map(|c| c / speed);
        let (normal, b) = (self.normal / size, self.normal_velocity / speed);
        let load =
            [w1 * c1 * l2 + w2 * c2 * l1 - b * l1 * l2, w1 * c1 + w2 * c2 - b * (l1 + l2), -b];
        let slip = [
            c1 * c1 * l2 * l2 + c2 * c2 * l1 * l1,
            2.0 * (c1 * c1 * l2 + c2 * c2 * l1),
            c1 * c1 + c2 * c2,
        ];
        let mut quartic = [0.0; 5];
        for (i, a) in load.iter().enumerate() {
            for (j, b) in load.iter().enumerate() {
                quartic[i + j] += friction * friction * a * b;
            }
            quartic[i] -= normal * normal * slip[i];
        }
        let loaded = |x: &f64| evaluate(&load, *x) > 0.0;
        let roots = positive_roots(&quartic).into_iter().filter(loaded);
        roots.map(|x| self.solution(x * size, ConeRegime::Slide, 0)).collect()
    }
}
