//! URDF: any text is a robot or an error, and the scene of any robot can be written.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| osculate_fuzz::robot(bytes, osculate_dynamics::import::parse_urdf));
