//! Loop closures in the coordinates of a tree: gaps and their rows.
//!
//! ```text
//! ball      g = x₁ − x₂                            g' = J₁(x₁) − J₂(x₂)
//! revolute  and g_k = t_k·z₁, t_k the x and y axes of the second frame
//!                                                  g' = (z₁ × t_k)·(ω₁ − ω₂)
//! fixed     and g = log(R₁ R₂ᵀ)                    g' = Jl⁻¹(g) (ω₁ − R₁R₂ᵀ ω₂)
//! ```

use super::joint::compose;
use super::kinematics::TreeKinematics;
use super::model::{ArticulatedModel, Attachment, ClosureKind, LoopClosure};
use nalgebra::{Matrix3, Vector3};
use osculate_math::se3::Pose;
use osculate_math::{Scalar, mat3, so3};

/// One component of a closure's gap.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosureRow<T = f64> {
    /// `g` \[m, or rad\].
    pub gap: T,
    /// `∂g/∂q`, one entry a degree of freedom.
    pub jacobian: Vec<T>,
}

/// The rows of a closure: three, five or six.
pub fn closure_rows<T: Scalar>(
    model: &ArticulatedModel<T>,
    at: &TreeKinematics<T>,
    closure: &LoopClosure<T>,
) -> Vec<ClosureRow<T>> {
    let ends = [&closure.first, &closure.second].map(|a| End::new(model, at, a));
    let rows = closure_covectors(closure.kind, [&ends[0].pose, &ends[1].pose]);
    let row = |covector: ClosureCovector<T>| {
        let mut jacobian = vec![T::zero(); model.dofs()];
        for (end, (force, moment)) in ends.iter().zip(&covector.sides) {
            for &k in end.support {
                let column = at.point_column(k, &end.pose.position);
                jacobian[k] += force.dot(&column) + moment.dot(&at.columns[k].angular);
            }
        }
        ClosureRow { gap: covector.gap, jacobian }
    };
    rows.into_iter().map(row).collect()
}

/// One component of a closure's gap, with what it sees of the velocities of its two frames.
#[derive(Clone, Debug)]
pub(crate) struct ClosureCovector<T = f64> {
    /// `g` \[m, or rad\].
    pub(crate) gap: T,
    /// `ġ` is the sum over the frames of the first of the pair times the velocity of the origin and the second times the angular velocity.
    pub(crate) sides: [(Vector3<T>, Vector3<T>); 2],
}

/// The components of the gap of two frames in the world: three, five or six.
pub(crate) fn closure_covectors<T: Scalar>(
    kind: ClosureKind,
    [first, second]: [&Pose<T>; 2],
) -> Vec<ClosureCovector<T>> {
    let none = Vector3::zeros();
    let moved = first.position - second.position;
    let mut rows: Vec<ClosureCovector<T>> = (0..3)
        .map(|k| {
            let axis = Vector3::from_fn(|i, _| if i == k { T::one() } else { T::zero() });
            ClosureCovector { gap: moved[k], sides: [(axis, none), (-axis, none)] }
        })
        .collect();
    let mut turn = |gap: T, [a, b]: [Vector3<T>; 2]| {
        rows.push(ClosureCovector { gap, sides: [(none, a), (none, b)] });
    };
    match kind {
        ClosureKind::Ball => {}
        ClosureKind::Revolute => {
            let axis = first.rotation.column(2).into_owned();
            for k in 0..2 {
                let across = second.rotation.column(k).into_owned();
                let lever = axis.cross(&across);
                turn(axis.dot(&across), [lever, -lever]);
            }
        }
        ClosureKind::Fixed => {
            let between = mat3::mul_transposed(&first.rotation, &second.rotation);
            let gap = so3::log(&between);
            let inverse = so3::left_jacobian_inverse(&gap);
            let back: Matrix3<T> = mat3::mul(&inverse, &between);
            for k in 0..3 {
                turn(gap[k], [inverse.row(k).transpose(), -back.row(k).transpose()]);
            }
        }
    }
    rows
}

/// One attached frame in the world, and what moves it.
struct End<'a, T> {
    pose: Pose<T>,
    support: &'a [usize],
}

impl<'a, T: Scalar> End<'a, T> {
    fn new(model: &'a ArticulatedModel<T>, at: &TreeKinematics<T>, a: &Attachment<T>) -> Self {
        match a.link {
            Some(i) => Self { pose: compose(&at.links[i], &a.frame), support: model.support(i) },
            None => Self { pose: a.frame, support: &[] },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_models::{configuration, pose, tree};
    use super::*;
    use osculate_math::Jet;

    const N: usize = 18;

    fn closure(kind: ClosureKind, second: Option<usize>) -> LoopClosure {
        let end = |link, seed| Attachment { link, frame: pose(seed) };
        LoopClosure::new("loop", kind, end(Some(2), 80), end(second, 81))
    }

    #[test]
    fn rows_are_the_derivatives_of_the_gaps() {
        let model = tree();
        let (lifted, q) = (model.lift::<Jet<N>>(), configuration(&model, 1));
        let delta: Vec<Jet<N>> = (0..N).map(|i| Jet::variable(0.0, i)).collect();
        let at = TreeKinematics::new(&lifted, &q.lift().incremented(&delta));
        for (kind, count) in
            [(ClosureKind::Ball, 3), (ClosureKind::Revolute, 5), (ClosureKind::Fixed, 6)]
        {
            for second in [Some(5), None] {
                let c = closure(kind, second);
                let mut jets = lifted.closures()[0].clone();
                jets.kind = kind;
                jets.first.frame = c.first.frame.lift();
                jets.second = Attachment { link: second, frame: c.second.frame.lift() };
                let rows = closure_rows(&model, &TreeKinematics::new(&model, &q), &c);
                assert_eq!(rows.len(), count);
                for (row, exact) in rows.iter().zip(closure_rows(&lifted, &at, &jets)) {
                    assert!((row.gap - exact.gap.re).abs() < 1e-14);
                    for k in 0..N {
                        let error = (row.jacobian[k] - exact.gap.eps[k]).abs();
                        assert!(error < 1e-12, "{kind:?} {second:?} {k}: {error:e}");
                    }
                }
            }
        }
    }
}
