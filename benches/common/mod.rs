//! Ratios of times on a machine that others use too.

#![allow(dead_code, reason = "each bench uses a part")]
#![allow(unreachable_pub, reason = "shared by benches")]

use std::time::Instant;

/// Medians of the times of some works [s], measured in turns, so that a busy moment hits all of them.
pub fn interleaved<const N: usize>(rounds: usize, works: &mut [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut times: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(rounds));
    for _ in 0..rounds {
        for (work, times) in works.iter_mut().zip(&mut times) {
            let start = Instant::now();
            work();
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times.map(|mut t| {
        t.sort_by(f64::total_cmp);
        t[t.len() / 2]
    })
}

/// Processor time of all threads of this process so far [s], where the system tells.
pub fn cpu() -> Option<f64> {
    let mut total = 0.0;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let stat = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        total += stat.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9;
    }
    Some(total)
}
