//! The estimates of a report, each with everything known of its uncertainty.

use super::summary::number;
use crate::fit::Fit;
use crate::identify::{Curvature, Profile, TWO_SIDED_95, Verdict};
use crate::trust::Trust;
use serde::Serialize;

/// One estimated parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Path.
    pub path: String,
    /// Unit.
    pub unit: String,
    /// The estimate; absent where the data give only an interval or a bound, or its profile was interrupted.
    pub estimate: Option<f64>,
    /// The value of the best roll-outs: what `osculate evaluate` uses.
    pub best: f64,
    /// Standard error from the Fisher matrix, in units of the parameter.
    pub standard_error: Option<f64>,
    /// Standard error robust against correlation within a toss.
    pub robust_standard_error: Option<f64>,
    /// Standard error of the smooth loss's minimum from the roughness of the loss, where a response surface ended the
    /// fit and its last box holds it.
    pub surface_standard_error: Option<f64>,
    /// 95 % interval from the Fisher matrix on the scale of the fit.
    pub fisher_interval: Option<[f64; 2]>,
    /// 95 % interval of the bootstrap over tosses; absent where none was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap_interval: Option<[f64; 2]>,
    /// What the profile says; absent without one, or where it was interrupted.
    pub verdict: Option<Verdict>,
    /// Paths of parameters with which the data let it move: they would tell it if those were known. Empty where the data
    /// tell it alone, or say nothing of it.
    pub moves_with: Vec<String>,
    /// The same in words.
    pub statement: String,
    /// What derivatives by it are good for; absent where that was not asked or was interrupted, and for parameters that
    /// are not fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
}

impl Estimate {
    /// The largest standard error found: that of the smooth loss is the only sober one where roll-outs are chaotic.
    pub(super) fn sigma(&self) -> Option<f64> {
        let all = [self.standard_error, self.robust_standard_error, self.surface_standard_error];
        all.into_iter().flatten().reduce(f64::max)
    }
}

/// * `cut_short`: a parameter without a verdict has none because the fit was interrupted.
pub(super) fn estimates(
    fitted: &Fit,
    curved: Option<&Curvature>,
    profiles: &[Profile],
    cut_short: bool,
) -> Vec<Estimate> {
    let best = fitted.best();
    let free = fitted.problem.parameters();
    let mut all: Vec<Estimate> = free
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let (u, value) = (best.coordinates[i], best.values[i]);
            let slope = p.slope(u).abs();
            let error = curved.map(|c| c.standard_errors[i]).filter(|e| e.is_finite());
            let robust = curved.map(|c| c.robust_standard_errors[i]).filter(|e| e.is_finite());
            let smooth = best.surface.as_ref().and_then(|s| s.standard_errors[i]);
            let profile = profiles.iter().find(|q| q.path == p.path);
            let verdict = profile.and_then(|q| q.verdict);
            let moves_with = curved.map_or_else(Vec::new, |c| c.moves_with[i].clone());
            // Without a profile the curvature decides; with one, the profile does.
            let told = !cut_short && moves_with.is_empty();
            let point = verdict.map_or(told, |v| matches!(v, Verdict::Point { .. }));
            let unit = fitted.problem.unit(i);
            Estimate {
                path: p.path.clone(),
                unit: unit.to_owned(),
                estimate: point.then_some(value),
                best: value,
                standard_error: error.map(|e| e * slope),
                robust_standard_error: robust.map(|e| e * slope),
                surface_standard_error: smooth.map(|e| e * slope),
                fisher_interval: error
                    .map(|e| [u - TWO_SIDED_95 * e, u + TWO_SIDED_95 * e].map(|x| p.to_value(x))),
                bootstrap_interval: None,
                statement: statement((&p.path, unit), value, profile, (cut_short, &moves_with)),
                moves_with,
                verdict,
                trust: None,
            }
        })
        .collect();
    let kept = |q: &&Profile| !free.iter().any(|p| p.path == q.path);
    all.extend(profiles.iter().filter(kept).map(|q| profiled(q, cut_short)));
    all
}

