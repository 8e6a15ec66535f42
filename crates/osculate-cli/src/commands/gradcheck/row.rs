//! One parameter: its derivatives by adjoint, tangent and differences, and what they say of each other.

use super::differences::Difference;
use serde_json::{Value, json};

/// Adjoint and tangent may differ by this, relative to the scale of the gradient.
const EXACT: f64 = 1e-10;
/// Differences may be off by this relative to the derivative, beside their own error.
const RELATIVE: f64 = 1e-6;
/// What differences of roll-outs cannot see, relative to the scale of the gradient: rounding of the outcome over a step.
const UNSEEN: f64 = 1e-8;
/// Beyond this relative to the derivative, and to the scale of the gradient, an estimated error is no judge.
const UNRELIABLE: (f64, f64) = (1e-4, 1e-6);
/// Estimated errors are spreads: a deviation may be this many times as large.
const SPREADS: f64 = 3.0;

/// One parameter.
pub(super) struct Row {
    pub(super) path: String,
    pub(super) unit: &'static str,
    pub(super) adjoint: f64,
    pub(super) tangent: f64,
    pub(super) difference: Option<Difference>,
    /// Differences below and above, where those to both sides disagree.
    pub(super) sides: Option<[Difference; 2]>,
    /// Whether its value may change to one side only.
    pub(super) at_edge: bool,
    /// A derivative that would change the outcome as much as the largest of all, for its parameter's scale.
    pub(super) floor: f64,
}

/// What to say of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    Agrees,
    /// The outcome has one derivative to each side; the adjoint is that of this one.
    OneSided(&'static str),
    Unreliable,
    AtEdge,
    DifferenceDisagrees,
    AdjointDisagrees,
}

impl Judgement {
    fn text(self) -> String {
        match self {
            Self::Agrees => "agrees".into(),
            Self::OneSided(side) => format!("at a switch: agrees {side}"),
            Self::Unreliable => "unreliable".into(),
            Self::AtEdge => "unreliable: at the edge of its range".into(),
            Self::DifferenceDisagrees => "DIFFERENCE DISAGREES".into(),
            Self::AdjointDisagrees => "ADJOINT AND TANGENT DISAGREE".into(),
        }
    }
}

impl Row {
    pub(super) fn judge(&self) -> Judgement {
        let exact = (self.adjoint - self.tangent).abs() <= EXACT * self.floor;
        if !exact {
            return Judgement::AdjointDisagrees;
        }
        if self.at_edge {
            return Judgement::AtEdge;
        }
        let Some(d) = self.difference else { return Judgement::Unreliable };
        if !self.has_settled(&d) {
            return Judgement::Unreliable;
        }
        if self.agrees(&d) {
            return Judgement::Agrees;
        }
        // A side that has not settled agrees with anything.
        let agrees = |d: Difference| self.has_settled(&d) && self.agrees(&d);
        match self.sides.map(|sides| sides.map(agrees)) {
            // Two steps across a kink, or into rough ground, that agree by chance: each side by itself contradicts them.
            Some([true, true]) => Judgement::Unreliable,
            Some([true, false]) => Judgement::OneSided("below"),
            Some([false, true]) => Judgement::OneSided("above"),
            _ => Judgement::DifferenceDisagrees,
        }
    }

    /// Whether steps a decade apart give about the same.
    fn has_settled(&self, d: &Difference) -> bool {
        let size = self.adjoint.abs().max(d.value.abs());
        !(d.error > UNRELIABLE.0 * size && d.error > UNRELIABLE.1 * self.floor)
    }

    fn agrees(&self, d: &Difference) -> bool {
        let size = self.adjoint.abs().max(d.value.abs());
        // Derivatives far below the largest are judged by what they change.
        let allowed = (SPREADS * d.error).max(RELATIVE * size).max(UNSEEN * self.floor);
        (self.adjoint - d.value).abs() <= allowed
    }

