//! Free parameters and the scales they are estimated on.

use crate::contact_model::{Entry, index_of};
use serde::{Deserialize, Serialize};

/// The coordinate `u` in which a parameter `θ` is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// `u = θ`.
    Linear,
    /// `u = ln θ`, for θ > 0: equal steps are equal factors.
    #[default]
    Log,
    /// `u = ln((θ − a)/(b − θ))` on the range `(a, b)`: never leaves it.
    Bounded,
}

/// A parameter to estimate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreeParameter {
    /// Path in the scene's layout, `cube.mu` or `pair.cube.ground.mu`.
    pub path: String,
    /// Coordinate it is estimated in.
    #[serde(default)]
    pub scale: Scale,
    /// Values it may take.
    pub range: [f64; 2],
    /// Values that starts are drawn from; the range where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<[f64; 2]>,
    /// First step in the coordinate: an edge of Nelder–Mead's simplex, the half width of a response surface's first
    /// box; the stage's where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// The parameter keeps the scene's value in the fit and is only profiled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub profile_only: bool,
    /// Other paths that have the same value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What is known of it beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<ParameterPrior>,
    /// Label of recordings: each value of it has a value of its own. [`RECORDING`] stands for the recording itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// The value of that label whose recordings alone have this parameter. The path ends in it, `cube.mu[oak]`.
    #[serde(skip)]
    pub group: Option<String>,
}

/// A normal prior of the coordinate `u` of a parameter: `((u − u(value))/σ)²` in the loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterPrior {
    /// The value that is expected, in the unit of the parameter.
    pub value: f64,
    /// Standard deviation of `u`: on the log scale a relative one.
    pub sigma: f64,
}

/// What can be wrong with free parameters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// No parameter of the scene has that path.
    #[error("no parameter is called '{path}'; close names: {close}")]
    Unknown {
        /// The path found.
        path: String,
        /// Paths that end alike, or those of the same actor.
        close: String,
    },
    /// A range is empty or does not fit the scale.
    #[error("{field} of '{path}' is [{low}, {high}], allowed: {allowed}")]
    Range {
        /// Path of the parameter.
        path: String,
        /// `range` or `start`.
        field: &'static str,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A first step is not positive.
    #[error("step of '{path}' is {found}, allowed: > 0")]
    Step {
        /// Path of the parameter.
        path: String,
        /// The value found.
        found: f64,
    },
    /// A prior outside the range, or without a width.
    #[error(
        "prior of '{path}' is {value} with sigma {sigma}, allowed: a value inside the range and sigma > 0"
    )]
    Prior {
        /// Path of the parameter.
        path: String,
        /// The value found.
        value: f64,
        /// The standard deviation found.
        sigma: f64,
    },
    /// One parameter is listed twice.
    #[error("'{path}' is listed twice among the free parameters")]
    Twice {
        /// Path of the parameter.
        path: String,
    },
    /// A label that recordings cannot have.
    #[error("per of '{path}' is '{found}', allowed: a name without brackets, or \"recording\"")]
    Label {
        /// Path of the parameter.
        path: String,
        /// The label found.
        found: String,
    },
    /// There is nothing to estimate.
    #[error("no free parameters: list at least one [[parameter]]")]
    None,
}

impl ParameterError {
    /// Path of the parameter and the field that is wrong; none where there is no parameter.
    pub(crate) fn place(&self) -> Option<(&str, &'static str)> {
        match self {
            Self::Unknown { path, .. } | Self::Twice { path } => Some((path, "path")),
            Self::Range { path, field, .. } => Some((path, field)),
            Self::Step { path, .. } => Some((path, "step")),
            Self::Label { path, .. } => Some((path, "per")),
            Self::Prior { path, .. } => Some((path, "prior")),
            Self::None => None,
        }
    }
}

/// The label that every recording has: its number.
pub const RECORDING: &str = "recording";

impl FreeParameter {
    /// One that starts anywhere in its range, without a prior, the same in all recordings.
    pub fn new(path: impl Into<String>, scale: Scale, range: [f64; 2]) -> Self {
        Self {
            path: path.into(),
            scale,
            range,
            start: None,
            step: None,
            profile_only: false,
            also: Vec::new(),
            prior: None,
            per: None,
            group: None,
        }
    }

    /// Path among the numbers of the scene.
    pub fn scene_path(&self) -> &str {
        let end = |group: &String| self.path.len().saturating_sub(group.len() + 2);
        self.group.as_ref().map_or(&self.path, |group| &self.path[..end(group)])
    }

    /// The parameter of one value of its label.
    pub(crate) fn of_group(&self, group: &str) -> Self {
        let path = format!("{}[{group}]", self.scene_path());
        Self { path, group: Some(group.to_owned()), ..self.clone() }
    }

    /// Middle and standard deviation of the prior, in the coordinate.
    pub(crate) fn prior_coordinates(&self) -> Option<(f64, f64)> {
        self.prior.map(|p| (self.to_coordinate(p.value), p.sigma))
    }

