//! A report as one page of text.

use super::Report;
use crate::identify::Curvature;
use crate::recording::ChannelErrors;
use crate::surface::Surface;
use std::fmt::Write;

/// Four significant digits, scientific where long.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        format!("{x:.3e}")
    } else {
        let digits = if size > 0.0 { 3 - size.log10().floor() as i32 } else { 0 };
        format!("{x:.*}", digits.max(0) as usize)
    }
}

impl ChannelErrors {
    /// One line; angles in degrees.
    pub fn statement(&self) -> String {
        let (factor, unit) = match self.unit.as_str() {
            "rad" => (1.0_f64.to_degrees(), "deg"),
            "rad/s" => (1.0_f64.to_degrees(), "deg/s"),
            unit => (1.0, unit),
        };
        let [mean, std, median] =
            [self.error.mean, self.error.std, self.error.median].map(|x| number(x * factor));
        format!("{} error {mean} ± {std} {unit} (median {median})", self.name)
    }
}

impl Report {
    /// Errors of the tosses, in words.
    fn errors(&self) -> String {
        let Some(e) = &self.evaluation else {
            return format!(
                "errors of tosses: not judged, as that took longer than half a second after the interrupt; `osculate evaluate {} \
                 --params report.json` does\n",
                self.experiment
            );
        };
        let (p, r) = (&e.position_error_percent, &e.rotation_error_deg);
        let mut s = format!(
            "position error {:.2} ± {:.2} % of the width (median {:.2}), rotation {:.2} ± {:.2} deg (median {:.2})\n",
            p.mean, p.std, p.median, r.mean, r.std, r.median
        );
        for channel in &e.channels {
            let _ = writeln!(s, "{}", channel.statement());
        }
        s
    }

    /// One page of text.
    pub fn summary(&self) -> String {
        let mut s = String::new();
        let _ = writeln!(s, "osculate {}: {}", self.version, self.experiment);
        let _ = writeln!(
            s,
            "{} tosses, {} with schedule {}, {} starts, seed {}{}",
            self.tosses,
            self.method,
            self.schedule,
            self.starts.len(),
            self.seed,
            if self.interrupted { "; INTERRUPTED, best so far" } else { "" }
        );
        let _ = writeln!(s, "mean loss {}", number(self.loss));
        s += &self.errors();
        for c in self.channels.iter().filter(|c| c.estimated) {
            let _ = writeln!(s, "noise of {}: {} {} (estimated)", c.name, number(c.sigma), c.unit);
        }
        for doubt in &self.doubts {
            let _ = writeln!(s, "WARNING: {doubt}");
        }
        if self.unconverged_stages > 0 {
            let _ = writeln!(s, "WARNING: {} solves did not converge", self.unconverged_stages);
        }
        let _ = writeln!(s, "\nparameters");
        for p in &self.parameters {
            let _ = writeln!(s, "  {}", p.statement);
            if let (Some(e), Some(r)) = (p.standard_error, p.robust_standard_error) {
                let _ = writeln!(
                    s,
                    "      standard error {} (Fisher), {} (robust, by toss)",
                    number(e),
                    number(r)
                );
            }
        }
        if let Some(surface) = self.starts.get(self.best_start).and_then(|b| b.surface.as_ref()) {
            self.write_surface(&mut s, surface);
        }
        if let Some(c) = &self.curvature {
            self.write_curvature(&mut s, c);
        }
        self.write_bootstrap(&mut s);
        self.write_trust(&mut s);
        self.write_starts(&mut s);
        s
    }

    fn write_trust(&self, s: &mut String) {
        let all = || self.parameters.iter().filter_map(|p| p.trust.as_ref());
        let Some(first) = all().find(|t| !t.tosses.is_empty()).or_else(|| all().next()) else {
            return;
        };
        let ids: Vec<String> = first.tosses.iter().map(|t| t.toss.to_string()).collect();
        let of =
            if ids.is_empty() { String::new() } else { format!(" of tosses {}", ids.join(", ")) };
        let _ = writeln!(s, "\ntrust in derivatives{of} over one standard error (docs/trust.md)");
        for t in all() {
            let _ = writeln!(s, "  {}", t.statement);
        }
    }

    fn write_surface(&self, s: &mut String, surface: &Surface) {
        let Some(last) = surface.rounds.last() else { return };
        let _ = writeln!(
            s,
            "\nsmooth loss\n  minimum {}, scatter of single roll-outs {:.1} %, R² {:.2} from {} points",
            number(surface.loss),
            100.0 * last.scatter,
            last.r_squared,
            last.points
        );
        for p in &self.parameters {
            if let Some(e) = p.surface_standard_error {
                let _ = writeln!(s, "  {} ± {} from the scatter", p.path, number(e));
            }
        }
    }

    fn write_bootstrap(&self, s: &mut String) {
        let Some(b) = &self.bootstrap else { return };
        let failed = if b.failed > 0 {
            format!(", {} without an estimate", b.failed)
        } else {
            String::new()
        };
        let _ = writeln!(
            s,
            "\nbootstrap over tosses, 95 % intervals of {} draws{failed}",
            b.resamples + b.failed
        );
        for p in &self.parameters {
            if let Some([low, high]) = p.bootstrap_interval {
                let _ = writeln!(s, "  {} {} to {}", p.path, number(low), number(high));
            }
        }
    }

    fn write_curvature(&self, s: &mut String, c: &Curvature) {
        let _ = writeln!(s, "\ncorrelation");
        for (p, row) in self.parameters.iter().zip(&c.correlation) {
            let _ = write!(s, "  {:<28}", p.path);
            for x in row {
                let _ = write!(s, " {x:6.2}");
            }
            s.push('\n');
        }
        for d in &c.weak_directions {
            let what = if d.weak { "weak direction" } else { "weakest direction" };
            let _ = writeln!(
                s,
                "{what}: {} (standard deviation {} in its logarithm)",
                d.combination,
                number(d.standard_deviation)
            );
        }
    }

    fn write_starts(&self, s: &mut String) {
        let _ = writeln!(s, "\nstarts");
        for (i, start) in self.starts.iter().enumerate() {
            let values: Vec<String> = start.values.iter().map(|x| number(*x)).collect();
            let mark = if i == self.best_start { "*" } else { " " };
            let _ = match &start.failure {
                None => {
                    let smooth = start.surface.as_ref();
                    let smooth = smooth.map(|x| format!(", smooth {}", number(x.loss)));
                    let (n, at, smooth) = (i + 1, values.join(", "), smooth.unwrap_or_default());
                    let loss = number(start.loss);
                    writeln!(s, " {mark}{n}: loss {loss}{smooth} at {at}")
                }
                Some(why) => writeln!(s, "  {}: failed: {why}", i + 1),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Losses below 1e-4 were shown as 0.0000, and those below 0.1 with fewer digits than others.
    #[test]
    fn numbers_keep_four_significant_digits_whatever_their_size() {
        for (x, text) in [
            (0.0, "0"),
            (5.4321e-5, "5.432e-5"),
            (0.00123411, "0.001234"),
            (0.054321, "0.05432"),
            (-0.54321, "-0.5432"),
            (54.321, "54.32"),
            (54321.0, "54321"),
            (5.4321e7, "5.432e7"),
        ] {
            assert_eq!(number(x), text);
        }
    }
}
