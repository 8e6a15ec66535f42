//! From evidence to a verdict with reasons. Thresholds and where they come from: `docs/trust.md`.

use super::plateau::{Difference, ON_PLATEAU, Plateau, Sides};
use super::switches::{Harm, Switch};
use serde::Serialize;

/// A derivative that moves by less than this under refinement has settled \[–\].
pub const SETTLED: f64 = 0.1;
/// One that moves by more has not: it is a number of the time step \[–\].
pub const UNSETTLED: f64 = 0.5;
/// The second-order term over one standard error may be this large relative to the first \[–\].
pub const STRAIGHT: f64 = 0.1;
/// A range below this part of the standard error is of no use \[–\].
pub const USABLE: f64 = 0.01;
/// An influence below this part of the largest counts as none \[–\].
pub const NEGLIGIBLE: f64 = 1e-4;

/// What was measured of one derivative `dJ/dθ`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Path of the parameter.
    pub path: String,
    /// Its unit.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// A change of it that is large.
    pub scale: f64,
    /// Standard error, in its unit.
    pub sigma: f64,
    /// The derivative on the scene's own grid.
    pub derivative: f64,
    /// The derivative at Δt, Δt/2, Δt/4, …; none where a roll-out fails.
    pub refined: Vec<Option<f64>>,
    /// Differences of the outcome, largest step first.
    pub differences: Vec<Difference>,
    /// Where they agree with the derivative.
    pub plateau: Option<Plateau>,
    /// Differences to each side, where they stay apart however small the step: the parameter stands at a switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sides: Option<Sides>,
    /// `d²J/dθ²`; of the impulse model over one standard error.
    pub curvature: f64,
    /// Nearest switch of each kind.
    pub switches: Vec<Switch>,
    /// `|dJ/dθ| scale`, relative to the largest of all parameters, on any of the grids.
    pub influence: f64,
}

/// Why a derivative is not to be trusted everywhere, with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Reason {
    /// Its sign depends on the time step.
    SignChanges {
        /// Number of changes along Δt, Δt/2, ….
        changes: usize,
        /// The derivatives.
        refined: Vec<f64>,
    },
    /// Its size depends on the time step.
    Unsettled {
        /// Largest distance from the finest, relative to the finest.
        drift: f64,
    },
    /// A finer roll-out fails.
    CannotRefine {
        /// How many times finer.
        factor: usize,
    },
    /// No step of differences agrees with it.
    NoPlateau,
    /// It stands at a switch: the outcome has one derivative to each side.
    OneSided {
        /// Towards smaller values.
        below: f64,
        /// Towards larger values.
        above: f64,
        /// The side that the derivative is of; neither where it agrees with none.
        side: Option<&'static str>,
    },
    /// Differences over one standard error do not agree with it.
    NarrowPlateau {
        /// Largest step that agrees.
        to: f64,
        /// The nearest switch that makes the force or its derivative jump, where it lies within one standard error.
        switch: Option<Switch>,
    },
    /// The outcome bends within one standard error.
    Bends {
        /// `σ|H|/(2|g|)`.
        second_order: f64,
        /// Change of the parameter over which the second-order term reaches the allowed part.
        within: f64,
    },
    /// The range that is left is of no use.
    TooNarrow {
        /// It, relative to the standard error.
        relative: f64,
    },
}

/// What a derivative is good for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// It stands for the outcome's change over one standard error.
    Trust,
    /// The parameter does not matter: a derivative of zero stands for it.
    TrustAsZero,
    /// It stands for the outcome's change within a range.
    TrustLocally {
        /// The range, in the unit of the parameter.
        within: f64,
        /// Why not further.
        reasons: Vec<Reason>,
    },
    /// It does not stand for the outcome's change.
    DoNotTrust {
        /// Why.
        reasons: Vec<Reason>,
    },
}

impl Verdict {
    /// In a few words.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Trust => "trust",
            Self::TrustAsZero => "trust as zero",
            Self::TrustLocally { .. } => "trust locally",
            Self::DoNotTrust { .. } => "do not trust",
        }
    }

    /// With the range and every reason, in the unit of the parameter.
    pub fn explained(&self, unit: &str) -> String {
        let after = spaced(unit);
        let reasons: Vec<String> = self.reasons().iter().map(|r| r.text(unit)).collect();
        let reasons = reasons.join("; ");
        match self {
            Self::Trust | Self::TrustAsZero => self.word().into(),
            Self::TrustLocally { within, .. } => {
                format!("trust within ±{within:.1e}{after}: {reasons}")
            }
            Self::DoNotTrust { .. } => format!("do not trust, because {reasons}"),
        }
    }

    /// The reasons.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::Trust | Self::TrustAsZero => &[],
            Self::TrustLocally { reasons, .. } | Self::DoNotTrust { reasons } => reasons,
        }
    }
}

