//! Dynamics of random trees against Pinocchio 4.1 (`reference/pinocchio_trees.py` wrote the numbers).
//!
//! Pinocchio measures velocities `v_b`, accelerations and efforts of spherical and free joints in the axes of the
//! moved joint and increments positions on the right; here they are in the axes of the unmoved joint, with
//! increments on the left. With `E = diag(R, R)` for a free joint, `R` for a spherical one and 1 otherwise:
//!
//! ```text
//! δ = E δ_b,   v = E v_b,   τ = E τ_b,   a = E a_b + γ,   γ = R (ω_b × v_b) for the translation of a free joint
//! ∂a_b/∂v_b along x:  Eᵀ ∂a/∂v E x − ∂γ_b x
//! ∂a_b/∂q_b along x:  Eᵀ (∂a/∂q E x + ∂a/∂v δE v_b + H⁻¹ δE τ_b) − x_r × (Eᵀ a),   δE y = E (x_r × y)
//! ```

#![expect(clippy::unwrap_used, reason = "a reference file that cannot be read fails the test")]
#![expect(clippy::print_stdout, reason = "the deviations are what the test measures")]

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use osculate_dynamics::articulated::{
    ArticulatedModel, Configuration, Joint, JointKind, JointPosition, Link, LinkInertia, Load,
    MassFactor, TreeKinematics, TreeParameter, TreePoint, bias, forward_derivatives,
    forward_dynamics, inverse_by_parameters, inverse_dynamics, mass_matrix,
};
use osculate_math::se3::Pose;
use osculate_math::{Jet, so3};
use serde::Deserialize;

/// Relative to the largest entry of what is compared.
const TOLERANCE: f64 = 1e-12;

#[derive(Deserialize)]
struct Reference {
    pinocchio: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Frame {
    position: [f64; 3],
    rotation: [f64; 9],
}

#[derive(Deserialize)]
struct LinkCase {
    kind: String,
    parent: Option<usize>,
    axis: [f64; 3],
    placement: Frame,
    offset: Frame,
    armature: Vec<f64>,
    mass: f64,
    center: [f64; 3],
    inertia: [f64; 9],
    joint: i64,
    in_joint: Frame,
}

#[derive(Deserialize)]
struct Case {
    gravity: [f64; 3],
    links: Vec<LinkCase>,
    q: Vec<Vec<f64>>,
    v: Vec<f64>,
    a: Vec<f64>,
    tau: Vec<f64>,
    wrenches: Vec<[f64; 6]>,
    poses: Vec<Frame>,
    mass_matrix: Vec<f64>,
    inverse_mass: Vec<f64>,
    inverse: Vec<f64>,
    inverse_with_wrenches: Vec<f64>,
    bias: Vec<f64>,
    forward: Vec<f64>,
    forward_with_wrenches: Vec<f64>,
    forward_by_position: Vec<f64>,
    forward_by_velocity: Vec<f64>,
    regressor: Option<Vec<f64>>,
}

impl Frame {
    fn pose(&self) -> Pose {
        Pose {
            position: Vector3::from(self.position),
            rotation: Matrix3::from_row_slice(&self.rotation),
        }
    }
}

fn vector(x: &[f64]) -> DVector<f64> {
    DVector::from_column_slice(x)
}

fn joint_kind(link: &LinkCase) -> JointKind {
    let axis = Vector3::from(link.axis);
    match link.kind.as_str() {
        "free" => JointKind::Free,
        "spherical" => JointKind::Spherical,
        "revolute" => JointKind::Revolute { axis },
        "prismatic" => JointKind::Prismatic { axis },
        "fixed" => JointKind::Fixed,
        other => panic!("unknown joint '{other}'"),
    }
}

/// A case in the conventions of this project.
struct Tree {
    model: ArticulatedModel,
    q: Configuration,
    at: TreeKinematics,
    /// `E`.
    axes: DMatrix<f64>,
    /// First of three degrees of freedom that are a rotation, and whether a translation stands before them.
    rotations: Vec<(usize, bool)>,
    case: Case,
}

impl Tree {
    fn new(case: Case) -> Self {
        let links = case.links.iter().enumerate().map(|(i, l)| {
            let mut joint =
                Joint::new(joint_kind(l)).placed(l.placement.pose()).with_offset(l.offset.pose());
            joint.armature[..l.armature.len()].copy_from_slice(&l.armature);
            let inertia = LinkInertia {
                mass: l.mass,
                center: Vector3::from(l.center),
                inertia: Matrix3::from_row_slice(&l.inertia),
            };
            Link { name: i.to_string(), parent: l.parent, joint, inertia }
        });
        let model = ArticulatedModel::new(links.collect(), Vec::new()).unwrap();
        let mut moving = case.q.iter();
        let joints = model.links().iter().map(|l| match l.joint.kind {
            JointKind::Fixed => JointPosition::None,
            kind => position(&kind, moving.next().unwrap()),
        });
        let q = Configuration::of(&model, joints.collect()).unwrap();
        let at = TreeKinematics::new(&model, &q);
        let mut axes = DMatrix::identity(model.dofs(), model.dofs());
        let mut rotations = Vec::new();
        for (i, joint) in q.joints().iter().enumerate() {
            let first = model.joint_dofs(i).start;
            let (rotation, blocks) = match joint {
                JointPosition::Rotation(r) => (r, 1),
                JointPosition::Pose(x) => (&x.rotation, 2),
                _ => continue,
            };
            for b in 0..blocks {
                axes.fixed_view_mut::<3, 3>(first + 3 * b, first + 3 * b).copy_from(rotation);
            }
            rotations.push((first + 3 * (blocks - 1), blocks == 2));
        }
        Self { model, q, at, axes, rotations, case }
    }

