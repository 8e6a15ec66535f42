use super::super::test_models::{configuration, tree, values, vector};
use super::super::{ArticulatedModel, Configuration, Joint, Link, LinkInertia, TreeParameter};
use super::super::{TreePoint, forward_derivatives, inverse_by_parameters};
use super::*;
use nalgebra::{DVector, Matrix3};
use osculate_math::Jet;

fn load(links: usize) -> Load {
    Load {
        gravity: vector(90) * 9.81,
        wrenches: (0..links).map(|i| (vector(200 + i), vector(300 + i))).collect(),
    }
}

#[test]
fn mass_matrix_is_the_sum_of_the_kinetic_energies_of_the_links() {
    let model = tree();
    let at = TreeKinematics::new(&model, &configuration(&model, 1));
    let v = values(model.dofs(), 4);
    let mut energy = 0.0;
    for (i, (linear, angular)) in at.center_velocities(&model, &v).iter().enumerate() {
        let (link, r) = (&model.links()[i].inertia, &at.links[i].rotation);
        let inertia = r * link.inertia * r.transpose();
        energy += 0.5 * (link.mass * linear.norm_squared() + angular.dot(&(inertia * angular)));
        for (k, armature) in model.joint_dofs(i).zip(model.links()[i].joint.armature) {
            energy += 0.5 * armature * v[k] * v[k];
        }
    }
    let v = DVector::from_vec(v);
    let found = 0.5 * v.dot(&(mass_matrix(&model, &at) * &v));
    assert!((found - energy).abs() < 1e-13 * energy, "{found} {energy}");
}

#[test]
fn factors_keep_the_sparsity_of_the_tree_and_invert_the_mass_matrix() {
    let model = tree();
    let h = mass_matrix(&model, &TreeKinematics::new(&model, &configuration(&model, 1)));
    let inverse = MassFactor::new(&model, h.clone()).unwrap().inverse();
    let defect = (h * inverse - DMatrix::<f64>::identity(model.dofs(), model.dofs())).amax();
    assert!(defect < 1e-12, "{defect:e}");
}

/// Gyroscopic forces do no work beyond the change of the kinetic energy with the configuration:
/// `v·c = ½ v·Ḣ v` without gravity.
#[test]
fn gyroscopic_forces_balance_the_change_of_the_kinetic_energy() {
    let model = tree();
    let (q, v) = (configuration(&model, 1), values(model.dofs(), 4));
    let along: Vec<Jet<1>> = v.iter().map(|&v| Jet { re: 0.0, eps: [v] }).collect();
    let lifted = model.lift();
    let moved = TreeKinematics::new(&lifted, &q.lift().incremented(&along));
    let rate = mass_matrix(&lifted, &moved).map(|x| x.eps[0]);
    let at = TreeKinematics::new(&model, &q);
    let c = DVector::from_vec(bias(&model, &at, &v, &Load::gravity(Vector3::zeros())));
    let v = DVector::from_vec(v);
    let (power, change) = (v.dot(&c), 0.5 * v.dot(&(rate * &v)));
    assert!((power - change).abs() < 1e-12 * change.abs(), "{power} {change}");
}

#[test]
fn forward_dynamics_inverts_inverse_dynamics() {
    let model = tree();
    let at = TreeKinematics::new(&model, &configuration(&model, 1));
    let (v, a) = (values(model.dofs(), 4), values(model.dofs(), 5));
    let load = load(model.links().len());
    let tau = inverse_dynamics(&model, &at, &v, &a, &load);
    let back = forward_dynamics(&model, &at, &v, &tau, &load).unwrap();
    assert!((DVector::from_vec(back) - DVector::from_vec(a)).amax() < 1e-11);
}

#[test]
fn dynamics_far_from_the_origin_are_those_near_it() {
    let near = tree();
    let mut far = tree();
    // Powers of two, so that shifting rounds coordinates only.
    far.placement_mut(0).position += Vector3::new(1024.0, -512.0, 2048.0);
    let evaluate = |model: &ArticulatedModel| {
        let at = TreeKinematics::new(model, &configuration(model, 1));
        let (v, tau) = (values(model.dofs(), 4), values(model.dofs(), 5));
        DVector::from_vec(forward_dynamics(model, &at, &v, &tau, &load(7)).unwrap())
    };
    let (a, b) = (evaluate(&near), evaluate(&far));
    assert!((&a - b).amax() < 1e-10 * a.amax());
}

