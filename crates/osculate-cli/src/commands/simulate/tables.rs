//! The CSV files. Numbers are the shortest that read back to the same value; zeros have no sign.

use super::{Run, total};
use nalgebra::Vector3;
use osculate_contact::Status;
use osculate_dynamics::articulated::JointPosition;
use osculate_dynamics::{JointState, Kinematics, Scene};
use osculate_math::so3;
use serde_json::{Value, json};
use std::fmt::Write;

/// A row of comma-separated values.
pub(in crate::commands) fn push(text: &mut String, cells: impl IntoIterator<Item = String>) {
    for (i, cell) in cells.into_iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        text.push_str(&cell);
    }
    text.push('\n');
}

pub(in crate::commands) fn numbers<'a>(x: impl IntoIterator<Item = &'a f64>) -> Vec<String> {
    // Adding zero takes the sign from a zero: -0.0 reads as a number of its own.
    x.into_iter().map(|x| format!("{:?}", x + 0.0)).collect()
}

/// Motion of a body's local frame after some steps.
pub(super) fn motion(run: &Run<'_>, step: usize, body: usize) -> Kinematics {
    let center = run.scene.parameters.bodies[body].center;
    run.trajectory.path.state(step)[body].kinematics(&center)
}

/// Motion of every dynamic body at the times given.
pub(in crate::commands) fn trajectory(
    scene: &Scene,
    times: &[f64],
    motion: impl Fn(usize, usize) -> Kinematics,
) -> String {
    let columns = [
        "position_x",
        "position_y",
        "position_z",
        "quaternion_w",
        "quaternion_x",
        "quaternion_y",
        "quaternion_z",
        "velocity_x",
        "velocity_y",
        "velocity_z",
        "angular_velocity_x",
        "angular_velocity_y",
        "angular_velocity_z",
    ];
    let mut text = String::from("step,t");
    for body in scene.dynamic_bodies() {
        for column in columns {
            // Writing to a string does not fail.
            let _ = write!(text, ",{}.{column}", scene.bodies[body].name);
        }
    }
    text.push('\n');
    for (step, t) in times.iter().enumerate() {
        let mut row = vec![step.to_string(), format!("{t:?}")];
        for body in scene.dynamic_bodies() {
            let m = motion(step, body);
            row.extend(numbers(m.position.iter()));
            row.extend(numbers(&so3::to_quaternion(&m.rotation)));
            row.extend(numbers(m.velocity.iter().chain(m.angular_velocity.iter())));
        }
        push(&mut text, row);
    }
    text
}

/// Positions and velocities of the joints at `times` \[s\]; `None` where there are none.
pub(super) fn joints<'s>(
    scene: &Scene,
    times: &[f64],
    state: impl Fn(usize) -> Option<&'s JointState>,
) -> Option<String> {
    let model = scene.articulation.as_ref()?.model();
    let mut text = String::from("step,t");
    for column in ["q", "qdot"] {
        for link in model.links() {
            let dofs = link.joint.kind.dofs();
            for k in 0..dofs {
                let index = if dofs == 1 { String::new() } else { format!("_{k}") };
                let _ = write!(text, ",{}.{column}{index}", link.name);
            }
        }
    }
    text.push('\n');
    for (step, time) in times.iter().enumerate() {
        let state = state(step)?;
        let mut row = vec![step.to_string(), format!("{time:?}")];
        for position in state.configuration.joints() {
            row.extend(numbers(&coordinates(position)));
        }
        row.extend(numbers(&state.rates));
        push(&mut text, row);
    }
    Some(text)
}

fn coordinates(position: &JointPosition) -> Vec<f64> {
    match position {
        JointPosition::None => Vec::new(),
        JointPosition::Scalar(x) => vec![*x],
        JointPosition::Rotation(r) => so3::log(r).as_slice().to_vec(),
        JointPosition::Pose(x) => {
            x.position.iter().chain(so3::log(&x.rotation).iter()).copied().collect()
        }
    }
}

