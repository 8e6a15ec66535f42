//! Diagonally implicit Runge–Kutta methods.

use super::Tableau;

/// γ = 1 − √2/2. Alexander, SIAM J. Numer. Anal. 14 (1977) 1006.
pub(super) fn alexander_2() -> Tableau {
    let g = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
    Tableau::one_step([[g, 0.0], [1.0 - g, g]], [1.0 - g, g], [g, 1.0])
}

/// γ = 1/2 + 1/(2√3). Crouzeix 1975; Nørsett 1974.
pub(super) fn crouzeix_3() -> Tableau {
    let s = 3.0_f64.sqrt().recip();
    let g = 0.5 + 0.5 * s;
    Tableau::one_step([[g, 0.0], [-s, g]], [0.5, 0.5], [g, 1.0 - g])
}

/// γ the middle root of 6γ³ − 18γ² + 9γ − 1. Alexander 1977.
pub(super) fn alexander_3() -> Tableau {
    let g = 0.435_866_521_508_459;
    let b1 = -1.5 * g * g + 4.0 * g - 0.25;
    let b2 = 1.5 * g * g - 5.0 * g + 1.25;
    let c2 = 0.5 * (1.0 + g);
    Tableau::one_step([[g, 0.0, 0.0], [c2 - g, g, 0.0], [b1, b2, g]], [b1, b2, g], [g, c2, 1.0])
}

/// Implicit midpoint rule.
pub(super) fn midpoint() -> Tableau {
    Tableau::one_step([[0.5]], [1.0], [0.5])
}

/// Two midpoint rules of half a step. Sanz-Serna and Abia, SIAM J. Numer. Anal. 28 (1991) 1081.
pub(super) fn symplectic_2() -> Tableau {
    Tableau::one_step([[0.25, 0.0], [0.5, 0.25]], [0.5, 0.5], [0.25, 0.75])
}
