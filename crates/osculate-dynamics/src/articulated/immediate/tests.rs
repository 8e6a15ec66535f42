use super::super::test_models::{configuration, inertia, tree, values, vector};
use super::super::{
    ArticulatedModel, Attachment, ClosureKind, Configuration, Joint, JointDrive, JointFriction,
    JointKind, JointLimits, Link, LinkInertia, Load, LoopClosure, TreePoint, bias,
    forward_dynamics, mass_matrix,
};
use super::*;
use nalgebra::{DVector, Matrix3, Vector3};
use osculate_math::se3::Pose;
use osculate_math::so3;

const H: f64 = 1e-3;
/// A row is solved where its velocity is that far from right [m/s or rad/s].
const SOLVED: f64 = 1e-12;

fn at(x: f64, z: f64) -> Pose {
    Pose { position: Vector3::new(x, 0.0, z), ..Pose::identity() }
}

/// A uniform bar of 1 kg and 1 m that hangs down from a joint at its upper end.
fn bar(name: &str, parent: Option<usize>, kind: JointKind, placement: Pose) -> Link {
    let moment = Matrix3::from_diagonal(&Vector3::new(1.0 / 12.0, 1.0 / 12.0, 1e-3));
    let inertia = LinkInertia { mass: 1.0, center: Vector3::zeros(), inertia: moment };
    let joint = Joint::new(kind).placed(placement).with_offset(at(0.0, -0.5));
    Link { name: name.into(), parent, joint, inertia }
}

fn hinge() -> JointKind {
    JointKind::Revolute { axis: Vector3::y() }
}

fn pendulum(change: impl FnOnce(&mut Link)) -> ArticulatedModel {
    let mut link = bar("bar", None, hinge(), Pose::identity());
    change(&mut link);
    ArticulatedModel::new(vec![link], Vec::new()).unwrap()
}

fn gravity() -> Load {
    Load::gravity(Vector3::new(0.0, 0.0, -9.81))
}

/// Steps until `time`; every step is solved.
fn run(model: &ArticulatedModel, q: &mut Configuration, v: &mut Vec<f64>, steps: usize) {
    let load = gravity();
    let still = vec![0.0; model.dofs()];
    for step in 0..steps {
        let response =
            TreeResponse::new(TreePoint { model, q, v, load: &load }, &still, H).unwrap();
        let (next, stats) = response.solve(2000, SOLVED);
        assert!(stats.residual <= SOLVED, "step {step}: {stats:?}");
        let moved = response.advanced(&next);
        (*q, *v) = (moved, next);
    }
}

#[test]
fn without_laws_a_step_is_semi_implicit_euler_of_forward_dynamics() {
    let model = tree();
    let (q, v, tau) = (configuration(&model, 1), values(18, 4), values(18, 5));
    let point = TreePoint { model: &model, q: &q, v: &v, load: &gravity() };
    let response = TreeResponse::new(point, &tau, H).unwrap();
    let a = forward_dynamics(&model, &response.at, &v, &tau, &gravity()).unwrap();
    for k in 0..18 {
        assert!((response.free[k] - v[k] - H * a[k]).abs() < 1e-13);
    }
}

#[test]
fn response_of_a_free_body_is_that_of_a_rigid_body() {
    let link = Link {
        name: "body".into(),
        parent: None,
        joint: Joint::new(JointKind::Free),
        inertia: inertia(3),
    };
    let model = ArticulatedModel::new(vec![link], Vec::new()).unwrap();
    let (q, v) = (configuration(&model, 2), values(6, 1));
    let point = TreePoint { model: &model, q: &q, v: &v, load: &gravity() };
    let response = TreeResponse::new(point, &[0.0; 6], H).unwrap();
    let (contact, n) = (vector(7), vector(8).normalize());
    let row = response.row(response.jacobian(0, &contact, &n));
    let (center, r) = (response.at.centers[0], response.at.links[0].rotation);
    let lever = (contact - center).cross(&n);
    let moment = r * inertia(3).inertia * r.transpose();
    let expected = 1.0 / inertia(3).mass + lever.dot(&(moment.try_inverse().unwrap() * lever));
    assert!((row.weight - expected).abs() < 1e-13 * expected);
    let mut moved = v.clone();
    row.apply(0.3, &mut moved);
    assert!((row.velocity(&moved) - row.velocity(&v) - 0.3 * expected).abs() < 1e-13);
}