impl Reason {
    /// In words, with the unit of the parameter.
    pub fn text(&self, unit: &str) -> String {
        let unit = spaced(unit);
        match self {
            Self::SignChanges { changes, refined } => {
                let list: Vec<String> = refined.iter().map(|x| format!("{x:.2e}")).collect();
                let times = if *changes == 1 { "once" } else { "more than once" };
                format!("its sign changes {times} as Δt is halved: {}", list.join(", "))
            }
            Self::Unsettled { drift } => {
                format!("it moves by {:.0} % of its finest value as Δt is halved", drift * 100.0)
            }
            Self::CannotRefine { factor } => format!("the roll-out fails at Δt/{factor}"),
            Self::NoPlateau => "no difference step agrees with it".into(),
            Self::OneSided { below, above, side } => {
                let side = side.map_or("of neither side".into(), |s| format!("that {s}"));
                format!(
                    "it stands at a switch: the derivative is {below:.3e} below and {above:.3e} above, this one is {side}"
                )
            }
            Self::NarrowPlateau { to, switch } => {
                let mut text = format!("differences agree up to {to:.1e}{unit} only");
                if let Some(s) = switch {
                    text += &format!(
                        "; {} of {} {} after step {} is {:.1e}{unit} away",
                        s.what, s.of, s.sample, s.step, s.distance
                    );
                }
                text
            }
            Self::Bends { second_order, .. } => {
                format!("the second-order term is {:.0} % of it over one σ", second_order * 100.0)
            }
            Self::TooNarrow { relative } => {
                format!("what is left of its range is {relative:.1e} of one σ")
            }
        }
    }
}

