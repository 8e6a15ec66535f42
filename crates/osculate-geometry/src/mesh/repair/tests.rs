//! Broken meshes made from whole ones: what is repaired is the whole one again.

use super::*;
use proptest::prelude::*;

fn cube(half: f64, at: Vector3<f64>) -> Soup {
    let mesh = TriangleMesh::cuboid(&Vector3::repeat(half)).unwrap();
    let vertices = mesh.vertices().iter().map(|v| v + at).collect();
    Soup { vertices, triangles: mesh.triangles().to_vec(), parts: Vec::new() }
}

fn unit_cube() -> Soup {
    cube(0.5, Vector3::zeros())
}

/// Two soups as one; parts are named `first` and `second`.
fn both(first: Soup, second: Soup) -> Soup {
    let (vertices, triangles) = (first.vertices.len(), first.triangles.len());
    let mut all = first;
    all.vertices.extend(second.vertices);
    all.triangles.extend(second.triangles.iter().map(|t| t.map(|i| i + vertices)));
    all.parts = vec![
        Part { name: "first".into(), first: 0 },
        Part { name: "second".into(), first: triangles },
    ];
    all
}

fn inside_out(mut soup: Soup) -> Soup {
    soup.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    soup
}

fn repaired(soup: Soup) -> (TriangleMesh, RepairReport) {
    soup.repaired(&Repair::default()).unwrap()
}

#[test]
fn whole_mesh_is_unchanged_and_nothing_is_reported() {
    let soup = unit_cube();
    let (mesh, report) = repaired(soup.clone());
    assert_eq!((mesh.vertices(), mesh.triangles()), (&soup.vertices[..], &soup.triangles[..]));
    assert!(report.is_unchanged());
    assert_eq!(report.findings, []);
    assert_eq!(report.pieces.len(), 1);
    assert!((report.pieces[0].volume.unwrap() - 1.0).abs() < 1e-15);
}

#[test]
fn separate_corners_are_welded_to_the_closed_cube() {
    let whole = unit_cube();
    let vertices: Vec<_> = whole.triangles.iter().flatten().map(|&i| whole.vertices[i]).collect();
    let triangles = (0..12).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let soup = Soup { vertices, triangles, parts: Vec::new() };
    let (mesh, report) = repaired(soup.clone());
    assert_eq!(mesh.vertices().len(), 8);
    mesh.check_closed().unwrap();
    assert_eq!(report.findings, [Finding::Welded { vertices: 28, distance: 0.0 }]);
    let unwelded = Repair { weld: None, ..Repair::default() };
    assert!(!soup.repaired(&unwelded).unwrap().0.is_closed());
}

#[test]
fn vertices_within_the_distance_are_welded_and_those_beyond_are_not() {
    let mut soup = both(unit_cube(), unit_cube());
    soup.triangles.truncate(12);
    soup.triangles[3] = soup.triangles[3].map(|i| i + 8);
    for x in &mut soup.vertices[8..] {
        *x += Vector3::new(6e-5, -6e-5, 0.0);
    }
    for (distance, closed) in [(1e-4, true), (8e-5, false), (0.0, false)] {
        let repair = Repair { weld: Some(distance), ..Repair::default() };
        let (mesh, report) = soup.clone().repaired(&repair).unwrap();
        assert_eq!(mesh.is_closed(), closed, "within {distance} m");
        let welded = Finding::Welded { vertices: 3, distance };
        assert_eq!(report.findings.contains(&welded), closed);
    }
    for distance in [-1.0, f64::NAN, f64::INFINITY] {
        let repair = Repair { weld: Some(distance), ..Repair::default() };
        assert!(matches!(
            soup.clone().repaired(&repair),
            Err(GeometryError::Quantity { found, .. }) if found.to_bits() == distance.to_bits()
        ));
    }
}

#[test]
fn triangles_without_area_are_dropped_and_counted() {
    let mut soup = unit_cube();
    soup.vertices.push(Vector3::new(0.0, -0.5, -0.5));
    soup.triangles.insert(2, [0, 0, 1]);
    soup.triangles.push([0, 8, 4]);
    let (mesh, report) = repaired(soup.clone());
    assert_eq!(mesh.triangles(), unit_cube().triangles);
    let at = [-0.5; 3];
    let flat = Finding::Degenerate { triangles: 2, first: 2, at };
    assert_eq!(report.findings, [flat.clone(), Finding::Unreferenced { vertices: 1 }]);
    let strict = Repair { degenerate: Fix::Refuse, ..Repair::default() };
    assert_eq!(soup.repaired(&strict), Err(GeometryError::MeshDefect { finding: Box::new(flat) }));
}

