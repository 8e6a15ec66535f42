use super::super::test_models::{configuration, tree, values, vector};
use super::super::{ArticulatedModel, Configuration};
use super::*;
use osculate_math::Jet;

const H: f64 = 0.02;

fn weights(model: &ArticulatedModel) -> Vec<Vector3<f64>> {
    model.links().iter().map(|l| vector(9) * (2.0 * l.inertia.mass)).collect()
}

fn kinetic(model: &ArticulatedModel, q: &Configuration, v: &[f64]) -> f64 {
    let at = TreeKinematics::new(model, q);
    let h = mass_matrix(model, &at);
    let v = nalgebra::DVector::from(v.to_vec());
    0.5 * v.dot(&(h * &v))
}

fn moved(q: &Configuration, v: &[f64], h: f64) -> Configuration {
    q.incremented(&v.iter().map(|v| v * h).collect::<Vec<_>>())
}

fn drifted(model: &ArticulatedModel, q: &Configuration, v: &[f64], h: f64) -> Vec<f64> {
    let next = moved(q, v, h);
    let [start, end] = [q, &next].map(|q| TreeKinematics::new(model, q));
    let weights = vec![Vector3::zeros(); model.links().len()];
    Way { model, ends: [&start, &end], v, weights: &weights, duration: h }.drift().unwrap().after
}

#[test]
fn free_motion_keeps_the_kinetic_energy_for_any_step() {
    let model = tree();
    for seed in 0..4 {
        let (q, v) = (configuration(&model, seed), values(model.dofs(), 20 + seed));
        for h in [1e-3, 0.02, 0.3] {
            let change = kinetic(&model, &moved(&q, &v, h), &drifted(&model, &q, &v, h))
                / kinetic(&model, &q, &v);
            assert!((change - 1.0).abs() < 1e-12, "seed {seed} h {h}: {change}");
        }
    }
}

/// `v⁺` differs from the velocity of the exact motion by `O(h²)` a step.
#[test]
fn free_motion_is_consistent() {
    let model = tree();
    let (q, v) = (configuration(&model, 1), values(model.dofs(), 2));
    let fine = |h: f64, parts: usize| {
        let (mut q, mut v) = (q.clone(), v.clone());
        for _ in 0..parts {
            let next = drifted(&model, &q, &v, h / parts as f64);
            q = moved(&q, &v, h / parts as f64);
            v = next;
        }
        v
    };
    let error = |h: f64| {
        let (one, many) = (fine(h, 1), fine(h, 64));
        one.iter().zip(&many).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let ratio = error(2e-3) / error(1e-3);
    assert!((3.5..4.5).contains(&ratio), "{ratio}");
}

#[test]
fn a_tree_at_rest_stays_at_rest() {
    let model = tree();
    let still = vec![0.0; model.dofs()];
    assert_eq!(drifted(&model, &configuration(&model, 3), &still, H), still);
}

/// A point of [`Way::drift`] in jets.
struct Seeded {
    model: ArticulatedModel<Jet<1>>,
    ends: [Configuration<Jet<1>>; 2],
    v: Vec<Jet<1>>,
    weights: Vec<Vector3<Jet<1>>>,
}

fn unit(n: usize, k: usize) -> Vec<Jet<1>> {
    let one = |j| if j == k { Jet::variable(0.0, 0) } else { Jet::constant(0.0) };
    (0..n).map(one).collect()
}

/// By velocities, weights, positions of both ends, masses, centres of mass and armature.
#[test]
fn pullback_of_free_motion_is_the_transpose_of_its_jets() {
    let model = tree();
    let n = model.dofs();
    let (q, v, bar) = (configuration(&model, 1), values(n, 2), values(n, 3));
    let (ends, weights) = ([q.clone(), moved(&q, &v, H)], weights(&model));
    let [start, end] = [&ends[0], &ends[1]].map(|q| TreeKinematics::new(&model, q));
    let way = Way { model: &model, ends: [&start, &end], v: &v, weights: &weights, duration: H };
    let found = way.pull(&way.drift().unwrap(), &bar);
    let lifted = |seed: &dyn Fn(&mut Seeded)| {
        let mut s = Seeded {
            model: model.lift(),
            ends: [ends[0].lift(), ends[1].lift()],
            v: v.iter().map(|&v| Jet::constant(v)).collect(),
            weights: weights.iter().map(|w| w.map(Jet::constant)).collect(),
        };
        seed(&mut s);
        s
    };
    let close = |found: f64, seed: &dyn Fn(&mut Seeded), what: &str| {
        let s = lifted(seed);
        let [start, end] = [&s.ends[0], &s.ends[1]].map(|q| TreeKinematics::new(&s.model, q));
        let ends = [&start, &end];
        let way = Way { model: &s.model, ends, v: &s.v, weights: &s.weights, duration: H };
        let after = way.drift().unwrap().after;
        let exact: f64 = after.iter().zip(&bar).map(|(v, b)| v.eps[0] * b).sum();
        assert!((found - exact).abs() < 1e-11 * exact.abs().max(10.0), "{what}: {found} {exact}");
    };
    // What the powers of the forces add.
    let power = |which: usize, seed: &dyn Fn(&mut Seeded)| {
        let s = lifted(seed);
        let at = TreeKinematics::new(&s.model, &s.ends[which]);
        let v: Vec<Jet<1>> = v.iter().map(|&v| Jet::constant(v)).collect();
        let moving = at.center_velocities(&s.model, &v);
        let each = moving.iter().zip(&found.forces[which]);
        each.map(|((v, _), f)| (0..3).map(|i| v[i].eps[0] * f[i]).sum::<f64>()).sum::<f64>()
    };
    let sum =
        |get: &dyn Fn(&InverseBar) -> f64| found.inverse.iter().flatten().map(get).sum::<f64>();
    for k in 0..n {
        close(found.velocity[k], &|s| s.v[k].eps[0] = 1.0, &format!("velocity {k}"));
        for which in 0..2 {
            let seed = |s: &mut Seeded| s.ends[which] = s.ends[which].incremented(&unit(n, k));
            let own: f64 = found.inverse[which].iter().map(|b| b.position[k]).sum();
            close(own + power(which, &seed), &seed, &format!("position {which} {k}"));
        }
    }
    for (i, link) in model.links().iter().enumerate() {
        let mass = |s: &mut Seeded| s.model.inertia_mut(i).mass.eps[0] = 1.0;
        close(sum(&|b| b.masses[i]), &mass, &format!("mass {i}"));
        for axis in 0..3 {
            let weight = |s: &mut Seeded| s.weights[i][axis].eps[0] = 1.0;
            close(found.weights[i][axis], &weight, &format!("weight {i}"));
            let center = |s: &mut Seeded| s.model.inertia_mut(i).center[axis].eps[0] = 1.0;
            let own = sum(&|b| b.centers[i][axis]) + power(0, &center) + power(1, &center);
            close(own, &center, &format!("center {i}"));
        }
        for (place, k) in model.joint_dofs(i).enumerate() {
            let armature = |s: &mut Seeded| s.model.armature_mut(i)[place].eps[0] = 1.0;
            close(sum(&|b| b.armature[k]), &armature, &format!("armature {}", link.name));
        }
    }
}
