//! Scene files: any text is a scene or an error, and any scene can be built or is refused.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| osculate_fuzz::scene(bytes));
