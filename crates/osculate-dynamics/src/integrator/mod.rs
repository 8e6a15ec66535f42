//! Integration methods: eight, through one stage form.
//!
//! ```text
//! y*      = Σ_r α_r y_{n+1−r}                      start of the step from l states
//! Y⁰_i    = y* + Σ_{j<i} ã_ij (Y_j − y*)           stage start
//! Δt_i    = β A_ii Δt,   t_i = t_n + (1 − β + β c_i) Δt
//! Y_i     = Y⁰_i + Δt_i f(t_i, Y_i)                a backward-Euler-like solve
//! y_{n+1} = y* + Σ_i b̃_i (Y_i − y*)
//! ã_i = A_{i,<i} A_{<i,<i}⁻¹,   b̃ᵀ = bᵀ A⁻¹
//! ```
//!
//! Rotations are combined through logarithms about the base: `exp(Σ w_j log(R_j R_bᵀ)) R_b`.

mod dirk;
mod multistep;

/// Most states, and most stages, that a method uses.
pub const MOST: usize = 3;

/// An integration method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Method {
    /// Backward Euler: order 1, L-stable. The default of the model.
    #[default]
    BackwardEuler,
    /// Two-step backward differences: order 2, A-stable. Recommended for accuracy.
    Bdf2,
    /// Three-step backward differences: order 3 from an exact history; starts as backward Euler, then BDF2.
    Bdf3,
    /// Two stages, order 2, L-stable (Alexander 1977).
    Dirk22,
    /// Two stages, order 3, A-stable (Crouzeix 1975; Nørsett 1974).
    Dirk23,
    /// Three stages, order 3, L-stable (Alexander 1977).
    Dirk33,
    /// Implicit midpoint: one stage, order 2, symplectic.
    SymplecticDirk12,
    /// Two stages, order 2, symplectic (Sanz-Serna and Abia 1991).
    SymplecticDirk22,
}

impl Method {
    /// Every method, for tests and tables.
    pub const ALL: [Self; 8] = [
        Self::BackwardEuler,
        Self::Bdf2,
        Self::Bdf3,
        Self::Dirk22,
        Self::Dirk23,
        Self::Dirk33,
        Self::SymplecticDirk12,
        Self::SymplecticDirk22,
    ];

    /// Order of convergence on a smooth problem; of [`Method::Bdf3`] from an exact history.
    pub fn order(self) -> u32 {
        match self {
            Self::BackwardEuler => 1,
            Self::Bdf2 | Self::Dirk22 | Self::SymplecticDirk12 | Self::SymplecticDirk22 => 2,
            Self::Bdf3 | Self::Dirk23 | Self::Dirk33 => 3,
        }
    }

    /// Stages a step.
    pub fn stages(self) -> usize {
        match self {
            Self::Dirk22 | Self::Dirk23 | Self::SymplecticDirk22 => 2,
            Self::Dirk33 => 3,
            _ => 1,
        }
    }

    /// Coefficients of a step that has `states` earlier states (≥ 1) to start from.
    pub fn tableau(self, states: usize) -> Tableau {
        match self {
            Self::BackwardEuler => multistep::backward_differences(1),
            Self::Bdf2 => multistep::backward_differences(states.min(2)),
            Self::Bdf3 => multistep::backward_differences(states.min(3)),
            Self::Dirk22 => dirk::alexander_2(),
            Self::Dirk23 => dirk::crouzeix_3(),
            Self::Dirk33 => dirk::alexander_3(),
            Self::SymplecticDirk12 => dirk::midpoint(),
            Self::SymplecticDirk22 => dirk::symplectic_2(),
        }
    }
}

/// Coefficients of a method in the slope-free form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tableau {
    /// `α_r`, weights of the states `y_{n+1−r}`; they sum to 1.
    pub alpha: [f64; MOST],
    /// How many states there are.
    pub history: usize,
    /// How many stages there are.
    pub stages: usize,
    /// `ã_ij` for j < i.
    pub start_weights: [[f64; MOST]; MOST],
    /// `b̃_i`.
    pub step_weights: [f64; MOST],
    /// `β A_ii`, the stage duration in steps.
    pub duration: [f64; MOST],
    /// `1 − β + β c_i`, the stage time in steps.
    pub node: [f64; MOST],
    /// The step ends at the last stage: `b̃ = (0, …, 1)`.
    pub stiffly_accurate: bool,
}