#[test]
fn repeated_triangles_are_dropped_and_opposite_ones_are_kept() {
    let mut soup = unit_cube();
    let [a, b, c] = soup.triangles[4];
    soup.triangles.insert(5, [c, a, b]);
    let (mesh, report) = repaired(soup);
    assert_eq!(mesh.triangles(), unit_cube().triangles);
    assert_eq!(report.findings, [Finding::Repeated { triangles: 1, first: 5 }]);
    let sheet = Soup { triangles: vec![[0, 1, 3], [3, 1, 0]], ..unit_cube() };
    assert_eq!(repaired(sheet).0.triangles().len(), 2);
}

#[test]
fn unreferenced_vertices_are_dropped_whatever_they_are() {
    let mut soup = unit_cube();
    soup.vertices.insert(0, Vector3::repeat(f64::NAN));
    soup.triangles.iter_mut().flatten().for_each(|i| *i += 1);
    let (mesh, report) = repaired(soup);
    assert_eq!(mesh.vertices(), unit_cube().vertices);
    assert_eq!(report.findings, [Finding::Unreferenced { vertices: 1 }]);
}

#[test]
fn used_vertices_that_are_not_finite_and_missing_ones_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut soup = unit_cube();
        soup.vertices[3].y = bad;
        let refused = soup.repaired(&Repair::default());
        assert!(matches!(refused, Err(GeometryError::NonFiniteVertex { vertex: 3, .. })));
    }
    let mut soup = unit_cube();
    soup.triangles[7][1] = 8;
    let error = GeometryError::IndexOutOfRange { triangle: 7, index: 8, vertices: 8 };
    assert_eq!(soup.repaired(&Repair::default()), Err(error));
}

#[test]
fn hole_is_reported_with_its_edges_and_place() {
    let mut soup = unit_cube();
    soup.triangles.remove(0);
    let open = Finding::Open { edges: 3, at: [-0.5, -0.5, 0.0] };
    let (mesh, report) = repaired(soup.clone());
    assert_eq!(report.findings, std::slice::from_ref(&open));
    assert!(report.pieces[0].volume.is_none());
    assert!(matches!(mesh.check_closed(), Err(GeometryError::NotClosed { edges: 3, .. })));
    let strict = Repair { open: Accept::Refuse, ..Repair::default() };
    let error = soup.repaired(&strict).unwrap_err();
    assert_eq!(error, GeometryError::MeshDefect { finding: Box::new(open) });
    assert_eq!(
        error.to_string(),
        "mesh has 3 edges of one triangle only, the first at [-0.5, -0.5, 0.0] m: the mesh is open: refused"
    );
}

#[test]
fn fin_is_reported_as_non_manifold_and_open() {
    let mut soup = unit_cube();
    soup.triangles.push([0, 1, 7]);
    let (_, report) = repaired(soup.clone());
    let fin = Finding::NonManifold { edges: 2, most: 3, at: [-0.5, -0.5, 0.0] };
    assert!(report.findings.contains(&fin));
    assert!(matches!(report.findings[0], Finding::Open { edges: 1, .. }));
    let strict = Repair { non_manifold: Accept::Refuse, ..Repair::default() };
    assert!(matches!(soup.repaired(&strict), Err(GeometryError::MeshDefect { .. })));
}

#[test]
fn moebius_strip_is_one_sided_and_kept() {
    let n = 12;
    let vertices = (0..2 * n).map(|i| {
        let (u, side) = (std::f64::consts::TAU * (i / 2) as f64 / n as f64, (i % 2) as f64 - 0.5);
        let r = 1.0 + side * (u / 2.0).cos();
        Vector3::new(r * u.cos(), r * u.sin(), side * (u / 2.0).sin())
    });
    let quad = |i: usize| {
        let (a, b) = (2 * i, 2 * i + 1);
        let (c, d) = if i + 1 < n { (a + 2, b + 2) } else { (1, 0) };
        [[a, c, b], [b, c, d]]
    };
    let triangles: Vec<_> = (0..n).flat_map(quad).collect();
    let soup = Soup { vertices: vertices.collect(), triangles: triangles.clone(), parts: vec![] };
    let (mesh, report) = repaired(soup.clone());
    assert_eq!(mesh.triangles(), triangles);
    assert!(matches!(report.findings[1], Finding::OneSided { pieces: 1, .. }), "{report:?}");
    let strict = Repair { non_manifold: Accept::Refuse, ..Repair::default() };
    assert!(soup.repaired(&strict).is_err());
}

#[test]
fn inside_out_cube_is_turned_outwards() {
    let (mesh, report) = repaired(inside_out(unit_cube()));
    assert!((mesh.signed_volume() - 1.0).abs() < 1e-15);
    assert_eq!(report.findings, [Finding::InsideOut { pieces: 1, triangles: 12 }]);
    let strict = Repair { inside_out: Fix::Refuse, ..Repair::default() };
    assert!(inside_out(unit_cube()).repaired(&strict).is_err());
}

