//! Derivatives by differences.

/// Richardson-extrapolated central differences over a ladder of steps: the value where neighbouring rungs agree
/// best, and their disagreement as its error. Rounding spoils the short steps, kinks and curvature the long ones.
pub fn richardson(f: impl Fn(f64) -> f64, h: f64) -> (f64, f64) {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    // Each rung has half and a quarter of its step too: those of a quarter are the next rung's.
    let all: Vec<f64> = (-6..7).map(|k| central(h * 2.0_f64.powi(-k))).collect();
    let rungs: Vec<f64> = (0..6)
        .map(|k| {
            let (a, b, c) = (all[2 * k], all[2 * k + 1], all[2 * k + 2]);
            let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
            (16.0 * bc - ab) / 15.0
        })
        .collect();
    rungs
        .windows(3)
        .map(|w| (w[1], (w[1] - w[0]).abs().max((w[1] - w[2]).abs())))
        .min_by(|x, y| x.1.total_cmp(&y.1))
        .unwrap()
}