#[test]
fn drives_and_viscous_friction_act_with_the_velocity_at_the_end() {
    let drive = JointDrive { stiffness: 400.0, damping: 3.0, target: 0.7, ..JointDrive::default() };
    let model = pendulum(|l| {
        l.joint.laws.drive = Some(JointDrive { effort: 0.4, target_velocity: 0.2, ..drive });
        l.joint.laws.friction.viscous = 0.9;
    });
    let (q, v) = (configuration(&model, 1), vec![1.3]);
    let point = TreePoint { model: &model, q: &q, v: &v, load: &gravity() };
    let response = TreeResponse::new(point, &[0.1], H).unwrap();
    let (angle, end) = (q.joints()[0].scalar().unwrap(), response.free[0]);
    let h = mass_matrix(&model, &response.at)[(0, 0)];
    let c = bias(&model, &response.at, &v, &gravity())[0];
    let force = 0.1 - c + 0.4 + 400.0 * (0.7 - angle - H * end) + 3.0 * (0.2 - end) - 0.9 * end;
    assert!((h * (end - v[0]) - H * force).abs() < 1e-15);
}

#[test]
fn an_effort_limit_that_is_not_reached_changes_nothing_and_one_that_is_holds_the_effort() {
    let drive = JointDrive { stiffness: 40.0, damping: 3.0, target: 0.7, ..JointDrive::default() };
    let solve = |effort_limit| {
        let model = pendulum(|l| l.joint.laws.drive = Some(JointDrive { effort_limit, ..drive }));
        let (q, v) = (configuration(&model, 1), vec![0.3]);
        let point = TreePoint { model: &model, q: &q, v: &v, load: &gravity() };
        let response = TreeResponse::new(point, &[0.0], H).unwrap();
        let h = mass_matrix(&model, &response.at)[(0, 0)];
        let c = bias(&model, &response.at, &v, &gravity())[0];
        let (end, stats) = response.solve(100, SOLVED);
        assert!(stats.residual <= SOLVED);
        (end[0], h * (end[0] - 0.3) / H + c)
    };
    let (implicit, _) = solve(None);
    let (wide, effort) = solve(Some(1e3));
    assert!((implicit - wide).abs() < 1e-13, "{implicit} {wide}");
    assert!(effort > 2.0);
    let (_, held) = solve(Some(2.0));
    assert!((held - 2.0).abs() < 1e-10, "{held}");
    let torque = JointDrive { effort: 7.0, effort_limit: Some(2.0), ..JointDrive::default() };
    let model = pendulum(|l| l.joint.laws.drive = Some(torque));
    let (q, v) = (model.neutral(), vec![0.0]);
    let point = TreePoint { model: &model, q: &q, v: &v, load: &gravity() };
    let free = TreeResponse::new(point, &[0.0], H).unwrap().free[0];
    assert!((free - H * 2.0 * 3.0).abs() < 1e-15, "torque 2 on 1/3 kg m²: {free}");
}

#[test]
fn a_pendulum_comes_to_rest_on_its_limit_where_the_spring_carries_the_weight() {
    let limits = JointLimits { damping: 8.0, ..JointLimits::new(-3.0, 0.4) };
    let model = pendulum(|l| {
        l.joint.laws.limits = Some(limits);
        // Pushed against the limit by a constant torque.
        l.joint.laws.drive = Some(JointDrive { effort: 5.0, ..JointDrive::default() });
    });
    let (mut q, mut v) = (model.neutral(), vec![0.0]);
    run(&model, &mut q, &mut v, 8000);
    let angle = q.joints()[0].scalar().unwrap();
    // Gravity turns it back towards 0: 100 (angle − 0.4) = 5 − m g l/2 sin(angle).
    let balance = 100.0 * (angle - 0.4) - 5.0 + 9.81 * 0.5 * angle.sin();
    assert!(angle > 0.4 && balance.abs() < 1e-6 && v[0].abs() < 1e-8, "{angle} {balance} {v:?}");
}

fn dry(coulomb: f64) -> JointFriction {
    JointFriction { coulomb, ..JointFriction::default() }
}