/// Two cubes of one size cancel: the sign of the whole volume does not tell.
#[test]
fn each_inside_out_piece_is_turned_by_itself() {
    for size in [0.4, 0.5, 0.6] {
        let other = inside_out(cube(size, Vector3::x() * 3.0));
        let (mesh, report) = repaired(both(unit_cube(), other));
        assert!((mesh.signed_volume() - (1.0 + 8.0 * size * size * size)).abs() < 1e-13);
        let turned = |f: &Finding| matches!(f, Finding::InsideOut { pieces: 1, triangles: 12 });
        assert!(report.findings.iter().any(turned), "{report:?}");
    }
}

#[test]
fn cavity_stays_a_cavity() {
    let hollow = both(unit_cube(), inside_out(cube(0.3, Vector3::zeros())));
    let (mesh, report) = repaired(hollow.clone());
    assert_eq!(mesh.triangles(), hollow.triangles);
    assert!(report.is_unchanged());
    assert!((mesh.signed_volume() - (1.0 - 0.216)).abs() < 1e-15);
    let (mesh, report) = repaired(inside_out(hollow.clone()));
    assert_eq!(mesh.triangles(), hollow.triangles);
    assert!(report.findings.contains(&Finding::InsideOut { pieces: 2, triangles: 24 }));
    let body_in_cavity = both(hollow, cube(0.1, Vector3::zeros()));
    assert!(repaired(body_in_cavity).1.is_unchanged());
}

#[test]
fn pieces_are_named_by_their_parts() {
    let mut soup = both(unit_cube(), cube(0.2, Vector3::x() * 2.0));
    soup.triangles.insert(0, [0, 0, 1]);
    soup.parts[1].first += 1;
    let (_, report) = repaired(soup.clone());
    let names = |r: &RepairReport| r.pieces.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&report), ["first", "second"]);
    assert!(report.lines().any(|line| line == "2 pieces: first, second: kept as one mesh"));
    soup.parts.clear();
    assert_eq!(names(&repaired(soup).1), ["piece 0", "piece 1"]);
}

#[test]
fn size_of_millimetres_is_doubted_and_not_changed() {
    for (half, doubted) in [(4.9, false), (5.1, true), (60.0, true)] {
        let soup = cube(half, Vector3::repeat(1e3));
        let (mesh, report) = repaired(soup.clone());
        assert_eq!(mesh.vertices(), soup.vertices);
        let found = report.findings.iter().any(|f| matches!(f, Finding::Large { .. }));
        assert_eq!(found, doubted, "{half}");
    }
}

#[test]
fn mesh_of_more_bodies_than_are_compared_says_so() {
    let mut soup = unit_cube();
    for i in 1..1100 {
        let next = cube(0.1, Vector3::x() * i as f64);
        soup = both(soup, if i == 7 { inside_out(next) } else { next });
    }
    let (_, report) = repaired(soup);
    assert!(report.findings.contains(&Finding::Unjudged { pieces: 1 }));
}

proptest! {
    /// Which triangles were turned does not matter: the closed outward mesh is the only one.
    #[test]
    fn any_winding_of_a_sphere_becomes_the_outward_one(flips in prop::collection::vec(any::<bool>(), 80)) {
        let ball = TriangleMesh::icosphere(0.3, 1).unwrap();
        let mut triangles = ball.triangles().to_vec();
        for (t, _) in triangles.iter_mut().zip(&flips).filter(|(_, flip)| **flip) {
            t.swap(1, 2);
        }
        let soup = Soup { vertices: ball.vertices().to_vec(), triangles, parts: Vec::new() };
        let (mesh, report) = soup.repaired(&Repair::default()).unwrap();
        mesh.check_closed().unwrap();
        prop_assert!((mesh.signed_volume() - ball.signed_volume()).abs() < 1e-15);
        let turned = flips.iter().filter(|f| **f).count();
        let expected = Finding::Winding { triangles: turned.min(80 - turned), pieces: 1 };
        prop_assert_eq!(report.findings.contains(&expected), turned % 80 != 0);
    }

    #[test]
    fn any_triangles_are_repaired_or_refused(
        triangles in prop::collection::vec(prop::array::uniform3(0usize..9), 0..40),
        grid in prop::collection::vec(prop::array::uniform3(-1i8..=1), 8),
        distance in prop::option::of(prop::sample::select(vec![0.0, 1e-9, 1.0, 1e300])),
    ) {
        let vertices = grid.iter().map(|v| Vector3::from(v.map(f64::from))).collect();
        let repair = Repair { weld: distance, ..Repair::default() };
        if let Ok((mesh, report)) = (Soup { vertices, triangles, parts: Vec::new() }).repaired(&repair) {
            let counted: usize = report.pieces.iter().map(|p| p.triangles).sum();
            prop_assert_eq!(counted, mesh.triangles().len());
            let open = |f: &Finding| matches!(f, Finding::Open { .. } | Finding::NonManifold { .. } | Finding::OneSided { .. });
            prop_assert_eq!(mesh.is_closed(), !report.findings.iter().any(open), "{:?}", report);
        }
    }
}
