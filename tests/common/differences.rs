//! Derivatives by differences.

/// Richardson-extrapolated central differences over a ladder of steps: the value where neighbouring rungs agree
/// best, and their disagreement as its error. Rounding spoils the short steps, kinks and curvature the long ones.
pub fn richardson(f: impl Fn(f64) -> f64, h: f64) -> (f64, f64) {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    let rungs: Vec<f64> = (-3..3)
        .map(|k| {
            let h = h * 2.0_f64.powi(-2 * k);
            let (a, b, c) = (central(h), central(h / 2.0), central(h / 4.0));
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
