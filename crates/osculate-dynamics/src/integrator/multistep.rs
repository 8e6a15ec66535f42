//! Backward differences (BDF1 to BDF3): Curtiss and Hirschfelder 1952.

use super::Tableau;

/// BDF of `steps` steps, 1 to 3.
pub(super) fn backward_differences(steps: usize) -> Tableau {
    let (alpha, beta) = match steps {
        0 | 1 => ([1.0, 0.0, 0.0], 1.0),
        2 => ([4.0 / 3.0, -1.0 / 3.0, 0.0], 2.0 / 3.0),
        _ => ([18.0 / 11.0, -9.0 / 11.0, 2.0 / 11.0], 6.0 / 11.0),
    };
    let mut t = Tableau::one_step([[1.0]], [1.0], [1.0]);
    (t.alpha, t.history, t.duration[0]) = (alpha, steps.max(1), beta);
    t
}