    /// `u` of a value; values outside the range of a bounded scale go to its edge.
    pub fn to_coordinate(&self, value: f64) -> f64 {
        let [a, b] = self.range;
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.ln(),
            Scale::Bounded => {
                let edge = 1e-9 * (b - a);
                let x = value.clamp(a + edge, b - edge);
                ((x - a) / (b - x)).ln()
            }
        }
    }

    /// Value of `u`.
    pub fn to_value(&self, u: f64) -> f64 {
        let [a, b] = self.range;
        match self.scale {
            Scale::Linear => u,
            Scale::Log => u.exp(),
            Scale::Bounded => a + (b - a) / (1.0 + (-u).exp()),
        }
    }

    /// `dθ/du`.
    pub fn slope(&self, u: f64) -> f64 {
        let [a, b] = self.range;
        match self.scale {
            Scale::Linear => 1.0,
            Scale::Log => u.exp(),
            Scale::Bounded => {
                let s = 1.0 / (1.0 + (-u).exp());
                (b - a) * s * (1.0 - s)
            }
        }
    }

    /// `d²θ/du²`.
    pub fn bend(&self, u: f64) -> f64 {
        let [a, b] = self.range;
        match self.scale {
            Scale::Linear => 0.0,
            Scale::Log => u.exp(),
            Scale::Bounded => {
                let s = 1.0 / (1.0 + (-u).exp());
                (b - a) * s * (1.0 - s) * (1.0 - 2.0 * s)
            }
        }
    }

    /// Bounds of `u`.
    pub fn coordinate_bounds(&self) -> [f64; 2] {
        match self.scale {
            // Beyond ±20 a logistic function is its edge to 2e-9.
            Scale::Bounded => [-20.0, 20.0],
            _ => self.range.map(|x| self.to_coordinate(x)),
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ParameterError> {
        if let Some(step) = self.step.filter(|s| !(s.is_finite() && *s > 0.0)) {
            return Err(ParameterError::Step { path: self.path.clone(), found: step });
        }
        if let Some(found) = self.per.as_ref().filter(|p| p.is_empty() || p.contains(['[', ']'])) {
            return Err(ParameterError::Label { path: self.path.clone(), found: found.clone() });
        }
        for (field, [low, high]) in
            [("range", self.range), ("start", self.start.unwrap_or(self.range))]
        {
            let ordered = low.is_finite() && high.is_finite() && low <= high;
            let (allowed, ok) = match (self.scale, field) {
                (Scale::Log, _) => ("0 < low < high", ordered && low > 0.0),
                (_, "start") => ("low <= high, inside the range", ordered),
                _ => ("low < high", ordered),
            };
            let inside = low >= self.range[0] && high <= self.range[1];
            if !ok || !inside || (field == "range" && low >= high) {
                let allowed = if inside || !ordered { allowed } else { "inside the range" };
                return Err(ParameterError::Range {
                    path: self.path.clone(),
                    field,
                    low,
                    high,
                    allowed,
                });
            }
        }
        let [low, high] = self.range;
        if let Some(ParameterPrior { value, sigma }) = self.prior {
            let inside = value > low && value < high;
            if !(inside && sigma > 0.0 && sigma.is_finite()) {
                return Err(ParameterError::Prior { path: self.path.clone(), value, sigma });
            }
        }
        match meaningful(&self.path) {
            Some((ok, allowed)) if !(ok(low) && ok(high)) => Err(ParameterError::Range {
                path: self.path.clone(),
                field: "range",
                low,
                high,
                allowed,
            }),
            _ => Ok(()),
        }
    }
}

/// Whether a number means anything.
type Meaningful = fn(f64) -> bool;

/// Which numbers a parameter can be, by the last part of its path; none where every number means something, or only together
/// with others (a tensor of inertia).
fn meaningful(path: &str) -> Option<(Meaningful, &'static str)> {
    let found: (Meaningful, _) = match path.rsplit('.').next().unwrap_or(path) {
        "k" | "v_f" | "mass" | "radius" | "scale" => (|x| x > 0.0, "low < high, both > 0"),
        "epsilon" | "delta_extra" | "mu" | "c_t" | "c_n" => (|x| x >= 0.0, "low < high, both >= 0"),
        "m" => (|x| (-1.0..=1.0).contains(&x), "low < high, both in [-1, 1]"),
        _ => return None,
    };
    Some(found)
}

/// Indices among the numbers of a scene of a list of parameters, each checked.
///
/// # Errors
/// Where a path is unknown or doubled, a range is wrong, or nothing is free.
pub fn resolve(
    entries: &[Entry],
    parameters: &[FreeParameter],
) -> Result<Vec<usize>, ParameterError> {
    if !parameters.iter().any(|p| !p.profile_only) {
        return Err(ParameterError::None);
    }
    let mut indices = Vec::with_capacity(parameters.len());
    let mut seen: Vec<&String> = Vec::new();
    for p in parameters {
        p.validate()?;
        for path in std::iter::once(&p.path).chain(&p.also) {
            if seen.contains(&path) {
                return Err(ParameterError::Twice { path: path.clone() });
            }
            seen.push(path);
        }
        indices.push(find(entries, &p.path)?);
        tied(entries, p)?;
    }
    Ok(indices)
}

/// Indices of the other paths that have the value of a parameter.
///
/// # Errors
/// Where one is unknown.
pub(crate) fn tied(entries: &[Entry], p: &FreeParameter) -> Result<Vec<usize>, ParameterError> {
    p.also.iter().map(|path| find(entries, path)).collect()
}

fn find(entries: &[Entry], path: &str) -> Result<usize, ParameterError> {
    index_of(entries, path).ok_or_else(|| ParameterError::Unknown {
        path: path.to_owned(),
        close: close_names(entries, path),
    })
}

/// Up to eight paths with the same last part, or else of the same actor, or else any.
fn close_names(entries: &[Entry], path: &str) -> String {
    let last = |p: &str| p.rsplit('.').next().unwrap_or(p).to_owned();
    let first = |p: &str| p.split('.').next().unwrap_or(p).to_owned();
    let all = || entries.iter().map(|e| e.path.as_str());
    let mut close: Vec<&str> = all().filter(|p| last(p) == last(path)).collect();
    if close.is_empty() {
        close = all().filter(|p| first(p) == first(path)).collect();
    }
    if close.is_empty() {
        close = all().collect();
    }
    close.truncate(8);
    close.join(", ")
}

#[cfg(test)]
mod tests;
