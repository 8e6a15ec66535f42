use super::*;
use crate::{Body, Parameters, RotationUpdate, Scene};
use osculate_contact::{ContactLaw, DissipationSchedule};
use osculate_geometry::collider::Collider;
use osculate_geometry::mass::MassProperties;
use osculate_geometry::mesh::TriangleMesh;
use osculate_geometry::quadrature::{SurfaceSamples, TriangleRule};
use osculate_math::{se3::Pose, so3};

/// A row of cubes that overlap a little with each other and the ground.
fn row(count: usize) -> Scene {
    let half = Vector3::repeat(0.05);
    let mut ground = Body::fixed("ground");
    ground.collider = Some(Collider::half_space(Vector3::z(), 0.0).unwrap());
    let mut bodies = vec![ground];
    for i in 0..count {
        let mass = MassProperties::cuboid(0.37, &half).unwrap();
        let mut cube = Body::dynamic(format!("cube_{i}"), mass);
        let position = Vector3::new(0.0995 * i as f64, 0.0, 0.0498);
        let rotation = so3::exp(&Vector3::new(0.0, 0.002 * i as f64, 0.01));
        cube.pose = Pose { position, rotation };
        let mesh = TriangleMesh::cuboid(&half).unwrap();
        cube.samples = Some(SurfaceSamples::from_mesh(&mesh, TriangleRule::P1Q3));
        cube.collider = Some(Collider::cuboid(Vector3::zeros(), half).unwrap());
        bodies.push(cube);
    }
    Scene::new(Vector3::new(0.0, 0.0, -9.81), bodies).unwrap()
}

fn stage<'a>(now: &'a [BodyState], start: &'a [BodyState]) -> Stage<'a, f64> {
    Stage { now, start, base: start, duration: 5e-3, wrenches: &[], joints: None }
}

#[test]
fn rows_written_again_have_the_bits_of_all_written_at_once() {
    for schedule in DissipationSchedule::ALL {
        let scene = row(9);
        let law = ContactLaw { schedule, ..ContactLaw::default() };
        let p = Parameters::of(&scene);
        let system = System::new(&scene, (law, RotationUpdate::RateTensor), &p).unwrap();
        let start: Vec<BodyState> =
            scene.bodies.iter().map(|b| BodyState::at_rest(b.pose)).collect();
        let mut now = start.clone();
        system.with_whole(&stage(&start, &start), |part| {
            let n = part.unknowns;
            let (mut r, mut k) = (vec![0.0; n], BlockMatrix::default());
            k.reset(n / BLOCK, part.edges);
            let mut near = Near::default();
            near.prepare(part.pairs.len());
            system.linearise_near(part, &stage(&now, &start), &mut near, &mut r, &mut k);
            // One cube a little, one out of reach of what it touched.
            now[4].center += Vector3::new(2e-4, 0.0, -1e-4);
            now[8].center += Vector3::new(0.3, 0.0, 0.4);
            let mut again = Again::default();
            again.moved.extend((0..now.len()).map(|i| i == 4 || i == 8));
            let found = system.linearise_again(
                part,
                &stage(&now, &start),
                (&mut near, &mut again),
                &mut r,
                &mut k,
            );
            let (mut r_all, mut k_all) = (vec![0.0; n], BlockMatrix::default());
            k_all.reset(n / BLOCK, part.edges);
            // Used memory is as good as new.
            near.prepare(part.pairs.len());
            let all = system.linearise_near(
                part,
                &stage(&now, &start),
                &mut near,
                &mut r_all,
                &mut k_all,
            );
            assert_eq!((found.scale, found.potential), (all.scale, all.potential));
            assert_eq!(r, r_all);
            assert_eq!((k.diagonal, k.off), (k_all.diagonal, k_all.off));
        });
    }
}
