//! Friction and rows of contacts of MJCF in the scene, against what the format says acts between two geometries.

use super::super::ImportedScene;
use super::mjcf;
use super::scene::built;
use osculate_contact::impulse::FrictionCombine;
use std::path::Path;

/// A floor with four rows, a ball and a puck.
fn three(floor: &str, ball: &str, puck: &str, more: &str) -> String {
    format!(
        "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' {floor}/>
         <body name='ball'><freejoint/><geom name='b' size='0.1' {ball}/></body>
         <body name='puck' pos='1 0 0'><freejoint/><geom name='p' size='0.1' {puck}/></body></worldbody>
         {more}</mujoco>"
    )
}

/// Rows, sliding, spin and rolling friction that act between two actors of the scene, by the rules of the impulse model.
fn acting(text: &str, a: &str, b: &str) -> (usize, [f64; 3]) {
    let (file, scene) = built(&mjcf(text));
    assert_eq!(file.solver.impulse.unwrap().combine, FrictionCombine::Max);
    let scene = scene.simulator.scene();
    let of = |name: &str| scene.bodies.iter().position(|body| body.name == name).unwrap();
    let pair = [of(a), of(b)];
    let [x, y] = pair.map(|i| &scene.bodies[i]);
    let replaced = scene.overrides.iter().find(|o| o.bodies.iter().all(|i| pair.contains(i)));
    let mu = replaced.and_then(|o| o.values.friction);
    let mu = mu.unwrap_or(x.contact.friction.max(y.contact.friction));
    let spin = x.impulse.spin_friction.max(y.impulse.spin_friction);
    let roll = x.impulse.rolling_friction.max(y.impulse.rolling_friction);
    // The format counts the normal row too.
    (1 + x.impulse.condim.rows().max(y.impulse.condim.rows()), [mu, spin, roll])
}

fn notes(text: &str) -> Vec<String> {
    let ImportedScene { notes, .. } = mjcf(text).scene(Path::new(""));
    notes.iter().map(ToString::to_string).collect()
}

const FLOOR: &str = "friction='0.3 0.02 0.003' condim='4'";

#[test]
fn larger_number_of_each_kind_acts_between_geometries_of_equal_priority() {
    let text = three(FLOOR, "friction='0.8 0.01 0.005' condim='6'", "friction='0.1'", "");
    assert_eq!(acting(&text, "world_floor", "ball"), (6, [0.8, 0.02, 0.005]));
    // Torsional and rolling friction of the format where the file is silent: 0.005 and 0.0001.
    assert_eq!(acting(&text, "world_floor", "puck"), (4, [0.3, 0.02, 0.003]));
    assert_eq!(acting(&text, "ball", "puck"), (6, [0.8, 0.01, 0.005]));
    assert!(!notes(&text).iter().any(|n| n.contains("friction")));
}

/// A frictionless geometry has the rows and the friction of the pair: its own coefficient counts there.
#[test]
fn coefficient_of_a_frictionless_geometry_acts_where_the_other_one_has_friction() {
    let text = three(FLOOR, "friction='0.8' condim='1'", "condim='1'", "");
    assert_eq!(acting(&text, "world_floor", "ball"), (4, [0.8, 0.02, 0.003]));
    assert_eq!(acting(&text, "ball", "puck").1[0].to_bits(), 0.0_f64.to_bits());
}

#[test]
fn geometry_of_higher_priority_decides_and_what_a_pair_cannot_say_is_noted() {
    let puck = "friction='0.1 0.004 0.002' condim='3' priority='2'";
    let text = three(FLOOR, "friction='0.8' condim='3' priority='-1'", puck, "");
    for other in ["world_floor", "ball"] {
        assert_eq!(acting(&text, other, "puck").1[0].to_bits(), 0.1_f64.to_bits());
    }
    assert_eq!(acting(&text, "world_floor", "ball").1[0].to_bits(), 0.3_f64.to_bits());
    // The floor's spin row acts on the puck too, which the priority of the puck would forbid.
    let noted = notes(&text);
    let about = |name: &str| noted.iter().any(|n| n.contains(name) && n.contains("priority"));
    assert!(about("geometry 'p'") && !about("geometry 'b'"), "{noted:#?}");
    let plain = three("condim='3'", "condim='3'", "condim='3' friction='0.1' priority='1'", "");
    assert!(!notes(&plain).iter().any(|n| n.contains("priority")));
}

#[test]
fn friction_of_a_pair_replaces_that_of_the_rule() {
    let pair =
        "<contact><pair geom1='floor' geom2='b' friction='0.7 0.7 0.1' condim='4'/></contact>";
    let text = three(FLOOR, "friction='0.8' condim='3' priority='3'", "", pair);
    assert_eq!(acting(&text, "world_floor", "ball").1[0].to_bits(), 0.7_f64.to_bits());
    assert!(notes(&text).iter().any(|n| n.contains("of a pair are those of its actors")));
}

#[test]
fn rows_that_nothing_needs_leave_the_scene_as_it_was() {
    let (file, scene) = built(&mjcf(&three("friction='0.3'", "", "", "")));
    assert!(scene.impulse.is_none(), "the compliant model remains the default");
    for actor in &file.actors {
        let i = &actor.impulse;
        assert_eq!((i.condim, i.spin_friction, i.rolling_friction), (3, 0.0, 0.0));
    }
    let urdf = super::urdf("<robot name='r'><link name='l'/></robot>");
    assert!(urdf.scene(Path::new("")).file.solver.impulse.is_none());
}