    pub(super) fn cells(&self) -> Vec<String> {
        let number = |x: f64| format!("{x:.9e}");
        let (value, error) = match self.difference {
            Some(d) => (number(d.value), format!("{:.0e}", d.error)),
            None => ("-".into(), "-".into()),
        };
        vec![
            self.path.clone(),
            self.unit.into(),
            number(self.adjoint),
            number(self.tangent),
            value,
            error,
            self.judge().text(),
        ]
    }

    pub(super) fn json(&self) -> Value {
        let mut json = json!({
            "path": self.path,
            "unit": self.unit,
            "adjoint": self.adjoint,
            "tangent": self.tangent,
            "difference": self.difference.map(|d| d.value),
            "error_estimate": self.difference.map(|d| d.error),
            "verdict": self.judge().text().to_lowercase(),
        });
        if let Some([below, above]) = self.sides {
            json["one_sided"] = json!({ "below": below.value, "above": above.value });
        }
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(adjoint: f64) -> Row {
        let d = |value: f64| Difference { value, error: 1e-9 };
        Row {
            path: "cube.mu".into(),
            unit: "",
            adjoint,
            tangent: adjoint,
            difference: Some(d(2.5)),
            sides: Some([d(2.0), d(3.0)]),
            at_edge: false,
            floor: 1.0,
        }
    }

    #[test]
    fn adjoint_off_its_tangent_or_its_difference_disagrees() {
        let exact = Row { sides: None, ..row(2.5) };
        assert_eq!(exact.judge(), Judgement::Agrees);
        let of_another_tangent = Row { tangent: 2.5 + 1e-9, sides: None, ..row(2.5) };
        assert_eq!(of_another_tangent.judge(), Judgement::AdjointDisagrees);
        let off = Row { sides: None, ..row(2.5 * (1.0 + 1e-5)) };
        assert_eq!(off.judge(), Judgement::DifferenceDisagrees);
        // Differences that do not settle judge nothing, and neither do those at the edge of a range.
        let rough = Row { difference: Some(Difference { value: 9.0, error: 1.0 }), ..row(2.5) };
        assert_eq!(rough.judge(), Judgement::Unreliable);
        assert_eq!(Row { at_edge: true, ..row(2.2) }.judge(), Judgement::AtEdge);
    }

    #[test]
    fn derivative_of_one_side_agrees_with_that_side_and_nothing_between_does() {
        assert_eq!(row(2.0).judge(), Judgement::OneSided("below"));
        assert_eq!(row(3.0).judge(), Judgement::OneSided("above"));
        assert_eq!(row(2.5).judge(), Judgement::Agrees);
        assert_eq!(row(2.2).judge(), Judgement::DifferenceDisagrees);
    }

    /// Symptom: `gradcheck` ended with 1 although adjoint, tangent and the differences to both sides agreed. Cause: central differences
    /// at two steps had agreed by chance, which sides that agree were not asked about.
    #[test]
    fn central_differences_that_both_sides_contradict_are_unreliable() {
        let d = |value: f64, error: f64| Difference { value, error };
        let by_chance = Row { difference: Some(d(0.378_85, 5e-7)), ..row(0.371_817_6) };
        let sides = |above: Difference| Row {
            difference: by_chance.difference,
            sides: Some([d(0.371_817_7, 1e-7), above]),
            ..row(0.371_817_6)
        };
        assert_eq!(sides(d(0.371_817_5, 1e-7)).judge(), Judgement::Unreliable);
        // A side that has not settled says nothing: this one is off by 6e-4, with an error of that size.
        assert_eq!(sides(d(0.372_378, 5e-4)).judge(), Judgement::OneSided("below"));
        let neither = Row {
            difference: by_chance.difference,
            sides: Some([d(0.372_3, 5e-4), d(0.372_4, 5e-4)]),
            ..row(0.371_817_6)
        };
        assert_eq!(neither.judge(), Judgement::DifferenceDisagrees);
    }
}
