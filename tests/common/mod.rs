//! The catalogue of scenes that the law tests loop over.

#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(unreachable_pub, reason = "shared by test binaries")]

pub mod differences;
pub mod free;
pub mod impulse;

pub mod laws;

pub mod shapes;

pub mod trees;
pub mod twin;

use nalgebra::{Matrix3, Vector3};
use osculate_contact::{ContactLaw, ContactParams, DissipationSchedule, PairOverride};
use osculate_dynamics::{
    Body, Kinematics, Method, NewtonSettings, Override, Parameters, RotationUpdate, Scene,
    Settings, Simulator, Wrench,
    sensitivity::{Outcome, tangent},
};
use osculate_geometry::collider::Collider;
use osculate_geometry::distance::MeshDistance;
use osculate_geometry::grid::{GridParams, GridSdf, ResolutionMode};
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::{Scalar, se3::Pose, so3};

/// Contact parameters with every coefficient at work.
pub fn contact(stiffness: f64) -> ContactParams {
    ContactParams {
        stiffness,
        smoothing: 0.004,
        threshold: 0.0015,
        threshold_padding: 0.0002,
        max_alignment: 0.1,
        friction: 0.4,
        viscous_friction: 0.2,
        damping: 0.4,
        falloff_speed: 0.05,
        collider_normal: true,
    }
}

/// A half-space with a tilted, unnormalised normal through the origin's neighbourhood.
pub fn ground() -> Body {
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::new(0.02, -0.04, 2.0), 0.001).unwrap());
    ground.contact = contact(1e9);
    ground
}

/// A box with an inertia that is not diagonal, sampled by its surface.
pub fn cuboid(name: &str, half_extents: Vector3<f64>) -> Body {
    let mut inertia = MassProperties::cuboid(0.37, &half_extents).unwrap().inertia();
    inertia += Matrix3::new(0.0, 3e-5, -2e-5, 3e-5, 0.0, 1e-5, -2e-5, 1e-5, 0.0);
    let center = Vector3::new(0.002, -0.001, 0.003);
    let mass = MassProperties::new(0.37, center, inertia).unwrap();
    let mesh = TriangleMesh::cuboid(&half_extents).unwrap();
    let mut body = Body::dynamic(name, mass);
    body.samples = Some(SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3));
    body.contact = contact(1e7);
    body
}

/// Eight corner points of a cube as explicit samples.
pub fn corners(name: &str) -> Body {
    let h = 0.05;
    let mut body = cuboid(name, Vector3::repeat(h));
    let points =
        (0..8).map(|i| Vector3::from_fn(|k, _| if i >> k & 1 == 1 { h } else { -h })).collect();
    body.samples = Some(SurfaceSamples::explicit(points, vec![2.5e-3; 8], None).unwrap());
    body.free_samples = true;
    body
}

pub fn place(mut body: Body, position: [f64; 3], turn: [f64; 3], v: [f64; 3], w: [f64; 3]) -> Body {
    body.pose =
        Pose { position: Vector3::from(position), rotation: so3::exp(&Vector3::from(turn)) };
    body.velocity = Vector3::from(v);
    body.angular_velocity = Vector3::from(w);
    body
}

/// A named scene, its step and its number of steps.
#[derive(Clone)]
pub struct Case {
    pub name: &'static str,
    pub scene: Scene,
    pub dt: f64,
    pub steps: usize,
}

fn gravity() -> Vector3<f64> {
    Vector3::new(0.1, -0.2, -9.81)
}

pub fn case(name: &'static str, bodies: Vec<Body>, dt: f64, steps: usize) -> Case {
    Case { name, scene: Scene::new(gravity(), bodies).unwrap(), dt, steps }
}

/// A ball on a grid, scaled and rounded.
fn knob() -> Body {
    let mut knob = Body::fixed("knob");
    let mesh = TriangleMesh::icosphere(0.05, 3).unwrap();
    let explicit = ResolutionMode::Explicit;
    let params = GridParams { mode: explicit, delta: [0.03; 3], ..GridParams::default() };
    let field = Collider::grid(GridSdf::of_mesh(&mesh, &params).unwrap());
    knob.collider = Some(field.scaled(1.1, 0.005).unwrap());
    knob.contact = contact(1e8);
    place(knob, [0.01, 0.0, -0.06], [0.2, 0.1, 0.3], [0.0; 3], [0.0; 3])
}

/// Triangles with a blunt edge on top, scaled and rounded.
fn anvil() -> Body {
    let mut anvil = Body::fixed("anvil");
    let mesh = TriangleMesh::cuboid(&Vector3::new(0.2, 0.05, 0.05)).unwrap();
    let field = Collider::mesh(MeshDistance::new(&mesh).unwrap());
    anvil.collider = Some(field.scaled(0.9, 0.01).unwrap());
    anvil.contact = contact(1e8);
    let quarter = std::f64::consts::FRAC_PI_4;
    place(anvil, [0.0, 0.01, -0.0736], [quarter, 0.0, 0.0], [0.0; 3], [0.0; 3])
}