impl Tableau {
    /// From `A`, `b`, `c` of a one-step method (the page's table).
    fn one_step<const S: usize>(a: [[f64; S]; S], b: [f64; S], c: [f64; S]) -> Self {
        let mut t = Self {
            alpha: [1.0, 0.0, 0.0],
            history: 1,
            stages: S,
            start_weights: [[0.0; MOST]; MOST],
            step_weights: [0.0; MOST],
            duration: [0.0; MOST],
            node: [0.0; MOST],
            stiffly_accurate: false,
        };
        for i in 0..S {
            t.duration[i] = a[i][i];
            t.node[i] = c[i];
            let row = solve_left(&a, &a[i][..i]);
            t.start_weights[i][..i].copy_from_slice(&row[..i]);
        }
        t.step_weights[..S].copy_from_slice(&solve_left(&a, &b)[..S]);
        // b is the last row of A: the step ends at the last stage, to the bit.
        t.stiffly_accurate = a[S - 1].iter().zip(&b).all(|(x, y)| x.to_bits() == y.to_bits());
        t
    }
}

/// `x` with `xᵀ A = rowᵀ` for the leading block of a lower-triangular `A`.
fn solve_left<const S: usize>(a: &[[f64; S]; S], row: &[f64]) -> [f64; MOST] {
    let mut x = [0.0; MOST];
    for j in (0..row.len()).rev() {
        let known: f64 = (j + 1..row.len()).map(|k| x[k] * a[k][j]).sum();
        x[j] = (row[j] - known) / a[j][j];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One step of `y' = λ y` from `history` (latest last), Δt = 1.
    fn step(t: &Tableau, lambda: f64, history: &[f64]) -> f64 {
        let start: f64 = (0..t.history).map(|r| t.alpha[r] * history[history.len() - 1 - r]).sum();
        let mut ends = [0.0; MOST];
        for i in 0..t.stages {
            let y0 = start + (0..i).map(|j| t.start_weights[i][j] * (ends[j] - start)).sum::<f64>();
            ends[i] = y0 / (1.0 - t.duration[i] * lambda);
        }
        start + (0..t.stages).map(|i| t.step_weights[i] * (ends[i] - start)).sum::<f64>()
    }

    #[test]
    fn every_method_has_its_order_on_the_linear_test_equation() {
        for method in Method::ALL {
            let t = method.tableau(3);
            let error =
                |h: f64| (step(&t, h, &[(-2.0 * h).exp(), (-h).exp(), 1.0]) - h.exp()).abs();
            let slope = (error(0.02) / error(0.01)).log2();
            let expected = f64::from(method.order() + 1);
            assert!((slope - expected).abs() < 0.1, "{method:?}: local order {slope}");
        }
    }

    #[test]
    fn weights_of_states_sum_to_one_and_nodes_are_consistent() {
        for method in Method::ALL {
            for states in 1..=3 {
                let t = method.tableau(states);
                assert!(t.history <= states && t.stages == method.stages());
                assert!((t.alpha.iter().sum::<f64>() - 1.0).abs() < 1e-15);
                // Consistency: for y' = 1 every stage ends at its node.
                let start: f64 = (0..t.history).map(|r| -t.alpha[r] * r as f64).sum();
                let mut ends = [0.0; MOST];
                for i in 0..t.stages {
                    let y0 = start
                        + (0..i).map(|j| t.start_weights[i][j] * (ends[j] - start)).sum::<f64>();
                    ends[i] = y0 + t.duration[i];
                    assert!((ends[i] - t.node[i]).abs() < 1e-14, "{method:?}");
                }
            }
        }
    }

    #[test]
    fn stiffly_accurate_methods_end_at_their_last_stage() {
        for method in Method::ALL {
            let t = method.tableau(3);
            let last = t.stages - 1;
            let ends =
                (0..t.stages).all(|i| (t.step_weights[i] - f64::from(i == last)).abs() < 1e-14);
            assert_eq!(t.stiffly_accurate, ends, "{method:?}");
        }
    }
}
