//! The layer inside burn: the same gradients, composed with networks.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use burn::module::Module;
use burn::tensor::Tensor;
use common::{rows, scene, spec};
use osculate_learn::{Input, LayerSpec, LearnError, Network, Output, Rollout, STATE};
use osculate_learn::{device, numbers, tensor};

const COLUMNS: usize = 26;

#[test]
fn gradients_of_burn_are_those_of_the_adjoint() {
    for model in ["compliant", "impulse"] {
        let layer = Rollout::new(&scene(model, "bdf2"), spec()).unwrap();
        let device = device().unwrap();
        let batch = rows(3);
        let bars: Vec<f64> = (0..3 * 39).map(|i| (1.3 * i as f64).sin()).collect();
        let inputs = tensor(batch.clone(), [3, COLUMNS], &device).require_grad();
        let outputs = layer.forward(inputs.clone()).unwrap();
        let rolled = layer.run(&batch).unwrap();
        let same = numbers(&outputs).unwrap();
        assert!(same.iter().zip(&rolled.outputs).all(|(a, b)| a.to_bits() == b.to_bits()));
        let loss = (outputs * tensor(bars.clone(), [3, 39], &device)).sum();
        let gradients = loss.backward();
        let found = numbers(&inputs.grad(&gradients).unwrap()).unwrap();
        let wanted = rolled.pull(&bars).unwrap();
        let scale = wanted.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        for (a, b) in found.iter().zip(&wanted) {
            assert!((a - b).abs() <= 1e-12 * scale, "{model}: {a} {b}");
        }
        assert_eq!(layer.take_failure(), None);
    }
}

/// A state goes through the layer, its end through a network, and back into the layer as a wrench.
fn composed(layer: &Rollout, network: &Network, start: &Tensor<2>) -> Tensor<1> {
    let rows = start.dims()[0];
    let mut state = start.clone();
    let mut total = tensor(vec![0.0], [1], &start.device());
    for _ in 0..3 {
        let seen = state.clone().slice([0..rows, 12..18]);
        let wrench = network.forward(seen);
        state = layer.forward(Tensor::cat(vec![state, wrench], 1)).unwrap();
        let height = state.clone().slice([0..rows, 0..3]);
        total = total + (height.clone() * height).sum();
    }
    total
}

#[test]
fn gradients_go_through_network_and_layer_again_and_again() {
    let spec = LayerSpec {
        inputs: vec![Input::state("cube"), Input::wrench("cube", 0..12)],
        outputs: vec![Output::state("cube", 12)],
    };
    let layer = Rollout::new(&scene("compliant", "backward-euler"), spec).unwrap();
    let device = device().unwrap();
    let start: Vec<f64> = rows(2).chunks(COLUMNS).flat_map(|r| r[..STATE].to_vec()).collect();
    let start = tensor(start, [2, STATE], &device);
    let network = Network::new(&[6, 5, 6], 3, &device);
    // The first bias moved by h: the last layer's, so that its derivative passes two layer calls and a network.
    let biases = |h: f64| vec![0.1 + h, -0.2, 0.3, 0.0, 0.0, 0.0];
    let value = |h: f64| {
        let moved = network.clone().with_last_layer(0.05, &biases(h), &device);
        numbers(&composed(&layer, &moved, &start)).unwrap()[0]
    };
    let h = 1e-4;
    let d = |h: f64| (value(h) - value(-h)) / (2.0 * h);
    let difference = (4.0 * d(h) - d(2.0 * h)) / 3.0;
    let here = network.clone().with_last_layer(0.05, &biases(0.0), &device);
    let gradients = composed(&layer, &here, &start).backward();
    let grads = burn::optim::GradientsParams::from_grads(gradients, &here);
    let mut found = Vec::new();
    struct Biases<'a>(&'a burn::optim::GradientsParams, &'a mut Vec<f64>);
    impl burn::module::ModuleVisitor for Biases<'_> {
        fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
            if D == 1
                && let Some(g) = self.0.get::<1>(param.id)
            {
                self.1.push(numbers(&g).unwrap()[0]);
            }
        }
    }
    here.visit(&mut Biases(&grads, &mut found));
    let exact = found[found.len() - 1];
    assert!((exact - difference).abs() < 1e-7 * exact.abs(), "{exact} {difference}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let layer = Rollout::new(&scene("compliant", "bdf2"), spec()).unwrap();
    let device = device().unwrap();
    let wide = tensor(vec![0.0; 54], [2, 27], &device);
    assert!(matches!(
        layer.forward(wide),
        Err(LearnError::Shape { found: [2, 27], columns: COLUMNS })
    ));
    let single = tensor(rows(1), [1, COLUMNS], &device).cast(burn::tensor::FloatDType::F32);
    assert!(matches!(layer.forward(single), Err(LearnError::Precision { .. })));
    let mut broken = rows(2);
    broken[COLUMNS] = f64::INFINITY;
    let broken = tensor(broken, [2, COLUMNS], &device);
    assert!(matches!(layer.forward(broken), Err(LearnError::NotFinite { row: 1, .. })));
}

#[test]
fn constants_and_devices_without_gradients_are_only_rolled_out() {
    let layer = Rollout::new(&scene("compliant", "bdf2"), spec()).unwrap();
    let device = device().unwrap();
    for device in [device.clone(), device.without_autodiff()] {
        let outputs = layer.forward(tensor(rows(2), [2, COLUMNS], &device)).unwrap();
        assert!(!outputs.is_tracked());
        let wanted = layer.run(&rows(2)).unwrap().outputs;
        let found = numbers(&outputs).unwrap();
        assert!(found.iter().zip(&wanted).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

#[test]
fn networks_of_one_seed_are_the_same() {
    let device = device().unwrap();
    let says = |seed| {
        let x = tensor(vec![0.3, -0.7], [1, 2], &device);
        numbers(&Network::new(&[2, 4, 3], seed, &device).forward(x)).unwrap()
    };
    assert_eq!(says(1), says(1));
    assert_ne!(says(1), says(2));
}
