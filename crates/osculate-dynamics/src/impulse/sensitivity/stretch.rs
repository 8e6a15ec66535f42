//! Displacements of the two anchors of a region without what stretches their span.
//!
//! ```text
//! x = p₂ − p₁,  s = x − n (n·x),  e = (d₂ − d₁)·s/s²      d₁ ← d₁ + w₁ e s,  d₂ ← d₂ − w₂ e s
//! ```

use super::carry::{AnchorBar, AnchorState};
use osculate_contact::impulse::patch::unstretched;
use osculate_math::Scalar;

/// Takes the stretch from the displacements of two anchors of one region.
pub(super) fn unstretch<T: Scalar>(
    a: &mut AnchorState<T>,
    b: &mut AnchorState<T>,
    parts: [f64; 2],
) {
    let (points, displacements) = ([a.position, b.position], [a.displacement, b.displacement]);
    [a.displacement, b.displacement] = unstretched(&points, &displacements, &a.normal, parts);
}

/// Pullback of [`unstretch`] at the anchors before it: from the derivatives by the displacements after it.
pub(super) fn pull_unstretch(
    [a, b]: [&AnchorState; 2],
    [p, q]: [&mut AnchorBar; 2],
    parts: [f64; 2],
) {
    let (n, x, c) = (&a.normal, b.position - a.position, b.displacement - a.displacement);
    let s = x - n * n.dot(&x);
    let square = s.norm_squared();
    if square <= 0.0 {
        return;
    }
    let e = c.dot(&s) / square;
    let pull = p.displacement * parts[0] - q.displacement * parts[1];
    let along = pull.dot(&s) / square;
    let by_s = pull * e + (c - s * (2.0 * e)) * along;
    let by_x = by_s - n * n.dot(&by_s);
    p.displacement -= s * along;
    q.displacement += s * along;
    p.position -= by_x;
    q.position += by_x;
    p.normal -= by_s * n.dot(&x) + x * n.dot(&by_s);
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;
    use osculate_math::Jet;

    type Seeded = Jet<15>;

    /// Two anchors with every number seeded: positions, displacements, the normal of the first.
    fn anchors() -> [AnchorState<Seeded>; 2] {
        let seeded =
            |x: [f64; 3], at: usize| Vector3::from_fn(|k, _| Seeded::variable(x[k], at + k));
        let normal = seeded([0.36, -0.48, 0.8], 12);
        let anchor = |p, d, at| AnchorState {
            position: seeded(p, at),
            normal,
            displacement: seeded(d, at + 6),
        };
        [
            anchor([0.1, 0.2, 0.3], [0.02, -0.01, 0.03], 0),
            anchor([-0.4, 0.3, 0.1], [0.01, 0.04, -0.02], 3),
        ]
    }

    #[test]
    fn pullback_of_the_stretch_is_the_adjoint_of_its_derivative() {
        for parts in [[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]] {
            let [mut a, mut b] = anchors();
            let real = |a: &AnchorState<Seeded>| AnchorState {
                position: a.position.map(|x| x.re),
                normal: a.normal.map(|x| x.re),
                displacement: a.displacement.map(|x| x.re),
            };
            let (before, after) = ([real(&a), real(&b)], [[0.3, -0.7, 0.2], [-0.5, 0.1, 0.9]]);
            unstretch(&mut a, &mut b, parts);
            let [first, second] = after.map(Vector3::from);
            let bar = |displacement| AnchorBar { displacement, ..AnchorBar::default() };
            let (mut p, mut q) = (bar(first), bar(second));
            pull_unstretch([&before[0], &before[1]], [&mut p, &mut q], parts);
            let pulled = [p.position, q.position, p.displacement, q.displacement, p.normal];
            for (k, bar) in pulled.iter().enumerate() {
                for c in 0..3 {
                    let by = |d: &Vector3<Seeded>, y: &Vector3<f64>| -> f64 {
                        (0..3).map(|i| d[i].eps[3 * k + c] * y[i]).sum()
                    };
                    let forward = by(&a.displacement, &first) + by(&b.displacement, &second);
                    assert!((forward - bar[c]).abs() <= 1e-14, "{k} {c}: {forward} {}", bar[c]);
                }
            }
        }
    }
}
