//! What a row's numbers mean beside what the page says of it.

use super::measure::Measurement;
use osculate_contact::DissipationSchedule;
use serde::Serialize;

/// A defect at or below this is rounding \[–\].
pub const EXACT: f64 = 1e-12;
/// A defect at or above this is beyond doubt \[–\].
pub const BROKEN: f64 = 1e-3;
/// The curl of the assembled matrix is a difference of matrices with the conservative part: it has lost digits to it \[–\].
const ASSEMBLED: f64 = 1e-9;

/// What was found of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// The residual is the gradient of `Δt R`, to rounding.
    Gradient,
    /// It is not; `of_another` where its curl vanishes all the same, so that it is the gradient of something else.
    NotAGradient {
        /// Whether the curl vanishes.
        of_another: bool,
    },
    /// The page says that it is not; here it is, because nothing that `R` depends on changes with the state.
    SpecialCase,
    /// Nothing dissipates.
    Inactive,
    /// A witness contradicts the page or another witness.
    Contradiction {
        /// What contradicts what, with numbers.
        reasons: Vec<String>,
    },
}

impl Finding {
    /// Whether it agrees with the page.
    pub fn agrees(&self) -> bool {
        !matches!(self, Self::Contradiction { .. })
    }

    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::Gradient => "gradient of Δt R".into(),
            Self::NotAGradient { of_another: false } => "no potential".into(),
            Self::NotAGradient { of_another: true } => "not of Δt R, but without curl".into(),
            Self::SpecialCase => "gradient here: special case".into(),
            Self::Inactive => "nothing dissipates".into(),
            Self::Contradiction { reasons } => format!("CONTRADICTS: {}", reasons.join("; ")),
        }
    }
}

/// Judges a measured row.
pub(super) fn judge(schedule: DissipationSchedule, m: &Measurement) -> Finding {
    let Some(defect) = m.defect else { return Finding::Inactive };
    let mut reasons = witnesses(m);
    let breaking = m.causes.iter().map(|c| c.share).fold(0.0, f64::max);
    let exact = defect.worst <= EXACT;
    if schedule == DissipationSchedule::StageStart {
        if !exact {
            reasons.push(format!("defect {:.1e} of the row that has a potential", defect.worst));
        }
        if m.curl.by_duals > EXACT || m.curl.assembled > ASSEMBLED {
            let (d, a) = (m.curl.by_duals, m.curl.assembled);
            reasons.push(format!("curl {d:.1e} (duals), {a:.1e} (matrix) of a gradient"));
        }
    } else if exact && breaking > EXACT {
        reasons.push(format!("no defect, though R changes with the state by {breaking:.1e}"));
    }
    if !reasons.is_empty() {
        return Finding::Contradiction { reasons };
    }
    match (schedule, exact) {
        (DissipationSchedule::StageStart, _) => Finding::Gradient,
        (_, true) => Finding::SpecialCase,
        (_, false) => Finding::NotAGradient { of_another: m.curl.by_duals <= EXACT },
    }
}

/// Witnesses that do not agree with each other.
fn witnesses(m: &Measurement) -> Vec<String> {
    let mut reasons = Vec::new();
    if m.differences.disagreements > 0 {
        let (n, x) = (m.differences.disagreements, m.differences.from_duals);
        reasons.push(format!("differences are off the duals on {n} stages, by {x:.1e}"));
    }
    let scale = 1.0 + m.defect.map_or(0.0, |d| d.worst);
    if m.unexplained > 1e3 * f64::EPSILON * scale {
        reasons.push(format!("causes leave {:.1e} of the defect unexplained", m.unexplained));
    }
    if m.residual_mismatch > ASSEMBLED {
        reasons
            .push(format!("assembled residual is off the 1-form by {:.1e}", m.residual_mismatch));
    }
    if m.curl.mismatch > ASSEMBLED {
        reasons.push(format!("asymmetry of K is off the curl by {:.1e}", m.curl.mismatch));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::super::{CAUSES, Cause, CurlWitness, DifferenceWitness, Spread};
    use super::*;

    fn measured(defect: f64, breaking: f64) -> Measurement {
        let spread = Spread { worst: defect, median: defect, stages: 3 };
        Measurement {
            defect: Some(spread),
            terms: [Some(spread), None, None],
            differences: DifferenceWitness::default(),
            curl: CurlWitness::default(),
            term_curls: [Some(0.0), None, None],
            causes: CAUSES.map(|name| Cause { name, share: breaking }).to_vec(),
            unexplained: 0.0,
            residual_mismatch: 0.0,
            rounded: 0,
            by_unknowns: [0.0; 4],
            pairs: Vec::new(),
        }
    }

    #[test]
    fn row_with_a_potential_contradicts_the_page_as_soon_as_it_has_a_defect_or_a_curl() {
        let start = DissipationSchedule::StageStart;
        assert_eq!(judge(start, &measured(1e-15, 0.0)), Finding::Gradient);
        assert!(!judge(start, &measured(1e-9, 0.0)).agrees());
        let mut curled = measured(1e-15, 0.0);
        curled.curl.by_duals = 1e-6;
        assert!(!judge(start, &curled).agrees());
    }

    #[test]
    fn row_without_one_is_a_special_case_only_where_nothing_changes_with_the_state() {
        for schedule in [DissipationSchedule::CurrentGeometry, DissipationSchedule::Current] {
            assert_eq!(judge(schedule, &measured(1e-15, 0.0)), Finding::SpecialCase);
            assert!(!judge(schedule, &measured(1e-15, 0.1)).agrees());
            let broken = Finding::NotAGradient { of_another: true };
            assert_eq!(judge(schedule, &measured(0.1, 0.1)), broken);
        }
    }

    #[test]
    fn witnesses_that_do_not_agree_contradict_whatever_the_page_says() {
        let broken = |change: fn(&mut Measurement)| {
            let mut m = measured(0.1, 0.1);
            change(&mut m);
            judge(DissipationSchedule::Current, &m).agrees()
        };
        assert!(broken(|_| ()));
        assert!(!broken(|m| m.differences.disagreements = 1));
        assert!(!broken(|m| m.unexplained = 1e-6));
        assert!(!broken(|m| m.residual_mismatch = 1e-6));
        assert!(!broken(|m| m.curl.mismatch = 1e-6));
    }
}
