//! Simple predictions beside a fit.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use nalgebra::Vector3;
use osculate_fit::baselines::evaluate;
use osculate_fit::experiment::Experiment;
use osculate_fit::problem::{Quantity, Sample, Toss};
use osculate_fit::recording::{Dataset, Part};
use std::f64::consts::{PI, TAU};
use std::path::Path;

/// How far a joint has gone at a frame: x, z and the angle, which goes round.
const PER_FRAME: [f64; 3] = [0.004, -0.001, 0.3];

/// Symptom: of a body whose joints alone say where it is there was no mean path, so planar drops had two baselines.
#[test]
fn mean_path_of_joints_is_exact_for_drops_that_move_alike_whichever_way_they_go() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/planar_drop/experiment.toml");
    let experiment = Experiment::read(&file).unwrap();
    let data = Dataset::open(experiment.data_folder(None)).unwrap();
    let real = experiment.tosses(&data, Part::All).unwrap();
    let channels = &experiment.model.channels;
    assert!(channels.iter().all(|c| c.quantity == Quantity::JointPosition));
    // The ways of x and of the angle in the sense of the signs; z falls in all of them.
    let drop = |from: &Toss, [x, angle]: [f64; 2]| {
        let mut toss = from.clone();
        for (c, (channel, way)) in channels.iter().zip(PER_FRAME).enumerate() {
            let sense = [x, -1.0, angle][c];
            let joint = toss.joints.iter_mut().find(|j| j.body == channel.body).unwrap();
            joint.rate = sense;
            let way = if c == 1 { -way } else { way };
            for (k, sample) in toss.series[c].iter_mut().enumerate() {
                let q = joint.position + sense * way * k as f64;
                let q = if c == 2 { (q + PI).rem_euclid(TAU) - PI } else { q };
                *sample = Some(Sample::Vector(Vector3::new(q, 0.0, 0.0)));
            }
        }
        toss
    };
    let train = [drop(&real[0], [1.0, -1.0]), drop(&real[1], [-1.0, 1.0])];
    let judged = [drop(&real[2], [-1.0, -1.0])];
    let found = evaluate(&experiment.model, &judged, &train, 0.03).unwrap();
    let names: Vec<&str> = found.iter().map(|f| f.0).collect();
    assert_eq!(names, ["hold", "flight", "mean path"]);
    let errors = |i: usize| found[i].1.channels.iter().map(|c| c.error.mean).collect::<Vec<_>>();
    assert!(errors(2).iter().all(|e| *e < 1e-9), "{:?}", errors(2));
    assert!(errors(0).iter().all(|e| *e > 0.01), "{:?}", errors(0));
}
