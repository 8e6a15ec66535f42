//! Grid files: any bytes are a grid or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| osculate_fuzz::grid(bytes));