fn every_parameter(model: &ArticulatedModel) -> Vec<TreeParameter> {
    let mut all: Vec<_> = (0..3).map(|axis| TreeParameter::Gravity { axis }).collect();
    all.extend((0..model.dofs()).map(|dof| TreeParameter::Armature { dof }));
    for link in 0..model.links().len() {
        all.push(TreeParameter::Mass { link });
        for axis in 0..3 {
            all.push(TreeParameter::Center { link, axis });
            all.push(TreeParameter::JointPosition { link, axis });
            all.push(TreeParameter::JointRotation { link, axis });
            for column in axis..3 {
                all.push(TreeParameter::Inertia { link, row: axis, column });
            }
        }
    }
    all
}

/// `f(h)` and `f(−h)`, at two steps: error of fourth order.
fn richardson(f: impl Fn(f64) -> DVector<f64>, h: f64) -> DVector<f64> {
    let slope = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    (slope(h / 2.0) * 4.0 - slope(h)) / 3.0
}

#[test]
fn derivatives_by_every_parameter_agree_with_differences() {
    let (model, load) = (tree(), load(7));
    let (q, v, a) = (configuration(&model, 1), values(18, 4), values(18, 5));
    let parameters = every_parameter(&model);
    let point = TreePoint { model: &model, q: &q, v: &v, load: &load };
    let exact = inverse_by_parameters(point, &a, &parameters);
    let scale = exact.amax();
    for (k, p) in parameters.iter().enumerate() {
        let numeric = richardson(
            |h| {
                let (mut model, mut load) = (model.clone(), load.clone());
                p.add_to(&mut model, &mut load, h);
                let at = TreeKinematics::new(&model, &q);
                DVector::from_vec(inverse_dynamics(&model, &at, &v, &a, &load))
            },
            1e-3,
        );
        let worst = (exact.column(k) - numeric).amax();
        assert!(worst < 1e-9 * scale, "{p:?}: {worst:e} of {scale}");
    }
}

#[test]
fn derivatives_of_forward_dynamics_agree_with_differences_under_wrenches() {
    let (model, load) = (tree(), load(7));
    let (q, v, tau) = (configuration(&model, 1), values(18, 4), values(18, 5));
    let forward = |q: &Configuration, v: &[f64]| {
        let at = TreeKinematics::new(&model, q);
        DVector::from_vec(forward_dynamics(&model, &at, v, &tau, &load).unwrap())
    };
    let d = forward_derivatives(TreePoint { model: &model, q: &q, v: &v, load: &load }, &tau);
    let d = d.unwrap();
    for k in 0..18 {
        let shifted = |base: &[f64], h: f64| {
            let mut x = base.to_vec();
            x[k] += h;
            x
        };
        let by_q = richardson(|h| forward(&q.incremented(&shifted(&[0.0; 18], h)), &v), 1e-3);
        let by_v = richardson(|h| forward(&q, &shifted(&v, h)), 1e-3);
        for (what, exact, numeric) in [("q", &d.by_position, by_q), ("v", &d.by_velocity, by_v)] {
            let worst = (exact.column(k) - numeric).amax();
            assert!(worst < 1e-8 * exact.amax(), "∂a/∂{what}{k}: {worst:e}");
        }
    }
}

/// A point mass does not resist turning about an axis through it.
#[test]
fn singular_mass_matrix_names_its_joint() {
    let inertia = LinkInertia { mass: 1.0, center: Vector3::zeros(), inertia: Matrix3::zeros() };
    let joint = Joint::new(JointKind::Revolute { axis: Vector3::x() });
    let link = Link { name: "bob".into(), parent: None, joint, inertia };
    let model = ArticulatedModel::new(vec![link], Vec::new()).unwrap();
    let at = TreeKinematics::new(&model, &model.neutral());
    let error = forward_dynamics(&model, &at, &[0.0], &[1.0], &Load::gravity(Vector3::zeros()));
    let expected = ModelError::Singular { link: "bob".into(), dof: 0, pivot: 0.0 };
    assert_eq!(error.unwrap_err(), expected);
}
