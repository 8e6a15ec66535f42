//! The shared gradient validator: every law test runs it over its regimes.

use crate::{Jet, Scalar};
use num_dual::{Dual64, DualSVec64};

/// A law under test: a generic function `Rᴺ → Rᴹ`.
pub trait Law<const N: usize, const M: usize> {
    /// The value at `x`.
    fn value<T: Scalar>(&self, x: [T; N]) -> [T; M];
}

/// What a law promises at a point, which fixes how closely differences can agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smoothness {
    /// Twice differentiable around the point: central differences of value and slope must agree.
    Smooth,
    /// On a joint where the slope is continuous and the second derivative jumps: the slope is checked, with the
    /// first-order error a difference across the joint has.
    Joint,
    /// On a kink or at a jump: no difference is meaningful; dual types must still agree with each other, and
    /// be finite.
    Kink,
}

/// Relative agreement asked of exact derivatives by different dual types.
const EXACT: f64 = 1e-12;

/// Checks that a law has the same value in every scalar, the same gradient in [`Jet`], `Dual64` and
/// `DualSVec64`, and that gradient and second derivative agree with Richardson-extrapolated differences.
///
/// * `steps`: a difference step for each argument, small against the scale on which the law curves there.
/// * `tolerance`: relative to the largest entry of the gradient (of the Hessian) plus the value's own rounding.
///
/// # Panics
/// With the regime, the argument and both numbers, where something disagrees.
pub fn gradients<const N: usize, const M: usize>(
    law: &impl Law<N, M>,
    regime: &str,
    x: [f64; N],
    steps: [f64; N],
    smoothness: Smoothness,
    tolerance: f64,
) {
    let value = law.value(x);
    let jet = law.value::<Jet<N>>(std::array::from_fn(|i| Jet::variable(x[i], i)));
    let scale = jet.iter().flat_map(|y| y.eps).fold(0.0, |m: f64, e| m.max(e.abs()));
    for (m, (y, j)) in value.iter().zip(&jet).enumerate() {
        assert!(
            (y - j.re).abs() <= EXACT * (y.abs() + f64::MIN_POSITIVE),
            "{regime}: output {m} is {y} in f64 and {} in jets",
            j.re
        );
    }
    for i in 0..N {
        check_dual_types(law, regime, x, i, &jet, scale);
        if smoothness == Smoothness::Kink {
            continue;
        }
        let slope = |h: f64| difference(|t| law.value(shift(x, i, t)), h);
        let joint = smoothness == Smoothness::Joint;
        let numeric = if joint { slope(steps[i] * 1e-3) } else { richardson(&slope, steps[i]) };
        for m in 0..M {
            let (exact, found) = (jet[m].eps[i], numeric[m]);
            let rounding = value[m].abs() * 1e-15 / steps[i];
            // Across a joint the slope changes by up to its own size over the largest step.
            let allowed =
                if joint { (scale + value[m].abs() + steps[i]) * 1e-2 } else { tolerance * scale };
            assert!(
                (exact - found).abs() <= allowed + rounding * 100.0,
                "{regime}: ∂y{m}/∂x{i} is {exact} exactly and {found} by differences (allowed {allowed:e})"
            );
        }
        if smoothness == Smoothness::Smooth {
            check_second(law, regime, x, steps, i, tolerance);
        }
    }
}

fn shift<const N: usize>(mut x: [f64; N], i: usize, t: f64) -> [f64; N] {
    x[i] += t;
    x
}

fn difference<const M: usize>(f: impl Fn(f64) -> [f64; M], h: f64) -> [f64; M] {
    let (a, b) = (f(h), f(-h));
    std::array::from_fn(|m| (a[m] - b[m]) / (2.0 * h))
}

fn richardson<const M: usize>(slope: &impl Fn(f64) -> [f64; M], h: f64) -> [f64; M] {
    let (coarse, fine) = (slope(h), slope(h / 2.0));
    std::array::from_fn(|m| (fine[m] * 4.0 - coarse[m]) / 3.0)
}

fn check_dual_types<const N: usize, const M: usize>(
    law: &impl Law<N, M>,
    regime: &str,
    x: [f64; N],
    i: usize,
    jet: &[Jet<N>; M],
    scale: f64,
) {
    let dual = law.value::<Dual64>(std::array::from_fn(|j| {
        Dual64::new(x[j], if i == j { 1.0 } else { 0.0 })
    }));
    let wide = law.value::<DualSVec64<1>>(std::array::from_fn(|j| {
        if i == j { DualSVec64::<1>::from(x[j]).derivative(0) } else { DualSVec64::from(x[j]) }
    }));
    for m in 0..M {
        let exact = jet[m].eps[i];
        let vector = wide[m].eps.unwrap_generic(nalgebra::Const::<1>, nalgebra::Const::<1>)[0];
        for (name, found) in [("Dual64", dual[m].eps), ("DualSVec64", vector)] {
            assert!(
                exact.is_finite() && (exact - found).abs() <= EXACT * scale,
                "{regime}: ∂y{m}/∂x{i} is {exact} in jets and {found} in {name}"
            );
        }
    }
}

fn check_second<const N: usize, const M: usize>(
    law: &impl Law<N, M>,
    regime: &str,
    x: [f64; N],
    steps: [f64; N],
    i: usize,
    tolerance: f64,
) {
    let gradient_of =
        |x: [f64; N]| law.value::<Jet<N>>(std::array::from_fn(|j| Jet::variable(x[j], j)));
    let nested = law.value::<Jet<N, Jet<1>>>(std::array::from_fn(|j| {
        let re = if i == j { Jet::variable(x[j], 0) } else { Jet::constant(x[j]) };
        Jet::variable(re, j)
    }));
    let first = nested.iter().flat_map(|y| y.eps.map(|e| e.re.abs())).fold(0.0, f64::max);
    let scale = nested.iter().flat_map(|y| y.eps.map(|e| e.eps[0].abs())).fold(0.0, f64::max);
    for j in 0..N {
        let slope = |h: f64| difference(|t| gradient_of(shift(x, i, t)).map(|y| y.eps[j]), h);
        let numeric = richardson(&slope, steps[i]);
        for m in 0..M {
            let exact = nested[m].eps[j].eps[0];
            assert!(
                (exact - numeric[m]).abs() <= tolerance * scale + first * 1e-13 / steps[i],
                "{regime}: ∂²y{m}/∂x{i}∂x{j} is {exact} exactly and {} by differences",
                numeric[m]
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Cubic;
    impl Law<2, 1> for Cubic {
        fn value<T: Scalar>(&self, [x, y]: [T; 2]) -> [T; 1] {
            [x * x * x * y + y.sin()]
        }
    }

    /// Drops the derivative with respect to its second argument.
    struct Forgetful;
    impl Law<2, 1> for Forgetful {
        fn value<T: Scalar>(&self, [x, y]: [T; 2]) -> [T; 1] {
            [x * T::from(y.re())]
        }
    }

    #[test]
    fn accepts_a_smooth_law() {
        gradients(&Cubic, "smooth", [0.7, 0.3], [1e-2; 2], Smoothness::Smooth, 1e-7);
    }

    #[test]
    #[should_panic(expected = "∂y0/∂x1")]
    fn catches_a_dropped_derivative() {
        gradients(&Forgetful, "smooth", [0.7, 0.3], [1e-2; 2], Smoothness::Smooth, 1e-7);
    }
}
