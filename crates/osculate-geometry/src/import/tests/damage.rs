//! Files cut short, files with wrong bytes, files of too many triangles.

use super::samples::*;
use super::*;
use proptest::prelude::*;

fn files() -> Vec<(MeshFormat, Vec<u8>)> {
    every_format(&cuboid())
}

/// A text may lose its last line break, and a JSON text stands for itself.
#[test]
fn file_cut_short_anywhere_is_an_error_or_an_open_mesh() {
    for (format, bytes) in files() {
        let whole = if bytes.ends_with(b"\n") { bytes.len() - 1 } else { bytes.len() };
        for length in 0..whole {
            match bytes_of(format, &bytes[..length]) {
                // The last word of ASCII STL may miss letters, the last number of ASCII PLY is no coordinate.
                Ok(mesh) if mesh.is_closed() => {
                    let missing = String::from_utf8_lossy(&bytes[length..whole]).into_owned();
                    panic!("{format:?} is closed without its end {missing:?}");
                }
                _ => {}
            }
        }
        assert!(bytes_of(format, &bytes[..whole]).is_ok(), "{format:?}");
    }
}

/// The seeds of the fuzz targets, and inputs that once broke a reader.
#[test]
fn seeds_are_meshes_whole_and_meshes_or_errors_cut_short() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (folder, format) in [
        ("obj", MeshFormat::Obj),
        ("stl", MeshFormat::Stl),
        ("ply", MeshFormat::Ply),
        ("gltf", MeshFormat::Gltf),
    ] {
        let mut count = 0;
        for entry in std::fs::read_dir(seeds.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let whole = bytes_of(format, &bytes);
            assert!(whole.is_ok(), "{}: {whole:?}", path.display());
            for length in 0..bytes.len() {
                let _ = bytes_of(format, &bytes[..length]);
            }
            count += 1;
        }
        assert!(count >= 2, "{count} seeds of {folder}");
    }
}

#[test]
fn more_triangles_than_allowed_are_refused_and_the_option_raises_the_limit() {
    for (format, bytes) in files() {
        let read = |most_triangles| {
            let options = ImportOptions { most_triangles, ..ImportOptions::default() };
            parse_mesh("box", format, &bytes, &options)
        };
        assert!(read(12).is_ok(), "{format:?}");
        assert!(
            matches!(read(11), Err(GeometryError::FileTriangles { found: 12, most: 11, .. })),
            "{format:?}: {:?}",
            read(11)
        );
    }
    for most_triangles in [0, usize::MAX] {
        let options = ImportOptions { most_triangles, ..ImportOptions::default() };
        assert!(parse_mesh("box", MeshFormat::Obj, b"", &options).is_err());
    }
}

/// Ten million triangles announced, five hundred megabytes long and all zeros: a sparse file takes no room, and only its
/// head is read.
#[test]
fn large_binary_stl_is_refused_by_its_head() {
    let path = std::env::temp_dir().join(format!("osculate-large-{}.stl", std::process::id()));
    let count = 10_000_000u32;
    let mut head = vec![0; 80];
    head.extend(count.to_le_bytes());
    std::fs::write(&path, head).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(84 + 50 * u64::from(count)).unwrap();
    let start = std::time::Instant::now();
    let refused = read_mesh(&path, &ImportOptions::default());
    assert_eq!(
        refused,
        Err(GeometryError::FileTriangles {
            path: path.clone(),
            found: 10_000_000,
            most: 5_000_000
        })
    );
    assert!(start.elapsed().as_secs_f64() < 0.1, "it was read: {:?}", start.elapsed());
    file.set_len(3 << 30).unwrap();
    let refused = read_mesh(&path, &ImportOptions::default());
    assert!(matches!(refused, Err(GeometryError::FileSize { .. })), "{refused:?}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn scale_makes_metres_of_millimetres() {
    for (format, bytes) in every_format(&cuboid().scaled(1024.0).unwrap()) {
        let options = ImportOptions { scale: 1.0 / 1024.0, ..ImportOptions::default() };
        assert_is_the_box(&parse_mesh("box", format, &bytes, &options).unwrap().0);
        let (_, report) = parse_mesh("box", format, &bytes, &ImportOptions::default()).unwrap();
        // glTF says that its unit is the metre.
        assert_eq!(report.findings.len(), usize::from(format != MeshFormat::Gltf), "{format:?}");
    }
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = ImportOptions { scale, ..ImportOptions::default() };
        assert!(parse_mesh("box", MeshFormat::Obj, b"", &options).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_file_of_any_format_never_panics(
        which in 0usize..7,
        cut in 0.0..1.2f64,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        repeat in any::<bool>(),
    ) {
        let (format, mut bytes) = files().swap_remove(which);
        bytes.truncate((cut * bytes.len() as f64) as usize);
        for (place, value) in flips {
            if !bytes.is_empty() {
                let i = place.index(bytes.len());
                bytes[i] = value;
            }
        }
        if repeat {
            bytes.extend(bytes.clone());
        }
        // Whether it is still a mesh depends on the place; that this returns, and within bounds, is the law.
        if let Ok(mesh) = bytes_of(format, &bytes) {
            prop_assert!(mesh.triangles().len() <= 24 && mesh.vertices().iter().flatten().all(|x| x.is_finite()));
        }
    }
}