/// A parameter that the fit kept.
fn profiled(q: &Profile, cut_short: bool) -> Estimate {
    Estimate {
        path: q.path.clone(),
        unit: q.unit.clone(),
        estimate: None,
        best: q.best,
        standard_error: None,
        robust_standard_error: None,
        surface_standard_error: None,
        fisher_interval: None,
        bootstrap_interval: None,
        statement: format!(
            "{} (kept at {} in the fit)",
            statement((&q.path, &q.unit), q.best, Some(q), (cut_short, &[])),
            number(q.best)
        ),
        verdict: q.verdict,
        moves_with: Vec::new(),
        trust: None,
    }
}

/// What is known of a parameter, in words.
fn statement(
    (path, unit): (&str, &str),
    value: f64,
    profile: Option<&Profile>,
    (cut_short, moves_with): (bool, &[String]),
) -> String {
    let verdict = profile.and_then(|q| q.verdict.as_ref());
    let confidence = match profile {
        Some(Profile { known_noise: false, .. }) => "95 % or more",
        _ => "95 %",
    };
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let partners = moves_with.join(" and ");
    let with = if partners.is_empty() { String::new() } else { format!("; moves with {partners}") };
    match verdict {
        None if cut_short => format!("{path} = {}{unit} (profile not finished)", number(value)),
        None if !partners.is_empty() => format!(
            "{path}: not identifiable: moves with {partners} (best roll-outs at {}{unit})",
            number(value)
        ),
        None => format!("{path} = {}{unit}", number(value)),
        Some(Verdict::Point { lower, upper }) => format!(
            "{path} = {}{unit}, interval ({confidence}) {} to {}",
            number(value),
            number(*lower),
            number(*upper)
        ),
        Some(Verdict::Interval { lower, upper }) => {
            format!(
                "{path}: interval {} to {}{unit}, no single value{with}",
                number(*lower),
                number(*upper)
            )
        }
        Some(Verdict::LowerBound { lower }) => {
            format!("{path}: bound only, above {}{unit}{with}", number(*lower))
        }
        Some(Verdict::UpperBound { upper }) => {
            format!("{path}: bound only, below {}{unit}{with}", number(*upper))
        }
        Some(Verdict::Undetermined) if !partners.is_empty() => {
            format!("{path}: not identifiable: moves with {partners}")
        }
        Some(Verdict::Undetermined) => {
            format!("{path}: undetermined, no value of its range is excluded")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_names_the_parameters_it_moves_with() {
        let partners = ["cube.k".to_owned(), "cube.c_n".to_owned()];
        let say = |verdict: Option<Verdict>, with: &[String]| {
            let profile = Profile {
                path: "cube.mu".into(),
                unit: String::new(),
                values: Vec::new(),
                losses: Vec::new(),
                excess: Vec::new(),
                known_noise: false,
                best: 0.2,
                verdict,
            };
            statement(("cube.mu", ""), 0.2, Some(&profile), (false, with))
        };
        let moves = "cube.mu: not identifiable: moves with cube.k and cube.c_n";
        assert_eq!(say(Some(Verdict::Undetermined), &partners), moves);
        assert!(say(None, &partners).starts_with(moves));
        assert_eq!(say(None, &[]), "cube.mu = 0.2000");
        let bound = say(Some(Verdict::LowerBound { lower: 0.1 }), &partners[..1]);
        assert_eq!(bound, "cube.mu: bound only, above 0.1000; moves with cube.k");
        // A profile that closes on both sides has the last word.
        let point = Some(Verdict::Point { lower: 0.19, upper: 0.21 });
        let point = say(point, &partners);
        assert_eq!(point, "cube.mu = 0.2000, interval (95 % or more) 0.1900 to 0.2100");
    }
}
