//! PLY, binary and ASCII: any bytes are a mesh or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use osculate_geometry::import::MeshFormat;

fuzz_target!(|bytes: &[u8]| osculate_fuzz::mesh(MeshFormat::Ply, bytes));
