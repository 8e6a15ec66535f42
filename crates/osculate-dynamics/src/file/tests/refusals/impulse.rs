//! Refusals of the impulse model, and what its tables mean.

use super::{BASE, check, refusal};
use crate::file::SceneFile;
use crate::impulse::{
    ArticulatedResponse, Coriolis, FrictionMode, FrictionPoint, Gyroscopic, NormalLaw, SolveMode,
    Torsion,
};
use osculate_contact::impulse::{Condim, FrictionCombine};
use std::path::Path;

fn built(text: &str) -> crate::file::BuiltScene {
    SceneFile::parse(text, "scene.toml").unwrap().build(Path::new("/nowhere")).unwrap()
}

#[test]
fn values_out_of_range_are_refused_with_line_and_field() {
    let solver = "steps = 4\n";
    let with = |line: &str| format!("{solver}model = \"impulse\"\n[solver.impulse]\n{line}\n");
    let cases = [
        ("sweeps = 0", "solver.impulse.sweeps", "1 to 10000000"),
        ("tolerance = 0", "solver.impulse.tolerance", "> 0"),
        ("relaxation = 2", "solver.impulse.relaxation", "< 2"),
        ("erp = 1.5", "solver.impulse.erp", "0 to 1"),
        ("slop = -1e-3", "solver.impulse.slop", ">= 0 m"),
        ("cfm = -1", "solver.impulse.cfm", ">= 0"),
        ("warm_start = 2", "solver.impulse.warm_start", "0 to 1"),
        ("anchor_beta = -0.1", "solver.impulse.anchor_beta", "0 to 1"),
        ("friction_scale = -1", "solver.impulse.friction_scale", ">= 0"),
        ("restitution_threshold = -1", "solver.impulse.restitution_threshold", ">= 0 m/s"),
        ("margin = -1", "solver.impulse.margin", ">= 0 m"),
        ("max_correction_speed = 0", "solver.impulse.max_correction_speed", "> 0"),
        ("normal_damping = 1", "solver.impulse.normal_damping", "beside normal_stiffness"),
        ("normal_stiffness = 0", "solver.impulse.normal_stiffness", "> 0 N/m"),
    ];
    for (line, field, allowed) in cases {
        let to = with(line);
        check(&[(solver, to.as_str(), 7, field, &[allowed])]);
    }
}

#[test]
fn unknown_words_and_fields_are_refused() {
    for (line, word) in [
        ("[solver.impulse]\nfriction_mode = \"pyramid\"", "pyramid"),
        ("[solver.impulse]\nsolve_mode = \"jacobi\"", "colored"),
        ("[solver.impulse]\narticulated_contact_response = \"slow\"", "propagation"),
        ("[solver.impulse]\nsweep = 3", "sweep"),
        ("[solver.impulse]\ncombine = \"mean\"", "mean"),
        ("[solver.impulse]\nfriction_priority = 1", "friction_priority"),
        ("[solver.impulse]\ntorsion = \"quadratic\"", "quadratic"),
        ("model = \"hard\"", "hard"),
    ] {
        let text = BASE.replace("steps = 4\n", &format!("steps = 4\n{line}\n"));
        assert!(refusal(&text).to_string().contains(word), "{line}");
    }
}

#[test]
fn surfaces_out_of_range_are_refused_in_either_model() {
    let contact = "[actor.contact]\nk = 1e9\n";
    for (line, field, allowed) in [
        ("restitution = 1.5", "actor[1].impulse.restitution", "0 to 1"),
        ("torsional_radius = -1", "actor[1].impulse.torsional_radius", ">= 0 m"),
        ("torsional_patch_radius = -1", "actor[1].impulse.torsional_patch_radius", ">= 0 m"),
        ("condim = 2", "actor[1].impulse.condim", "1, 3, 4 or 6"),
        ("rolling_friction = -1", "actor[1].impulse.rolling_friction", ">= 0 m"),
    ] {
        let to = format!("{contact}[actor.impulse]\n{line}\n");
        check(&[(contact, to.as_str(), 18, field, &[allowed])]);
    }
}

