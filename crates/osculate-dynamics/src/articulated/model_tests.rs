use super::super::test_models::{link, tree};
use super::super::{JointDrive, JointLimits};
use super::*;

fn revolute() -> JointKind {
    JointKind::Revolute { axis: Vector3::y() }
}

fn three() -> Vec<Link> {
    vec![link(0, None, JointKind::Free), link(1, Some(0), revolute()), link(2, Some(1), revolute())]
}

fn refused(change: impl FnOnce(&mut Vec<Link>)) -> ModelError {
    let mut links = three();
    change(&mut links);
    ArticulatedModel::new(links, Vec::new()).unwrap_err()
}

#[test]
fn support_is_the_path_to_the_world() {
    let model = tree();
    assert_eq!(model.support(2), (0..10).collect::<Vec<_>>());
    assert_eq!(model.support(4), [0, 1, 2, 3, 4, 5, 10]);
    assert_eq!((model.joint_dofs(4), model.link_of(11)), (11..11, 5));
    assert!(model.carries(0, 3) && !model.carries(3, 0) && !model.carries(3, 4));
    assert!(model.carries(6, 7) && !model.carries(7, 6) && !model.carries(7, 8));
}

#[test]
fn parents_must_exist_and_come_first() {
    let unknown = refused(|l| l[2].parent = Some(7));
    assert_eq!(unknown, ModelError::UnknownParent { link: "link2".into(), parent: "7".into() });
    let order = refused(|l| l[0].parent = Some(1));
    assert!(matches!(order, ModelError::Cycle { names } if names == ["link0", "link1"]));
    let order = refused(|l| {
        l[1].parent = Some(2);
        l[2].parent = None;
    });
    assert_eq!(order, ModelError::Order { link: "link1".into(), index: 1, parent: 2 });
}

#[test]
fn names_must_be_unique_and_not_empty() {
    let twice = refused(|l| l[2].name = "link0".into());
    assert_eq!(twice, ModelError::DuplicateName { what: "link", name: "link0".into() });
    let empty = refused(|l| l[1].name.clear());
    assert_eq!(empty, ModelError::Unnamed { what: "link", index: 1 });
}

#[test]
fn numbers_outside_their_range_are_refused_with_their_field() {
    type Change = fn(&mut Vec<Link>);
    let cases: [(&str, Change); 7] = [
        ("length of the axis", |l| {
            l[1].joint.kind = JointKind::Prismatic { axis: Vector3::new(0.0, 2.0, 0.0) };
        }),
        ("armature", |l| l[1].joint.armature[0] = -1.0),
        ("armature beyond the degrees of freedom", |l| l[1].joint.armature[1] = 1.0),
        ("placement of the joint", |l| l[1].joint.placement.rotation *= 1.1),
        ("mass", |l| l[1].inertia.mass = f64::NAN),
        ("inertia of a link without mass", |l| l[1].inertia.mass = 0.0),
        ("falloff speed", |l| l[1].joint.laws.friction.falloff_speed = 0.0),
    ];
    for (expected, change) in cases {
        let error = refused(change);
        assert!(matches!(error, ModelError::Number { field, .. } if field == expected), "{error}");
    }
    let upside_down = refused(|l| l[1].joint.laws.limits = Some(JointLimits::new(1.0, 0.0)));
    assert!(matches!(upside_down, ModelError::Number { field: "upper limit", .. }));
    let inertia = refused(|l| l[1].inertia.inertia = -l[1].inertia.inertia);
    assert!(matches!(inertia, ModelError::Mass { .. }));
}

#[test]
fn laws_must_fit_their_joint() {
    let error = refused(|l| l[0].joint.laws.drive = Some(JointDrive::default()));
    let expected = ModelError::Law { link: "link0".into(), kind: "free", law: "drive" };
    assert_eq!(error, expected);
    let error = refused(|l| {
        l[1].joint.kind = JointKind::Fixed;
        l[1].joint.armature[0] = 0.0;
        l[1].joint.laws.friction.viscous = 0.1;
    });
    assert!(matches!(error, ModelError::Law { law: "friction", .. }));
}

#[test]
fn moving_joints_must_carry_mass() {
    let error = refused(|l| l[2].inertia = LinkInertia::massless());
    assert_eq!(error, ModelError::Massless { link: "link2".into(), kind: "revolute" });
    let mut links = three();
    links[1].inertia = LinkInertia::massless();
    assert!(ArticulatedModel::new(links, Vec::new()).is_ok(), "its child has mass");
}

#[test]
fn closures_join_two_links_that_exist() {
    let at = |link| Attachment { link, frame: Pose::identity() };
    let closed = |a, b| {
        let closure = LoopClosure::new("loop", ClosureKind::Ball, at(a), at(b));
        ArticulatedModel::new(three(), vec![closure])
    };
    assert!(closed(Some(2), None).is_ok());
    assert!(matches!(closed(Some(3), None), Err(ModelError::UnknownLink { index: 3, .. })));
    assert!(matches!(closed(None, None), Err(ModelError::SelfClosure { .. })));
}

#[test]
fn links_are_sorted_by_the_names_of_their_parents() {
    let named = |order: [usize; 3]| {
        order.map(|i| {
            let parent = (i > 0).then(|| format!("link{}", i - 1));
            (link(i, Some(99), revolute()), parent)
        })
    };
    let links = sort_by_parent(named([2, 1, 0]).to_vec()).unwrap();
    let names: Vec<_> = links.iter().map(|l| (l.name.as_str(), l.parent)).collect();
    assert_eq!(names, [("link0", None), ("link1", Some(0)), ("link2", Some(1))]);
    let mut cycle = named([0, 1, 2]).to_vec();
    cycle[0].1 = Some("link2".into());
    assert!(matches!(sort_by_parent(cycle), Err(ModelError::Cycle { names }) if names.len() == 3));
    let mut unknown = named([0, 1, 2]).to_vec();
    unknown[0].1 = Some("base".into());
    assert!(matches!(sort_by_parent(unknown), Err(ModelError::UnknownParent { .. })));
}
