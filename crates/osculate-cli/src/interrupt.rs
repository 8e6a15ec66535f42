//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first Ctrl-C; the second one ends the program with 130.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&flag);
    // Where a handler cannot be set (a second command in one process), Ctrl-C ends the program as usual.
    let _ = ctrlc::set_handler(move || {
        if shared.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    flag
}
