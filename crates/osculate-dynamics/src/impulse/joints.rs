//! Joints of a scene in the impulse model: one tree of the stepper, driven step by step.

use super::stepper::ImpulseStepper;
use super::tree::{JoinError, JointedBodies};
use crate::{ArticulationParameters, Parameters, Scene};

/// Joins the links of a scene with the numbers given. Mass properties are those of the bodies; which links touch is what the filter says, in
/// which neighbours are apart until it enables them.
///
/// # Errors
/// Where positions or velocities do not fit the joints.
pub(crate) fn join(
    stepper: &mut ImpulseStepper,
    scene: &Scene,
    parameters: &Parameters,
) -> Result<(), JoinError> {
    let (Some(articulation), Some(given)) = (&scene.articulation, &parameters.articulation) else {
        return Ok(());
    };
    let mut model = given.model.clone();
    for (link, &body) in articulation.bodies().iter().enumerate() {
        let (own, p) = (model.inertia_mut(link), &parameters.bodies[body]);
        (own.mass, own.center, own.inertia) = (p.mass, p.center, p.inertia);
    }
    let initial = given.initial.clone();
    let bodies = articulation.bodies().to_vec();
    stepper.join_filtered(model, bodies, initial.configuration, initial.rates)
}

/// Sets efforts and targets of a step.
pub(crate) fn drive(tree: &mut JointedBodies, given: &ArticulationParameters, step: usize) {
    let dofs = given.model.dofs();
    let of = |all: &[f64]| all.get(step * dofs..(step + 1) * dofs).map(<[f64]>::to_vec);
    if let Some(efforts) = of(&given.efforts) {
        tree.efforts = efforts;
    }
    if let Some(targets) = of(&given.targets) {
        for (k, target) in targets.into_iter().enumerate() {
            let link = tree.model().link_of(k);
            if let Some(drive) = &mut tree.model_mut().laws_mut(link).drive {
                drive.target = target;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::file::SceneFile;

    const PENDULUM: &str = r#"
        [solver]
        dt = 1e-3
        steps = 300

        [[actor]]
        name = "rod"
        mass = 1.0
        inertia = [0.02, 0.02, 0.001, 0, 0, 0]
        center = [0.0, 0.0, -0.5]

        [[joint]]
        child = "rod"
        kind = "revolute"
        axis = [0, 1, 0]
        q = [0.4]
        drive = { k_p = 3.0, k_d = 0.2, target = 0.1 }
    "#;

    /// A scene of joints runs under either model, and both converge to one motion.
    #[test]
    fn joints_of_a_scene_move_alike_under_both_models() {
        let ends = |steps: usize| {
            let of = |model: &str| {
                let dt = 0.3 / steps as f64;
                let text = PENDULUM
                    .replace("dt = 1e-3", &format!("dt = {dt}"))
                    .replace("steps = 300", &format!("steps = {steps}\nmodel = \"{model}\""));
                SceneFile::parse(&text, "scene.toml")
                    .unwrap()
                    .build(std::path::Path::new(""))
                    .unwrap()
            };
            let (soft, hard) = (of("compliant"), of("impulse"));
            let soft = soft.simulator.run(&soft.parameters).unwrap();
            let simulator = hard.impulse.unwrap();
            let hard = simulator.run(&hard.parameters).unwrap();
            let a = soft.path.state(steps)[0].center;
            let b = hard.state(steps)[0].center;
            assert!((b.norm() - 0.5).abs() < 1e-12, "the hinge holds: {}", b.norm());
            (a - b).norm()
        };
        let (coarse, fine) = (ends(300), ends(1200));
        assert!(coarse < 5e-3, "{coarse}");
        assert!((3.0..5.0).contains(&(coarse / fine)), "first order: {coarse} {fine}");
    }
}