    /// `E x`.
    fn ours(&self, x: &[f64]) -> Vec<f64> {
        (&self.axes * vector(x)).as_slice().to_vec()
    }

    /// `Eᵀ γ` as a bilinear form of two velocities, `ω_b × v_b`.
    fn transport(&self, angular: &[f64], linear: &[f64]) -> DVector<f64> {
        let mut out = DVector::zeros(self.model.dofs());
        for &(at, _) in self.rotations.iter().filter(|(_, free)| *free) {
            let cross = triple(angular, at).cross(&triple(linear, at - 3));
            out.fixed_rows_mut::<3>(at - 3).copy_from(&cross);
        }
        out
    }

    /// `Eᵀ δE y = x_r × y` on every block.
    fn turned(&self, x: &[f64], y: &[f64]) -> DVector<f64> {
        let mut out = DVector::zeros(self.model.dofs());
        for &(at, free) in &self.rotations {
            let turn = triple(x, at);
            out.fixed_rows_mut::<3>(at).copy_from(&turn.cross(&triple(y, at)));
            if free {
                out.fixed_rows_mut::<3>(at - 3).copy_from(&turn.cross(&triple(y, at - 3)));
            }
        }
        out
    }

    fn load(&self, with_wrenches: bool) -> Load {
        let mut load = Load::gravity(Vector3::from(self.case.gravity));
        if with_wrenches {
            let pair = |w: &[f64; 6]| (triple(w, 0), triple(w, 3));
            load.wrenches = self.case.wrenches.iter().map(pair).collect();
        }
        load
    }

    /// Our accelerations of Pinocchio's.
    fn accelerations(&self, a: &[f64]) -> Vec<f64> {
        let shifted = vector(a) + self.transport(&self.case.v, &self.case.v);
        self.ours(shifted.as_slice())
    }
}

fn triple(x: &[f64], at: usize) -> Vector3<f64> {
    Vector3::new(x[at], x[at + 1], x[at + 2])
}

fn position(kind: &JointKind, x: &[f64]) -> JointPosition {
    match kind {
        JointKind::Free => JointPosition::Pose(Pose {
            position: triple(x, 0),
            rotation: Matrix3::from_row_slice(&x[3..]),
        }),
        JointKind::Spherical => JointPosition::Rotation(Matrix3::from_row_slice(x)),
        _ => JointPosition::Scalar(x[0]),
    }
}

fn trees() -> Vec<Tree> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/pinocchio_trees.json");
    let reference: Reference =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(reference.pinocchio, "4.1.0");
    assert_eq!(reference.cases.len(), 9);
    reference.cases.into_iter().map(Tree::new).collect()
}

