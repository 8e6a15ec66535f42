//! Names, units and scales of axes.

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AxisScale {
    /// Equal distances for equal differences.
    #[default]
    Linear,
    /// Equal distances for equal ratios; values that are not positive are left out.
    Log,
    /// Linear; where both axes of a [`LineFigure`](crate::LineFigure) have it, a unit is as long on one as on the other.
    Equal,
}

/// Label, unit and scale of an axis.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Axis {
    /// What is shown, without unit.
    pub label: String,
    /// Unit, empty for a pure number.
    pub unit: String,
    /// Linear, logarithmic, or linear with one unit on both axes.
    pub scale: AxisScale,
}

impl Axis {
    /// Axis with a linear scale.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), scale: AxisScale::Linear }
    }

    /// Axis with a logarithmic scale.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), scale: AxisScale::Log }
    }

    /// Axis with a linear scale that is the same on both axes of a figure.
    pub fn equal(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), scale: AxisScale::Equal }
    }

    /// Label with the unit in brackets.
    pub(crate) fn title(&self) -> String {
        with_unit(&self.label, &self.unit)
    }
}

/// `label [unit]`, or the label alone for a pure number.
pub(crate) fn with_unit(label: &str, unit: &str) -> String {
    if unit.is_empty() { label.to_owned() } else { format!("{label} [{unit}]") }
}