#[test]
fn one_word_changes_the_model_of_a_scene() {
    let text = BASE.replace("steps = 4\n", "steps = 4\nmodel = \"impulse\"\n");
    let (compliant, impulse) = (built(BASE), built(&text));
    assert!(compliant.impulse.is_none() && compliant.require_compliant("gradients").is_ok());
    let simulator = impulse.impulse.as_ref().unwrap();
    assert_eq!(simulator.durations(), compliant.simulator.durations());
    let trajectory = simulator.run(&impulse.parameters).unwrap();
    assert_eq!(trajectory.records.len(), 4);
    let message = impulse.require_compliant("gradients").unwrap_err().to_string();
    assert!(message.starts_with("scene.toml:5: solver.model") && message.contains("gradients"));
}

#[test]
fn every_setting_reaches_the_stepper() {
    let table = r#"steps = 4
model = "impulse"
on_failure = "continue"
[solver.impulse]
friction_mode = "coulomb-newton"
sweeps = 7
velocity_sweeps = 2
regularization = 0.1
friction_gap = 2e-3
friction_point = "own"
solve_mode = "colored"
articulated_contact_response = "propagation"
help_stalled = false
normal_stiffness = 1e4
normal_damping = 3
combine = "min"
gyroscopic = "off"
coriolis = "conserving"
footprint = "corners"
torsion = "limit-surface"
"#;
    let surface = "k = 1e9\n[actor.impulse]\nrestitution = 0.4\ncondim = 6\nspin_friction = 1e-3\ntorsional_patch_radius = 0.02\ncombine = \"multiply\"\nfriction_priority = 2\n";
    let text = BASE.replace("steps = 4\n", table).replace("k = 1e9\n", surface);
    let scene = built(&text);
    let simulator = scene.impulse.unwrap();
    let s = simulator.settings();
    assert_eq!((s.friction_mode, s.sweeps), (FrictionMode::CoulombNewton, 7));
    assert_eq!((s.velocity_sweeps, s.combine), (2, FrictionCombine::Min));
    assert_eq!((s.regularization, s.friction_gap), (0.1, 2e-3));
    assert_eq!(s.friction_point, FrictionPoint::Own);
    let order = (s.solve_mode, s.articulated_response);
    assert_eq!(order, (SolveMode::Colored, ArticulatedResponse::Propagation));
    assert_eq!(s.coriolis, Coriolis::Conserving);
    assert_eq!((s.gyroscopic, s.on_failure), (Gyroscopic::Off, crate::OnFailure::Continue));
    assert!(matches!(s.normal, NormalLaw::SpringDamper(_)));
    let surface = simulator.scene().bodies[1].impulse;
    assert_eq!((surface.condim, surface.restitution), (Condim::Rolling, 0.4));
    let combine = (surface.combine, surface.friction_priority);
    assert_eq!(combine, (Some(FrictionCombine::Multiply), 2));
    assert_eq!(simulator.scene().bodies[0].impulse.combine, None);
    assert!(!s.help_stalled);
    assert_eq!((s.torsion, surface.torsional_patch_radius), (Torsion::LimitSurface, 0.02));
}

#[test]
fn actor_that_samples_without_a_shape_is_refused_by_the_impulse_model_alone() {
    let points = "collider = \"none\"\nsamples = { points = [[0, 0, 0]], weight = 1.0 }\n";
    let inertia = "mass = 0.4\ninertia = [1e-3, 1e-3, 1e-3, 0, 0, 0]\n";
    let text = BASE
        .replace("shape.box = { half_extents = [0.05, 0.05, 0.05] }\n", points)
        .replace("mass = 0.4\n", inertia);
    built(&text);
    let message = refusal(&text.replace("steps = 4\n", "steps = 4\nmodel = \"impulse\"\n"));
    let message = message.to_string();
    assert!(message.contains("actor[1].collider") && message.contains("faces"), "{message}");
}