/// Largest deviation of every case, relative to the largest entry; printed and checked.
fn compare(what: &str, mut deviation: impl FnMut(&Tree) -> (DMatrix<f64>, DMatrix<f64>)) {
    let worst = trees().iter().fold(0.0, |worst: f64, tree| {
        let (ours, theirs) = deviation(tree);
        worst.max((ours - &theirs).amax() / theirs.amax())
    });
    println!("{what}: {worst:.1e}");
    assert!(worst < TOLERANCE, "{what}: {worst:.3e}");
}

fn square(n: usize, x: &[f64]) -> DMatrix<f64> {
    DMatrix::from_row_slice(n, n, x)
}

fn column(x: &[f64]) -> DMatrix<f64> {
    DMatrix::from_column_slice(x.len(), 1, x)
}

#[test]
fn link_poses_agree() {
    compare("poses", |t| {
        let flat =
            |x: &Pose| x.position.iter().chain(x.rotation.iter()).copied().collect::<Vec<f64>>();
        let ours: Vec<f64> = t.at.links.iter().flat_map(flat).collect();
        let theirs: Vec<f64> = t.case.poses.iter().flat_map(|x| flat(&x.pose())).collect();
        (column(&ours), column(&theirs))
    });
}

#[test]
fn mass_matrix_and_its_inverse_agree() {
    compare("mass matrix", |t| {
        let h = mass_matrix(&t.model, &t.at);
        (t.axes.transpose() * h * &t.axes, square(t.model.dofs(), &t.case.mass_matrix))
    });
    compare("inverse of the mass matrix", |t| {
        let h = MassFactor::new(&t.model, mass_matrix(&t.model, &t.at)).unwrap();
        let inverse = t.axes.transpose() * h.inverse() * &t.axes;
        (inverse, square(t.model.dofs(), &t.case.inverse_mass))
    });
}

#[test]
fn inverse_dynamics_agrees() {
    for (wrenches, what) in [(false, "inverse dynamics"), (true, "inverse dynamics, wrenches")] {
        compare(what, |t| {
            let (v, a) = (t.ours(&t.case.v), t.accelerations(&t.case.a));
            let tau = inverse_dynamics(&t.model, &t.at, &v, &a, &t.load(wrenches));
            let theirs = if wrenches { &t.case.inverse_with_wrenches } else { &t.case.inverse };
            (t.axes.transpose() * column(&tau), column(theirs))
        });
    }
    compare("bias", |t| {
        let h = mass_matrix(&t.model, &t.at);
        let v = t.ours(&t.case.v);
        let still = vec![0.0; t.model.dofs()];
        let ours = column(&bias(&t.model, &t.at, &v, &t.load(false)))
            + h * column(&t.accelerations(&still));
        (t.axes.transpose() * ours, column(&t.case.bias))
    });
}

#[test]
fn forward_dynamics_agrees() {
    for (wrenches, what) in [(false, "forward dynamics"), (true, "forward dynamics, wrenches")] {
        compare(what, |t| {
            let (v, tau) = (t.ours(&t.case.v), t.ours(&t.case.tau));
            let a = forward_dynamics(&t.model, &t.at, &v, &tau, &t.load(wrenches)).unwrap();
            let ours = t.axes.transpose() * vector(&a) - t.transport(&t.case.v, &t.case.v);
            let theirs = if wrenches { &t.case.forward_with_wrenches } else { &t.case.forward };
            (column(ours.as_slice()), column(theirs))
        });
    }
}