/// A unit after a number.
pub(super) fn spaced(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

/// Largest distance of the derivatives from the finest, relative to it.
pub fn drift(refined: &[f64]) -> f64 {
    let Some(&finest) = refined.last() else { return 0.0 };
    let off = refined.iter().map(|g| (g - finest).abs()).fold(0.0, f64::max);
    if off > 0.0 { off / finest.abs() } else { 0.0 }
}

/// Judges a derivative.
pub fn judge(e: &Evidence) -> Verdict {
    // A derivative of zero to one side says nothing of the other.
    if e.influence <= NEGLIGIBLE && e.sides.is_none() {
        return Verdict::TrustAsZero;
    }
    let (mut fatal, mut local) = (Vec::new(), Vec::new());
    let mut within = f64::INFINITY;
    time_step(e, &mut fatal, &mut local);
    match e.plateau {
        None => fatal.push(e.sides.map_or(Reason::NoPlateau, |s| one_sided(e.derivative, &s))),
        Some(p) => {
            // A standard error is a point of the scan, up to rounding.
            if p.to < e.sigma * (1.0 - 1e-9) {
                let switch = harmful(e).filter(|s| s.distance <= e.sigma);
                local.push(Reason::NarrowPlateau { to: p.to, switch });
            }
            within = p.to;
        }
    }
    let second_order = 0.5 * e.sigma * e.curvature.abs() / e.derivative.abs();
    if second_order > STRAIGHT && second_order.is_finite() {
        let reach = STRAIGHT * e.sigma / second_order;
        local.push(Reason::Bends { second_order, within: reach });
        within = within.min(reach);
    }
    if fatal.is_empty() && !local.is_empty() && within < USABLE * e.sigma {
        fatal.push(Reason::TooNarrow { relative: within / e.sigma });
    }
    if !fatal.is_empty() {
        fatal.extend(local);
        Verdict::DoNotTrust { reasons: fatal }
    } else if local.is_empty() {
        Verdict::Trust
    } else {
        Verdict::TrustLocally { within, reasons: local }
    }
}

fn time_step(e: &Evidence, fatal: &mut Vec<Reason>, local: &mut Vec<Reason>) {
    let refined: Vec<f64> = e.refined.iter().map_while(|g| *g).collect();
    if refined.len() < e.refined.len() {
        fatal.push(Reason::CannotRefine { factor: 1 << refined.len() });
    }
    let changes = refined.windows(2).filter(|w| w[0] * w[1] < 0.0).count();
    let drift = drift(&refined);
    if changes > 0 {
        fatal.push(Reason::SignChanges { changes, refined });
    } else if drift > UNSETTLED {
        fatal.push(Reason::Unsettled { drift });
    } else if drift > SETTLED {
        local.push(Reason::Unsettled { drift });
    }
}

fn one_sided(derivative: f64, sides: &Sides) -> Reason {
    let Sides { below, above } = *sides;
    let size = below.abs().max(above.abs());
    let is = |x: f64| (derivative - x).abs() <= ON_PLATEAU * size;
    let side = if is(below) { Some("below") } else { is(above).then_some("above") };
    Reason::OneSided { below, above, side }
}

/// The nearest switch at which the force or its derivative jumps.
fn harmful(e: &Evidence) -> Option<Switch> {
    let harmful = e.switches.iter().filter(|s| s.harm != Harm::None).copied();
    harmful.min_by(|a, b| a.distance.total_cmp(&b.distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A derivative about which nothing is wrong.
    fn sound() -> Evidence {
        Evidence {
            path: "cube.mu".into(),
            unit: String::new(),
            value: 0.5,
            scale: 0.5,
            sigma: 0.005,
            derivative: 2.0,
            refined: vec![Some(2.0), Some(1.98), Some(1.97), Some(1.965)],
            differences: Vec::new(),
            sides: None,
            plateau: Some(Plateau { from: 1e-6, to: 0.05, decades: 4.7 }),
            curvature: 1.0,
            switches: Vec::new(),
            influence: 1.0,
        }
    }

    fn after(change: impl Fn(&mut Evidence)) -> Verdict {
        let mut e = sound();
        change(&mut e);
        judge(&e)
    }

    #[test]
    fn every_single_defect_takes_trust_away() {
        assert_eq!(judge(&sound()), Verdict::Trust);
        let word = |change: fn(&mut Evidence)| after(change).word();
        assert_eq!(word(|e| e.refined[2] = Some(-2.0)), "do not trust");
        assert_eq!(word(|e| e.refined[0] = Some(4.0)), "do not trust");
        assert_eq!(word(|e| e.refined[3] = None), "do not trust");
        assert_eq!(word(|e| e.plateau = None), "do not trust");
        assert_eq!(word(|e| e.refined[0] = Some(2.5)), "trust locally");
        assert_eq!(word(|e| e.curvature = 200.0), "trust locally");
        assert_eq!(word(|e| e.influence = 1e-9), "trust as zero");
    }

    #[test]
    fn range_of_local_trust_is_where_the_plateau_or_the_straight_line_ends() {
        let narrow = Some(Plateau { from: 1e-6, to: 1e-3, decades: 3.0 });
        let of = |v: Verdict| match v {
            Verdict::TrustLocally { within, .. } => within,
            other => panic!("{other:?}"),
        };
        assert!((of(after(|e| e.plateau = narrow)) - 1e-3).abs() < 1e-15);
        // σ|H|/2|g| = 0.25: a tenth is reached at 0.4 σ.
        assert!((of(after(|e| e.curvature = 200.0)) - 0.4 * 0.005).abs() < 1e-15);
    }

    #[test]
    fn range_far_below_the_standard_error_is_no_trust() {
        let narrow = Some(Plateau { from: 1e-8, to: 1e-5, decades: 3.0 });
        let verdict = after(|e| e.plateau = narrow);
        assert!(matches!(verdict.reasons()[0], Reason::TooNarrow { .. }), "{verdict:?}");
        assert_eq!(verdict.word(), "do not trust");
    }

    #[test]
    fn derivative_at_a_switch_is_said_to_be_of_one_side() {
        let at_switch = |derivative| {
            let verdict = after(|e| {
                (e.derivative, e.plateau) = (derivative, None);
                e.sides = Some(Sides { below: 2.0, above: 3.0 });
            });
            assert_eq!(verdict.word(), "do not trust");
            verdict.reasons()[0].text("")
        };
        assert!(at_switch(2.001).ends_with("this one is that below"), "{}", at_switch(2.001));
        assert!(at_switch(3.0).ends_with("this one is that above"));
        assert!(at_switch(2.5).ends_with("this one is of neither side"));
    }

    #[test]
    fn nearest_harmful_switch_is_named_where_it_ends_the_plateau() {
        let switch = |harm, distance| {
            let (what, of) = ("φ = δ", "sample");
            Switch { what, harm, distance, step: 3, body: 1, of, sample: 7 }
        };
        let verdict = after(|e| {
            e.plateau = Some(Plateau { from: 1e-6, to: 1e-3, decades: 3.0 });
            e.switches = vec![switch(Harm::None, 1e-5), switch(Harm::Jump, 2e-3)];
        });
        let text = verdict.reasons()[0].text("m");
        assert!(text.contains("sample 7 after step 3 is 2.0e-3 m away"), "{text}");
    }
}
