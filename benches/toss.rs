//! A cube of 0.1 m and 0.37 kg tossed on a plane: 1 s at 2 ms with the model's defaults (backward Euler,
//! stage-start load, 36 samples of the rule P1Q3), converged to 1e-10.
//!
//! Bars: adjoint of all parameters ≤ 0.5 × forward. `cargo bench --bench toss`.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench stops where its scene is wrong")]
#![allow(missing_docs, reason = "a bench documents itself above")]

mod common;

use common::interleaved;
use divan::{Bencher, black_box};
use nalgebra::Vector3;
use osculate_contact::ContactParams;
use osculate_dynamics::sensitivity::{Outcome, adjoint, tangent};
use osculate_dynamics::{
    Body, Kinematics, Layout, Parameters, Scene, Settings, Simulator, Trajectory,
};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::Scalar;

const STEPS: usize = 500;
const STEP: f64 = 0.002;

/// Where the cube ends along x.
struct Distance;
impl Outcome for Distance {
    fn contribution<T: Scalar>(&self, _step: usize, bodies: &[Kinematics<T>]) -> T {
        bodies[1].position.x
    }
    fn observes(&self, step: usize) -> bool {
        step == STEPS
    }
}

/// Mean square of the position over the toss: observes every step, as a fit does.
struct Track;
impl Outcome for Track {
    fn contribution<T: Scalar>(&self, _step: usize, bodies: &[Kinematics<T>]) -> T {
        bodies[1].position.dot(&bodies[1].position) * STEP
    }
}

struct Toss {
    simulator: Simulator,
    parameters: Parameters,
    trajectory: Trajectory,
}

impl Toss {
    fn new() -> Self {
        let contact = ContactParams { friction: 0.3, ..ContactParams::default() };
        let mut ground = Body::fixed("ground");
        ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
        ground.contact = contact;
        let half = Vector3::repeat(0.05);
        let mut cube = Body::dynamic("cube", MassProperties::cuboid(0.37, &half).unwrap());
        let mesh = TriangleMesh::cuboid(&half).unwrap();
        cube.samples = Some(SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3));
        cube.contact = contact;
        cube.pose.position = Vector3::new(0.0, 0.0, 0.15);
        cube.velocity = Vector3::new(1.0, 0.2, 0.0);
        cube.angular_velocity = Vector3::new(0.5, -1.0, 0.7);
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let scene = Scene::new(gravity, vec![ground, cube]).unwrap();
        let simulator = Simulator::new(scene, Settings::default(), vec![STEP; STEPS]).unwrap();
        let parameters = simulator.parameters();
        let trajectory = simulator.run(&parameters).unwrap();
        Self { simulator, parameters, trajectory }
    }

    fn layout(&self) -> Layout {
        Layout::new(self.simulator.scene(), &self.parameters)
    }

    fn forward(&mut self) {
        self.simulator.run_into(&self.parameters, &mut self.trajectory).unwrap();
    }

    fn adjoint(&self, outcome: &impl Outcome) -> Vec<f64> {
        let t = &self.trajectory;
        adjoint::gradient(&self.simulator, t, &self.parameters, outcome).unwrap().1
    }

    fn tangent(&self, which: &[usize]) -> Vec<f64> {
        let t = &self.trajectory;
        tangent::gradient::<8>(&self.simulator, t, &self.parameters, which, &Distance).unwrap().1
    }

    /// Eight parameters that the toss depends on.
    fn eight(&self) -> Vec<usize> {
        let names = ["mu", "k", "v_f", "c_n", "velocity_x", "velocity_z", "rotation_x", "mass"];
        let layout = self.layout();
        names.iter().map(|n| layout.index(&format!("cube.{n}")).unwrap()).collect()
    }
}

fn ratios() {
    let (mut forward, still) = (Toss::new(), Toss::new());
    let which = still.eight();
    let iterations: usize = still.trajectory.stats.iter().map(|s| s.iterations).sum();
    let end = still.trajectory.path.state(STEPS)[1].center;
    let [f, a, r, t] = interleaved(
        61,
        &mut [
            &mut || forward.forward(),
            &mut || drop(black_box(still.adjoint(&Distance))),
            &mut || drop(black_box(still.adjoint(&Track))),
            &mut || drop(black_box(still.tangent(&which))),
        ],
    );
    let micro = |t: f64| t / STEPS as f64 * 1e6;
    println!("toss, {STEPS} steps of {STEP} s, medians of 61 turns");
    println!(
        "  forward                          {:6.2} µs a step, {:.2} Newton iterations, ends at {:.6} {:.6} {:.6}",
        micro(f),
        iterations as f64 / STEPS as f64,
        end.x,
        end.y,
        end.z
    );
    println!(
        "  adjoint of {} parameters, end     {:6.2} µs a step, {:.3} × forward (bar 0.5)",
        still.layout().len(),
        micro(a),
        a / f
    );
    println!(
        "  adjoint, every step observed     {:6.2} µs a step, {:.3} × forward",
        micro(r),
        r / f
    );
    println!(
        "  tangent of 8 parameters          {:6.2} µs a step, {:.3} × forward",
        micro(t),
        t / f
    );
}

#[divan::bench]
fn forward(bencher: Bencher<'_, '_>) {
    let mut toss = Toss::new();
    bencher.bench_local(|| toss.forward());
}

#[divan::bench]
fn adjoint_of_all_parameters(bencher: Bencher<'_, '_>) {
    let toss = Toss::new();
    bencher.bench_local(|| toss.adjoint(&Distance));
}

#[divan::bench]
fn track_gradient(bencher: Bencher<'_, '_>) {
    let toss = Toss::new();
    bencher.bench_local(|| toss.adjoint(&Track));
}

#[divan::bench]
fn tangent_of_eight_parameters(bencher: Bencher<'_, '_>) {
    let toss = Toss::new();
    let which = toss.eight();
    bencher.bench_local(|| toss.tangent(&which));
}

fn main() {
    // With a filter (`cargo bench --bench toss forward`) only what it names is run, for profiles.
    if std::env::args().skip(1).all(|a| a.starts_with('-')) {
        ratios();
    }
    divan::main();
}