#[test]
fn dry_friction_sticks_below_its_torque_and_slips_with_it_above() {
    for (coulomb, slips) in [(2.0, true), (3.0, false)] {
        let model = pendulum(|l| l.joint.laws.friction = dry(coulomb));
        // At 0.6 rad gravity has a torque of 2.77 N m.
        let q = model.neutral().incremented(&[0.6]);
        let point = TreePoint { model: &model, q: &q, v: &[0.0], load: &gravity() };
        let (v, stats) = TreeResponse::new(point, &[0.0], H).unwrap().solve(100, SOLVED);
        assert!(stats.residual <= SOLVED);
        let torque = 9.81 * 0.5 * 0.6_f64.sin();
        let expected = if slips { -3.0 * H * (torque - coulomb) } else { 0.0 };
        assert!((v[0] - expected).abs() < 1e-15, "{} {expected}", v[0]);
    }
}

#[test]
fn friction_of_a_spherical_joint_holds_the_norm_and_opposes_the_motion() {
    let mut link = bar("bar", None, JointKind::Spherical, Pose::identity());
    link.joint.laws.friction = dry(2.0);
    let model = ArticulatedModel::new(vec![link], Vec::new()).unwrap();
    let (q, v) = (configuration(&model, 1), vec![0.4, -0.3, 0.2]);
    let point = TreePoint { model: &model, q: &q, v: &v, load: &gravity() };
    let response = TreeResponse::new(point, &[0.0; 3], H).unwrap();
    let mut block = response.friction_blocks().remove(0);
    let mut end = response.free.clone();
    for _ in 0..200 {
        block.relax(&mut end);
    }
    assert!(block.residual(&end) < SOLVED);
    let impulse = DVector::from_iterator(3, block.rows.iter().map(|r| r.impulse));
    let end = DVector::from_vec(end);
    assert!((impulse.norm() - 2.0 * H).abs() < 1e-15 && end.norm() > 1e-3);
    assert!((impulse.normalize() + end.normalize()).norm() < 1e-9);
}

/// A square of three bars whose fourth corner is closed at the world.
fn four_bar(kind: ClosureKind) -> ArticulatedModel {
    let links = vec![
        bar("a", None, hinge(), Pose::identity()),
        bar("b", Some(0), hinge(), at(0.0, -0.5)),
        bar("c", Some(1), hinge(), at(0.0, -0.5)),
    ];
    // A closure turns about the z axis of its frames; the hinges turn about y.
    let across = so3::exp(&Vector3::new(-std::f64::consts::FRAC_PI_2, 0.0, 0.0));
    let frame = |x, z| Pose { rotation: across, ..at(x, z) };
    let end = Attachment { link: Some(2), frame: frame(0.0, -0.5) };
    let ground = Attachment { link: None, frame: frame(1.0, 0.0) };
    ArticulatedModel::new(links, vec![LoopClosure::new("loop", kind, end, ground)]).unwrap()
}

#[test]
fn a_closed_loop_stays_closed_and_keeps_its_energy() {
    let quarter = std::f64::consts::FRAC_PI_2;
    for kind in [ClosureKind::Ball, ClosureKind::Revolute] {
        let model = four_bar(kind);
        // Down, across to the right, up: the loop is a square, pushed aside.
        let mut q = model.neutral().incremented(&[0.3, -quarter - 0.3, -quarter + 0.3]);
        let mut v = vec![0.0; 3];
        let energy = |q: &Configuration, v: &[f64]| {
            let at = super::super::TreeKinematics::new(&model, q);
            let v = DVector::from_column_slice(v);
            let kinetic = 0.5 * v.dot(&(mass_matrix(&model, &at) * &v));
            kinetic + 9.81 * at.centers.iter().map(|c| c.z).sum::<f64>()
        };
        let before = energy(&q, &v);
        run(&model, &mut q, &mut v, 1000);
        let at = super::super::TreeKinematics::new(&model, &q);
        let gaps = super::super::closure_rows(&model, &at, &model.closures()[0]);
        let worst = gaps.iter().map(|r| r.gap.abs()).fold(0.0, f64::max);
        assert!(worst < 1e-4, "{kind:?}: gap {worst:e}");
        let change = (energy(&q, &v) - before).abs();
        assert!(change < 0.02, "{kind:?}: energy changed by {change} J");
        assert!(v.iter().any(|v| v.abs() > 0.1), "it moves: {v:?}");
    }
}

#[test]
fn lists_of_another_length_are_refused() {
    let model = pendulum(|_| ());
    let q = model.neutral();
    let point = TreePoint { model: &model, q: &q, v: &[0.0], load: &gravity() };
    let error = TreeResponse::new(point, &[], H).unwrap_err();
    let expected = super::super::ModelError::Count { what: "efforts", found: 0, expected: 1 };
    assert_eq!(error, expected);
}
