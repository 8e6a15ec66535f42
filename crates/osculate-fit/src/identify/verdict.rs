//! How a profile is read.

use crate::parameter::Scale;
use serde::Serialize;

/// A parameter whose 95 % interval spans at most this factor (or this share of its range) is a point.
const POINT_FACTOR: f64 = 1.5;

/// How the profile of a parameter is read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// Determined: the 95 % interval is narrow.
    Point {
        /// Lower end of the 95 % interval.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// Bounded on both sides, but the data give no single value.
    Interval {
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// Only values below are excluded.
    LowerBound {
        /// The bound.
        lower: f64,
    },
    /// Only values above are excluded.
    UpperBound {
        /// The bound.
        upper: f64,
    },
    /// Nothing in the range is excluded.
    Undetermined,
}

impl Verdict {
    pub(super) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Point { lower, upper } => Self::Point { lower: f(lower), upper: f(upper) },
            Self::Interval { lower, upper } => Self::Interval { lower: f(lower), upper: f(upper) },
            Self::LowerBound { lower } => Self::LowerBound { lower: f(lower) },
            Self::UpperBound { upper } => Self::UpperBound { upper: f(upper) },
            Self::Undetermined => Self::Undetermined,
        }
    }

    /// One word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Point { .. } => "point",
            Self::Interval { .. } => "interval",
            Self::LowerBound { .. } | Self::UpperBound { .. } => "bound only",
            Self::Undetermined => "undetermined",
        }
    }
}

/// Reads points `(u, loss, excess)`: on each side the first value beyond which everything is excluded.
pub(super) fn verdict(points: &[(f64, f64, f64)], best: f64, scale: Scale) -> Verdict {
    // From the far end inwards: the last excluded value before one that is not.
    let crossing = |side: Vec<(f64, f64)>| -> Option<f64> {
        let inside = side.iter().rposition(|(_, e)| *e <= 1.0).unwrap_or(0);
        let (outer, inner) = (side.get(inside + 1)?, side[inside]);
        let share = if outer.1.is_finite() { (1.0 - inner.1) / (outer.1 - inner.1) } else { 1.0 };
        Some(inner.0 + (outer.0 - inner.0) * share.clamp(0.0, 1.0))
    };
    let side = |keep: &dyn Fn(f64) -> bool| -> Vec<(f64, f64)> {
        let mut side: Vec<(f64, f64)> =
            points.iter().filter(|p| keep(p.0)).map(|p| (p.0, p.2)).collect();
        side.sort_by(|a, b| (a.0 - best).abs().total_cmp(&(b.0 - best).abs()));
        side
    };
    let (lower, upper) = (crossing(side(&|u| u <= best)), crossing(side(&|u| u >= best)));
    match (lower, upper) {
        (Some(lower), Some(upper)) => {
            let narrow = match scale {
                Scale::Log => upper - lower <= POINT_FACTOR.ln(),
                _ => {
                    let all = points.iter().map(|p| p.0);
                    let span = all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min);
                    upper - lower <= (POINT_FACTOR - 1.0) * span
                }
            };
            if narrow {
                Verdict::Point { lower, upper }
            } else {
                Verdict::Interval { lower, upper }
            }
        }
        (Some(lower), None) => Verdict::LowerBound { lower },
        (None, Some(upper)) => Verdict::UpperBound { upper },
        (None, None) => Verdict::Undetermined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(excess: impl Fn(f64) -> f64) -> Vec<(f64, f64, f64)> {
        (-10..=10).map(|k| (0.2 * f64::from(k), 0.0, excess(0.2 * f64::from(k)))).collect()
    }

    #[test]
    fn verdict_names_point_interval_bound_and_undetermined() {
        let near = verdict(&points(|u| (u / 0.1).powi(2)), 0.0, Scale::Log);
        assert!(matches!(near, Verdict::Point { lower, upper } if lower < 0.0 && upper > 0.0));
        let wide = verdict(&points(|u| u * u), 0.0, Scale::Log);
        assert!(
            matches!(wide, Verdict::Interval { lower, upper } if (lower + 1.0).abs() < 0.05 && (upper - 1.0).abs() < 0.05)
        );
        let below = verdict(&points(|u| if u < 0.0 { u * u } else { 0.0 }), 0.0, Scale::Log);
        assert!(matches!(below, Verdict::LowerBound { lower } if (lower + 1.0).abs() < 0.05));
        let above = verdict(&points(|u| if u > 0.0 { u * u } else { 0.0 }), 0.0, Scale::Log);
        assert!(matches!(above, Verdict::UpperBound { .. }));
        assert_eq!(verdict(&points(|_| 0.5), 0.0, Scale::Log), Verdict::Undetermined);
    }

    #[test]
    fn a_dip_beyond_an_excluded_value_widens_the_interval() {
        // Not excluded again at −1.6: the interval reaches past it.
        let v =
            verdict(&points(|u| if (u + 1.6).abs() < 0.05 { 0.5 } else { u * u }), 0.0, Scale::Log);
        assert!(matches!(v, Verdict::Interval { lower, .. } if lower < -1.6), "{v:?}");
    }
}
