//! How far the parameters are from a change of the state of a contact, in the impulse model.
//!
//! ```text
//! d(θ)  distance of a contact from a switch, of `Linearisation::switches`: zero at it, whatever it is relative to
//! distance of θ ≈ d / |dd/dθ|,    dd/dθ by a central difference of roll-outs that are run again
//! ```
//!
//! A contact that is in the opposite state at `θ + h` or `θ − h` has its switch within `h`.

use super::switches::{Harm, Switch, keep};
use crate::contact_model::ImpulseDerivatives;
use osculate_dynamics::impulse::ImpulseTrajectory;
use osculate_dynamics::impulse::sensitivity::{
    ImpulseLayout, ImpulseSwitch, Linearisation, SwitchKind,
};
use osculate_geometry::manifold::FeatureId;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Step of the differences, relative to a large change of the parameter: far above what a solve leaves, far below what bends.
const STEP: f64 = 1e-4;

/// What a switch belongs to, the same in roll-outs beside each other.
type Key = (SwitchKind, usize, [usize; 2], bool, FeatureId, usize);

type Distances = BTreeMap<Key, f64>;

/// What is crossed, in words.
pub fn words(kind: SwitchKind) -> &'static str {
    match kind {
        SwitchKind::Opening => "opening",
        SwitchKind::Closing => "closing",
        SwitchKind::Slipping => "starting to slip",
        SwitchKind::Sticking => "ceasing to slip",
        SwitchKind::Rebounding => "threshold of restitution",
        SwitchKind::Arriving => "impact one step earlier or later",
        SwitchKind::Releasing => "letting go",
    }
}

/// The nearest switch of every kind that occurs, for each parameter asked about.
pub fn nearest_contacts(
    derivatives: &ImpulseDerivatives<'_>,
    asked: &[(usize, f64)],
) -> Vec<Vec<Switch>> {
    let ImpulseDerivatives { simulator, parameters, trajectory, .. } = derivatives;
    let layout = ImpulseLayout::new(simulator, parameters);
    let here = derivatives.linear().switches(f64::INFINITY);
    let one = |&(i, scale): &(usize, f64)| {
        let h = STEP * scale;
        let beside = |x: f64| {
            let mut changed = (*parameters).clone();
            layout.add(&mut changed, i, x);
            let trajectory = changed.run(simulator).ok()?;
            let linear =
                Linearisation::with(simulator, &changed, &trajectory, derivatives.on_failure);
            Some(keyed(&linear.ok()?, &trajectory))
        };
        let (Some(below), Some(above)) = (beside(-h), beside(h)) else { return Vec::new() };
        let mut nearest = Vec::new();
        for switch in &here {
            let (key, d) = (key(switch, trajectory), switch.distance);
            if let (Some(a), Some(b)) = (below.get(&key), above.get(&key)) {
                // Distances are absolute: on the side where the switch is crossed they do not fall at the full rate.
                let rate = (d - a).abs().max((b - d).abs()) / h;
                keep(&mut nearest, found(switch, d / rate));
            } else if [&below, &above].iter().any(|side| is_on_the_other_side(side, &key)) {
                keep(&mut nearest, found(switch, h));
            }
        }
        nearest.sort_by(|a: &Switch, b| a.distance.total_cmp(&b.distance));
        nearest
    };
    asked.par_iter().map(one).collect()
}

/// Whether a contact has changed its state there, and is not only listed no longer or by other features.
fn is_on_the_other_side(side: &Distances, &(kind, step, bodies, anchor, id, order): &Key) -> bool {
    let other = match kind {
        SwitchKind::Opening => SwitchKind::Closing,
        SwitchKind::Closing => SwitchKind::Opening,
        SwitchKind::Slipping => SwitchKind::Sticking,
        SwitchKind::Sticking => SwitchKind::Slipping,
        SwitchKind::Rebounding | SwitchKind::Arriving | SwitchKind::Releasing => return false,
    };
    side.contains_key(&(other, step, bodies, anchor, id, order))
}

fn found(switch: &ImpulseSwitch, distance: f64) -> Switch {
    Switch {
        what: words(switch.kind),
        harm: if switch.kind.jumps() { Harm::Jump } else { Harm::Kink },
        distance,
        step: switch.step,
        body: switch.bodies[0],
        of: if switch.anchor { "anchor" } else { "contact" },
        sample: switch.contact,
    }
}

/// The distance of every switch, by what it belongs to.
fn keyed(linear: &Linearisation<'_>, trajectory: &ImpulseTrajectory) -> Distances {
    let all = linear.switches(f64::INFINITY).into_iter();
    all.map(|s| (key(&s, trajectory), s.distance)).collect()
}

fn key(s: &ImpulseSwitch, trajectory: &ImpulseTrajectory) -> Key {
    let record = &trajectory.records[s.step - 1];
    // Anchors of a region are told apart by their order, contacts by their features.
    let (contact, order) =
        if s.anchor { (record.anchors[s.contact].contacts[0], s.contact) } else { (s.contact, 0) };
    (s.kind, s.step, s.bodies, s.anchor, record.contacts[contact].contact.id, order)
}