pub(super) fn contacts(run: &Run<'_>) -> String {
    let scene = run.scene.simulator.scene();
    let mut text =
        String::from("step,t,colliding,collider,sample,status,distance,alignment,weight");
    for vector in ["position", "normal", "force", "elastic", "damping", "viscous", "coulomb"] {
        for axis in ["x", "y", "z"] {
            let _ = write!(text, ",{vector}_{axis}");
        }
    }
    text.push('\n');
    for step in 0..run.steps {
        for c in &run.contacts[step] {
            let mut row = vec![
                (step + 1).to_string(),
                format!("{:?}", run.times[step + 1]),
                scene.bodies[c.colliding].name.clone(),
                scene.bodies[c.collider].name.clone(),
                c.sample.to_string(),
                status(c.status).into(),
            ];
            row.extend(numbers([&c.distance, &c.alignment, &c.weight]));
            let vectors: [&Vector3<f64>; 7] =
                [&c.position, &c.normal, &c.force, &c.elastic, &c.damping, &c.viscous, &c.coulomb];
            row.extend(vectors.iter().flat_map(|v| numbers(v.iter())));
            push(&mut text, row);
        }
    }
    text
}

pub(super) fn forces(run: &Run<'_>) -> String {
    let scene = run.scene.simulator.scene();
    let mut text = String::from("step,t");
    for body in &scene.bodies {
        for vector in ["force", "torque"] {
            for axis in ["x", "y", "z"] {
                let _ = write!(text, ",{}.{vector}_{axis}", body.name);
            }
        }
    }
    text.push('\n');
    for step in 0..run.steps {
        let mut row = vec![(step + 1).to_string(), format!("{:?}", run.times[step + 1])];
        for w in run.scene.simulator.net_of(run.trajectory, step, &run.contacts[step]) {
            row.extend(numbers(w.force.iter().chain(w.torque.iter())));
        }
        push(&mut text, row);
    }
    text
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Apart => "apart",
        Status::Rejected => "rejected",
        Status::Contact => "contact",
        Status::Retained => "retained",
    }
}

pub(super) fn energies(run: &Run<'_>) -> String {
    let mut text = String::from("step,t,kinetic,gravitational,contact,total\n");
    for (step, e) in run.energies.iter().enumerate() {
        let values = [run.times[step], e.kinetic, e.gravitational, e.contact, total(e)];
        push(&mut text, std::iter::once(step.to_string()).chain(numbers(&values)));
    }
    text
}

pub(super) fn solver(run: &Run<'_>) -> String {
    let stages = run.scene.simulator.settings().method.stages();
    let mut text = String::from("step,stage,iterations,residual,tolerance,converged\n");
    for (i, s) in run.trajectory.stats.iter().enumerate() {
        let place = [i / stages + 1, i % stages, s.iterations].map(|n| n.to_string());
        let row = place.into_iter().chain(numbers([&s.residual, &s.tolerance]));
        push(&mut text, row.chain([s.converged.to_string()]));
    }
    text
}

/// Pose of each dynamic body at the end, for JSON and as rows of a table.
pub(super) fn final_poses(
    scene: &Scene,
    motion: impl Fn(usize) -> Kinematics,
) -> (Value, Vec<Vec<String>>) {
    let header = ["actor", "x (m)", "y (m)", "z (m)", "q_w", "q_x", "q_y", "q_z"];
    let mut rows = vec![header.map(String::from).to_vec()];
    let mut bodies = Vec::new();
    for body in scene.dynamic_bodies() {
        let name = &scene.bodies[body].name;
        let motion = motion(body);
        let (p, q) = (motion.position, so3::to_quaternion(&motion.rotation));
        let numbers = p.iter().chain(q.iter()).map(|x| format!("{x:.6}"));
        rows.push(std::iter::once(name.clone()).chain(numbers).collect());
        bodies.push(json!({
            "name": name,
            "position": p.as_slice(),
            "quaternion_wxyz": q,
            "velocity": motion.velocity.as_slice(),
            "angular_velocity": motion.angular_velocity.as_slice(),
        }));
    }
    (Value::Array(bodies), rows)
}
