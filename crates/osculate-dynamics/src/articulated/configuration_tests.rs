use super::super::test_models::{configuration, tree, values};
use super::*;
use osculate_math::Jet;

const N: usize = 18;

fn seeded(q: &Configuration) -> Configuration<Jet<N>> {
    let delta: Vec<Jet<N>> = (0..N).map(|i| Jet::variable(0.0, i)).collect();
    q.lift().incremented(&delta)
}

/// `⟨bar, δq⟩` in each seeded direction.
fn pairing(bar: &[f64], q: &Configuration<Jet<N>>) -> Vec<f64> {
    let here = q.real().lift();
    let moved = q.difference(&here);
    (0..N).map(|d| moved.iter().zip(bar).map(|(m, b)| m.eps[d] * b).sum()).collect()
}

#[test]
fn difference_inverts_increment() {
    let model = tree();
    assert_eq!(model.dofs(), N);
    let (q, delta) = (configuration(&model, 1), values(N, 2));
    let back = q.incremented(&delta).difference(&q);
    for (a, b) in back.iter().zip(&delta) {
        assert!((a - b).abs() < 1e-14);
    }
}

#[test]
fn combination_with_one_whole_term_is_that_term() {
    let model = tree();
    let (a, b) = (configuration(&model, 1), configuration(&model, 2));
    let moved = a.combined([(1.0, &b)].into_iter()).difference(&b);
    assert!(moved.iter().all(|x| x.abs() < 1e-14));
    assert_eq!(a.combined(std::iter::empty()), a);
}

#[test]
fn pullback_of_a_combination_is_its_transposed_derivative() {
    let model = tree();
    let qs = [1, 2, 3].map(|s| configuration(&model, s));
    let (weights, bar) = ([0.7, -0.4], values(N, 9));
    let terms = || weights.iter().copied().zip(&qs[1..]);
    let (base, each) = qs[0].pull_combined(terms(), &bar);
    for (which, found) in [&base, &each[0], &each[1]].into_iter().enumerate() {
        let lifted: Vec<Configuration<Jet<N>>> =
            (0..3).map(|i| if i == which { seeded(&qs[i]) } else { qs[i].lift() }).collect();
        let out = lifted[0].combined(weights.iter().copied().zip(&lifted[1..]));
        for (a, b) in found.iter().zip(pairing(&bar, &out)) {
            assert!((a - b).abs() < 2e-13, "configuration {which}: {a} {b}");
        }
    }
    let (alone, none) = qs[0].pull_combined(std::iter::empty(), &bar);
    assert_eq!((alone, none.len()), (bar, 0));
}

#[test]
fn positions_must_fit_their_joints() {
    let model = tree();
    let mut joints = model.neutral().joints().to_vec();
    joints[1] = JointPosition::None;
    let wrong = Configuration::of(&model, joints.clone()).unwrap_err();
    assert_eq!(wrong, ModelError::Position { link: "link1".into(), kind: "revolute" });
    joints[1] = JointPosition::Scalar(f64::NAN);
    let number = Configuration::of(&model, joints.clone()).unwrap_err();
    let field = "position of the joint";
    assert!(matches!(number, ModelError::Number { field: f, .. } if f == field), "{number}");
    joints[1] = JointPosition::Scalar(0.3);
    joints[2] = JointPosition::Rotation(Matrix3::identity() * 1.1);
    let number = Configuration::of(&model, joints.clone()).unwrap_err();
    assert!(matches!(number, ModelError::Number { field: f, .. } if f == field), "{number}");
    joints.pop();
    let count = ModelError::Count { what: "joint positions", found: 6, expected: 7 };
    assert_eq!(Configuration::of(&model, joints).unwrap_err(), count);
}
