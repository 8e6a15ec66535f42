//! What an experiment found: numbers against closed forms, and figures.

use crate::{CliError, files, table};
use osculate_plot::{Axis, LineFigure, PlotError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How far a measured number may be from its closed form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Part of the closed form.
    Relative(f64),
    /// In the unit of the number.
    Absolute(f64),
}

/// A measured number and its closed form.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was measured.
    pub quantity: String,
    /// Its unit, empty for a pure number.
    pub unit: &'static str,
    /// As simulated.
    pub measured: f64,
    /// The closed form.
    pub expected: f64,
    /// What is allowed.
    pub tolerance: Tolerance,
}

impl Check {
    /// A number that is to be within a part of its closed form.
    pub(super) fn relative(
        quantity: impl Into<String>,
        unit: &'static str,
        [measured, expected]: [f64; 2],
        tolerance: f64,
    ) -> Self {
        let tolerance = Tolerance::Relative(tolerance);
        Self { quantity: quantity.into(), unit, measured, expected, tolerance }
    }

    /// A number that is to be within a distance of its closed form.
    pub(super) fn absolute(
        quantity: impl Into<String>,
        unit: &'static str,
        [measured, expected]: [f64; 2],
        tolerance: f64,
    ) -> Self {
        let tolerance = Tolerance::Absolute(tolerance);
        Self { quantity: quantity.into(), unit, measured, expected, tolerance }
    }

    /// Distance from the closed form, in the terms of the tolerance.
    pub fn error(&self) -> f64 {
        let distance = (self.measured - self.expected).abs();
        match self.tolerance {
            Tolerance::Relative(_) => distance / self.expected.abs(),
            Tolerance::Absolute(_) => distance,
        }
    }

    fn allowed(&self) -> f64 {
        match self.tolerance {
            Tolerance::Relative(x) | Tolerance::Absolute(x) => x,
        }
    }

    /// Whether the tolerance is met; false where a number is not one.
    pub fn holds(&self) -> bool {
        self.error() <= self.allowed()
    }

    fn cells(&self) -> Vec<String> {
        let kind = match self.tolerance {
            Tolerance::Relative(_) => "relative",
            Tolerance::Absolute(_) => self.unit,
        };
        vec![
            self.quantity.clone(),
            self.unit.into(),
            number(self.measured),
            number(self.expected),
            format!("{:.1e}", self.error()),
            format!("{:.1e}", self.allowed()),
            kind.into(),
            if self.holds() { "holds" } else { "MISSES" }.into(),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "quantity": self.quantity,
            "unit": self.unit,
            "measured": self.measured,
            "expected": self.expected,
            "error": self.error(),
            "allowed": self.allowed(),
            "relative": matches!(self.tolerance, Tolerance::Relative(_)),
            "holds": self.holds(),
        })
    }
}

/// Seven digits, in the shorter of the two notations.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.6e}") }
}

/// Checks and figures of one experiment.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// In the order of the table.
    pub checks: Vec<Check>,
    /// By name of the files, without extension.
    pub figures: Vec<(String, LineFigure)>,
}

impl Findings {
    /// Whether every check holds.
    pub fn hold(&self) -> bool {
        self.checks.iter().all(Check::holds)
    }

    /// The table of the checks.
    pub(crate) fn text(&self) -> String {
        let header = ["quantity", "unit", "measured", "closed form", "off by", "allowed", "as", ""];
        let mut rows = vec![header.map(String::from).to_vec()];
        rows.extend(self.checks.iter().map(Check::cells));
        table::render(&rows, &[false, false, true, true, true, true, false, false])
    }

    /// The checks and the names of the figures.
    pub(crate) fn json(&self) -> Value {
        json!({
            "agrees": self.hold(),
            "checks": self.checks.iter().map(Check::json).collect::<Vec<_>>(),
            "figures": self.figures.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        })
    }

    /// Writes `figures/NAME.svg`, `figures/NAME.png` and `data/NAME.csv`, the numbers of the figure; the paths.
    pub(crate) fn write(&self, folder: &Path, experiment: &str) -> Result<Vec<PathBuf>, CliError> {
        let (figures, data) = (folder.join("figures"), folder.join("data"));
        files::create_folder(&figures)?;
        files::create_folder(&data)?;
        let mut written = Vec::new();
        for (name, figure) in &self.figures {
            for extension in ["svg", "png"] {
                let path = figures.join(format!("{name}.{extension}"));
                figure.save(&path).map_err(|e: PlotError| CliError::from(e))?;
                written.push(path);
            }
            let path = data.join(format!("{name}.csv"));
            files::write(&path, csv(figure, experiment).as_bytes())?;
            written.push(path);
        }
        Ok(written)
    }
}

/// Every point of a figure: the command that made it, the columns, a row a point.
fn csv(figure: &LineFigure, experiment: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let column = |axis: &Axis| {
        let unit = if axis.unit.is_empty() { "-" } else { &axis.unit };
        format!("\"{} ({unit})\"", axis.label)
    };
    let mut text = format!(
        "# osculate validate {experiment}; version {version}; no random numbers\nseries,{},{}\n",
        column(&figure.x),
        column(&figure.y)
    );
    for series in &figure.series {
        for (x, y) in series.x.iter().zip(&series.y) {
            // Adding zero takes the sign from a zero.
            text += &format!("\"{}\",{:?},{:?}\n", series.name, x + 0.0, y + 0.0);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_hold_within_their_tolerance_and_never_for_nan() {
        let relative = |x| Check::relative("x", "m", [x, 2.0], 0.1);
        assert!(relative(2.19).holds() && !relative(2.21).holds() && !relative(f64::NAN).holds());
        let absolute = |x| Check::absolute("x", "m", [x, 0.0], 0.1);
        assert!(absolute(-0.09).holds() && !absolute(0.11).holds());
        let findings = Findings { checks: vec![relative(2.0), relative(3.0)], figures: vec![] };
        assert!(!findings.hold() && findings.text().contains("MISSES"));
    }
}