#[test]
fn derivatives_of_forward_dynamics_agree() {
    let evaluate = |t: &Tree| {
        let (v, load) = (t.ours(&t.case.v), t.load(false));
        let point = TreePoint { model: &t.model, q: &t.q, v: &v, load: &load };
        forward_derivatives(point, &t.ours(&t.case.tau)).unwrap()
    };
    let directions = |t: &Tree, f: &dyn Fn(&[f64]) -> DVector<f64>| {
        let n = t.model.dofs();
        let columns: Vec<DVector<f64>> = (0..n)
            .map(|k| f(DMatrix::<f64>::identity(n, n).column(k).into_owned().as_slice()))
            .collect();
        DMatrix::from_columns(&columns)
    };
    compare("∂a/∂v", |t| {
        let d = evaluate(t);
        let ours = directions(t, &|x| {
            t.axes.transpose() * (&d.by_velocity * vector(&t.ours(x)))
                - t.transport(x, &t.case.v)
                - t.transport(&t.case.v, x)
        });
        (ours, square(t.model.dofs(), &t.case.forward_by_velocity))
    });
    compare("∂a/∂q", |t| {
        let d = evaluate(t);
        let a = t.axes.transpose() * vector(&d.acceleration);
        let ours = directions(t, &|x| {
            let moved_v = vector(&t.ours(t.turned(x, &t.case.v).as_slice()));
            let mut by_effort = t.ours(t.turned(x, &t.case.tau).as_slice());
            d.factor.solve(&mut by_effort);
            let sum =
                &d.by_position * vector(&t.ours(x)) + &d.by_velocity * moved_v + vector(&by_effort);
            t.axes.transpose() * sum - t.turned(x, a.as_slice())
        });
        (ours, square(t.model.dofs(), &t.case.forward_by_position))
    });
}

/// Pinocchio's ten numbers of a body, `m, m c, I_o` in the moved joint frame, of ours in the link frame.
fn inertial_numbers(link: &LinkCase, free: [Jet<10>; 10]) -> [Jet<10>; 10] {
    let x = link.in_joint.pose();
    let [m, cx, cy, cz, xx, xy, xz, yy, yz, zz] = free;
    let rotation = x.rotation.map(Jet::from);
    let c = rotation * Vector3::new(cx, cy, cz) + x.position.map(Jet::from);
    let inertia =
        rotation * Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) * rotation.transpose()
            - so3::skew(&c) * so3::skew(&c).map(|y| y * m);
    let i = |r, c| inertia[(r, c)];
    [m, c.x * m, c.y * m, c.z * m, i(0, 0), i(0, 1), i(1, 1), i(0, 2), i(1, 2), i(2, 2)]
}

fn inertial_parameters(link: usize) -> [TreeParameter; 10] {
    let center = |axis| TreeParameter::Center { link, axis };
    let entry = |row, column| TreeParameter::Inertia { link, row, column };
    [
        TreeParameter::Mass { link },
        center(0),
        center(1),
        center(2),
        entry(0, 0),
        entry(0, 1),
        entry(0, 2),
        entry(1, 1),
        entry(1, 2),
        entry(2, 2),
    ]
}

#[test]
fn derivatives_by_inertial_parameters_agree_with_the_regressor() {
    let mut worst: f64 = 0.0;
    let mut compared = 0;
    for t in trees() {
        let Some(regressor) = &t.case.regressor else { continue };
        let n = t.model.dofs();
        let regressor = DMatrix::from_row_slice(n, regressor.len() / n, regressor);
        let (v, a, load) = (t.ours(&t.case.v), t.accelerations(&t.case.a), t.load(false));
        let point = TreePoint { model: &t.model, q: &t.q, v: &v, load: &load };
        for (i, link) in t.case.links.iter().enumerate() {
            let Ok(joint) = usize::try_from(link.joint) else { continue };
            let m = &link.inertia;
            let c = &link.center;
            let values = [link.mass, c[0], c[1], c[2], m[0], m[1], m[2], m[4], m[5], m[8]];
            let theirs =
                inertial_numbers(link, std::array::from_fn(|k| Jet::variable(values[k], k)));
            let chain = DMatrix::from_fn(10, 10, |r, c| theirs[r].eps[c]);
            let theirs = regressor.columns(10 * joint, 10) * chain;
            let ours =
                t.axes.transpose() * inverse_by_parameters(point, &a, &inertial_parameters(i));
            worst = worst.max((ours - &theirs).amax() / theirs.amax());
            compared += 1;
        }
    }
    println!("∂τ/∂(mass, centre, inertia): {worst:.1e}");
    assert!(compared > 10 && worst < TOLERANCE, "{compared} links, {worst:.3e}");
}