/// Impact, sliding, sticking, rest; every collider; static and dynamic pairs; both sample kinds.
pub fn cases() -> Vec<Case> {
    let cube = || cuboid("cube", Vector3::repeat(0.05));
    let tossed =
        |b| place(b, [0.0, 0.0, 0.066], [0.2, 0.1, 0.3], [0.8, 0.3, -0.9], [1.0, -2.0, 0.5]);
    let mut ball = cube();
    ball.name = "ball".into();
    ball.collider = Some(Collider::sphere(Vector3::new(0.002, 0.0, 0.001), 0.05).unwrap());
    let ball = place(ball, [0.03, 0.01, 0.17], [0.1, 0.4, 0.0], [0.0, 0.1, -1.5], [0.0, 3.0, 0.0]);
    let mut slab = cuboid("slab", Vector3::new(0.09, 0.08, 0.03));
    slab.collider =
        Some(Collider::cuboid(Vector3::zeros(), Vector3::new(0.09, 0.08, 0.03)).unwrap());
    let slab = place(slab, [0.0, 0.0, 0.035], [0.03, 0.02, 0.0], [0.2, 0.0, -0.3], [0.0; 3]);
    let mut peg = Body::fixed("peg");
    peg.collider = Some(Collider::sphere(Vector3::new(0.01, 0.0, -0.06), 0.06).unwrap());
    peg.contact = contact(1e8);
    let mut block = Body::fixed("block");
    block.collider =
        Some(Collider::cuboid(Vector3::new(0.0, 0.0, -0.1), Vector3::new(0.2, 0.3, 0.1)).unwrap());
    block.contact = ContactParams { collider_normal: false, ..contact(1e8) };
    let mut cases = vec![
        case("toss", vec![ground(), tossed(cube())], 1e-3, 40),
        case(
            "slide",
            vec![
                ground(),
                place(cube(), [0.0, 0.0, 0.0483], [0.0; 3], [0.5, 0.2, 0.0], [0.0, 0.0, 2.0]),
            ],
            1e-3,
            40,
        ),
        case(
            "stick",
            vec![ground(), place(cube(), [0.0, 0.0, 0.0483], [0.0; 3], [0.01, 0.0, 0.0], [0.0; 3])],
            2e-3,
            40,
        ),
        case(
            "rest",
            vec![
                ground(),
                place(cube(), [0.0, 0.0, 0.0481], [0.02, 0.01, 0.0], [0.0; 3], [0.0; 3]),
            ],
            5e-3,
            40,
        ),
        case("corners", vec![ground(), tossed(corners("cube"))], 1e-3, 40),
        case("peg", vec![tossed(cube()), peg], 1e-3, 60),
        case("block", vec![block, tossed(cube())], 1e-3, 40),
        case("stack", vec![ground(), slab, ball], 1e-3, 50),
        case("knob", vec![tossed(cube()), knob()], 1e-3, 30),
        case("anvil", vec![anvil(), tossed(cube())], 1e-3, 40),
    ];
    cases.extend(shapes::cases());
    cases
}

pub fn simulator(case: &Case, method: Method, schedule: DissipationSchedule) -> Simulator {
    simulator_with(case, method, schedule, RotationUpdate::default())
}

pub fn simulator_with(
    case: &Case,
    method: Method,
    schedule: DissipationSchedule,
    rotation: RotationUpdate,
) -> Simulator {
    let settings = Settings {
        method,
        rotation,
        law: ContactLaw { schedule, ..Default::default() },
        newton: NewtonSettings { tolerance: 1e-13, ..Default::default() },
        ..Default::default()
    };
    Simulator::new(case.scene.clone(), settings, vec![case.dt; case.steps]).unwrap()
}

/// The scene's numbers, with a small wrench at every step.
pub fn parameters(simulator: &Simulator) -> Parameters {
    let dynamic = simulator.scene().dynamic_bodies().count();
    let mut p = simulator.parameters();
    p.wrenches = (0..simulator.steps() * dynamic)
        .map(|i| Wrench {
            force: Vector3::new(0.02, 0.01 * (i as f64).sin(), -0.01),
            torque: Vector3::new(1e-4, -2e-4, 1e-4 * (i as f64).cos()),
        })
        .collect();
    p
}

/// An override of the first pair, so that its values are parameters too.
pub fn with_override(mut case: Case) -> Case {
    case.scene.overrides = vec![Override {
        bodies: [0, 1],
        values: PairOverride { friction: Some(0.3), damping: Some(0.5), ..Default::default() },
    }];
    case
}

/// Weighted final pose and velocity of every body, plus a running cost: touches every channel.
pub struct Final {
    pub steps: usize,
}

impl Outcome for Final {
    fn contribution<T: Scalar>(&self, step: usize, bodies: &[Kinematics<T>]) -> T {
        let mut sum = T::zero();
        for (i, b) in bodies.iter().enumerate() {
            let weight = 1.0 + 0.3 * i as f64;
            let turn = so3::log(&b.rotation);
            for k in 0..3 {
                let a = weight * (1.0 + 0.5 * k as f64);
                if step == self.steps {
                    sum += b.position[k] * a + turn[k] * (0.2 * a) + b.velocity[k] * (0.1 * a);
                    sum += b.angular_velocity[k] * (0.01 * a);
                }
                sum += b.position[k] * b.position[k] * 0.05;
            }
        }
        sum
    }
}

/// [`Final`] of a roll-out.
pub fn outcome_at(simulator: &Simulator, p: &Parameters) -> f64 {
    let trajectory = simulator.run(p).unwrap();
    let outcome = Final { steps: simulator.steps() };
    tangent::evaluate(&trajectory.path, p, simulator.steps(), &outcome)
}
