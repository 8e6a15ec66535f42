use super::super::test_models::{configuration, tree, values, vector};
use super::*;
use nalgebra::DVector;
use osculate_math::{Jet, so3};

const N: usize = 18;

fn seeded(model: &ArticulatedModel, q: &Configuration) -> TreeKinematics<Jet<N>> {
    let delta: Vec<Jet<N>> = (0..N).map(|i| Jet::variable(0.0, i)).collect();
    TreeKinematics::new(&model.lift(), &q.lift().incremented(&delta))
}

/// A model far away, so that the reference point matters.
fn cases() -> Vec<ArticulatedModel> {
    let near = tree();
    let mut far = tree();
    far.placement_mut(0).position += vector(3) * 1e3;
    vec![near, far]
}

#[test]
fn columns_are_the_derivative_of_the_poses() {
    for model in cases() {
        let q = configuration(&model, 1);
        let (at, moved) = (TreeKinematics::new(&model, &q), seeded(&model, &q));
        for i in 0..model.links().len() {
            for k in 0..N {
                let spin =
                    moved.links[i].rotation.map(|x| x.eps[k]) * at.links[i].rotation.transpose();
                let (mut linear, mut angular) = at.center_column(i, k);
                if !model.support(i).contains(&k) {
                    (linear, angular) = (Vector3::zeros(), Vector3::zeros());
                }
                assert!((so3::vee(&spin) - angular).norm() < 1e-13, "link {i}, {k}");
                let velocity = moved.centers[i].map(|x| x.eps[k]);
                assert!((velocity - linear).norm() < 1e-12, "link {i}, {k}");
            }
        }
    }
}

#[test]
fn column_derivative_is_the_bracket_of_columns_where_the_axis_is_carried() {
    let model = tree();
    let q = configuration(&model, 1);
    let (at, moved) = (TreeKinematics::new(&model, &q), seeded(&model, &q));
    for k in 0..N {
        for j in 0..N {
            let d = at.column_derivative(&model, k, j);
            let (angular, linear) = (
                moved.columns[k].angular.map(|x| x.eps[j]),
                moved.columns[k].linear.map(|x| x.eps[j]),
            );
            assert!((angular - d.angular).norm() < 1e-13, "∂S{k}/∂q{j}");
            assert!((linear - d.linear).norm() < 1e-12, "∂S{k}/∂q{j}");
        }
    }
}

#[test]
fn velocities_are_the_derivative_of_the_poses_along_the_motion() {
    for model in cases() {
        let (q, v) = (configuration(&model, 1), values(N, 4));
        let (at, moved) = (TreeKinematics::new(&model, &q), seeded(&model, &q));
        for (i, (linear, _)) in at.center_velocities(&model, &v).iter().enumerate() {
            let along = moved.centers[i].map(|x| x.eps.iter().zip(&v).map(|(e, v)| e * v).sum());
            assert!((along - linear).norm() < 1e-11, "link {i}");
        }
    }
}

fn wrenches(links: usize) -> Vec<(Vector3<f64>, Vector3<f64>)> {
    (0..links).map(|i| (vector(200 + i), vector(300 + i))).collect()
}

#[test]
fn generalised_forces_have_the_power_of_the_wrenches() {
    let model = tree();
    let (at, v) = (TreeKinematics::new(&model, &configuration(&model, 1)), values(N, 4));
    let w = wrenches(model.links().len());
    let tau = DVector::from_vec(at.generalised_forces(&model, &w));
    let power: f64 = at
        .center_velocities(&model, &v)
        .iter()
        .zip(&w)
        .map(|((linear, angular), (f, t))| linear.dot(f) + angular.dot(t))
        .sum();
    assert!((tau.dot(&DVector::from_vec(v)) - power).abs() < 1e-12 * power.abs());
}

#[test]
fn geometric_stiffness_is_the_derivative_of_generalised_forces_under_constant_wrenches() {
    for model in cases() {
        let q = configuration(&model, 1);
        let w = wrenches(model.links().len());
        let lifted: Vec<_> = w.iter().map(|(f, t)| (f.map(Jet::from), t.map(Jet::from))).collect();
        let tau = seeded(&model, &q).generalised_forces(&model.lift(), &lifted);
        let k = TreeKinematics::new(&model, &q).geometric_stiffness(&model, &w);
        let scale = k.amax();
        for row in 0..N {
            for column in 0..N {
                let (found, exact) = (k[(row, column)], tau[row].eps[column]);
                assert!(
                    (found - exact).abs() < 1e-12 * scale,
                    "({row}, {column}): {found} {exact}"
                );
            }
        }
    }
}
