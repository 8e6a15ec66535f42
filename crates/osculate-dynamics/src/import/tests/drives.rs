//! Actuators and springs as drives of joints.

use super::super::{ActuatorKind, Description};
use super::{exactly, mjcf, notes};
use crate::articulated::JointDrive;

fn robot(joint: &str, actuators: &str) -> Description {
    mjcf(&format!(
        "<mujoco><default><motor ctrlrange='-2 2'/><default class='fast'><position kp='7'/></default></default>
         <worldbody><body><joint name='j' {joint}/><geom size='1'/></body></worldbody>
         <actuator>{actuators}</actuator></mujoco>"
    ))
}

fn drive(joint: &str, actuators: &str) -> Option<JointDrive> {
    let robot = robot(joint, actuators);
    let (model, _) = robot.model().unwrap();
    model.links()[0].joint.laws.drive
}

#[test]
fn joint_without_actuator_or_spring_has_no_drive() {
    assert_eq!(drive("", ""), None);
}

#[test]
fn motor_is_a_torque_within_gear_times_its_range() {
    let drive = drive("", "<motor joint='j' gear='-3'/>").unwrap();
    assert_eq!(drive, JointDrive { effort_limit: Some(6.0), ..JointDrive::default() });
}

#[test]
fn servos_see_the_joint_through_the_gear_twice() {
    let position =
        drive("", "<position joint='j' kp='5' kv='2' gear='3' ctrllimited='false'/>").unwrap();
    exactly([position.stiffness, position.damping], [45.0, 18.0]);
    let velocity =
        drive("", "<velocity joint='j' kv='2' gear='3' forcerange='-4 4' ctrllimited='false'/>")
            .unwrap();
    exactly([velocity.stiffness, velocity.damping], [0.0, 18.0]);
    assert_eq!(velocity.effort_limit, Some(12.0));
    let of_class = drive("", "<position class='fast' joint='j'/>").unwrap();
    assert_eq!(of_class.stiffness.to_bits(), 7_f64.to_bits());
}

#[test]
fn general_actuators_are_recognised_by_gain_and_bias() {
    let kind = |attributes: &str| {
        let robot = robot("", &format!("<general joint='j' ctrllimited='false' {attributes}/>"));
        robot.actuators.first().map(|a| a.kind)
    };
    assert_eq!(kind("gainprm='4'"), Some(ActuatorKind::Torque { gain: 4.0 }));
    let position = kind("gainprm='4' biastype='affine' biasprm='0 -4 -1'");
    assert_eq!(position, Some(ActuatorKind::Position { kp: 4.0, kv: 1.0 }));
    let velocity = kind("gainprm='4' biastype='affine' biasprm='0 0 -4'");
    assert_eq!(velocity, Some(ActuatorKind::Velocity { kv: 4.0 }));
    for other in ["biastype='affine' biasprm='1 -1'", "gaintype='muscle'", "dyntype='integrator'"] {
        assert_eq!(kind(other), None, "{other}");
    }
}

#[test]
fn spring_is_a_drive_towards_its_rest_and_adds_to_a_servo() {
    let alone = drive("stiffness='2' springref='90'", "").unwrap();
    assert!((alone.target - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    let both =
        drive("stiffness='2' springref='90'", "<position joint='j' kp='6' ctrllimited='false'/>")
            .unwrap();
    // Torque 2 (π/2 − q) − 6 q.
    assert!((both.stiffness - 8.0).abs() < 1e-15);
    assert!((both.stiffness * both.target - std::f64::consts::PI).abs() < 1e-15);
}

#[test]
fn what_a_drive_cannot_express_is_noted() {
    let lopsided = robot("", "<motor joint='j' ctrlrange='0 1'/>");
    notes(&lopsided, &["motor", "ctrlrange", "same on both sides"]);
    let limited = robot("", "<position joint='j' ctrlrange='-1 1' forcerange='-1 2'/>");
    notes(&limited, &["position", "ctrlrange", "not limited"]);
    notes(&limited, &["position", "forcerange", "same on both sides"]);
    let two = robot("stiffness='1'", "<motor name='m' joint='j'/>");
    notes(&two, &["actuator 'm'", "only the sum has a limit"]);
    notes(&robot("", "<motor tendon='t'/>"), &["motor", "only drives of joints"]);
    notes(&robot("type='ball'", "<motor joint='j'/>"), &["motor", "only hinges and slides"]);
    notes(&robot("", "<muscle joint='j'/>"), &["muscle", "only motor"]);
    notes(&robot("", "<position joint='j' dampratio='1'/>"), &["dampratio", "kv"]);
}
