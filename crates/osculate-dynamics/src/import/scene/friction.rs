//! Which friction acts between two geometries, and how a scene says it.
//!
//! ```text
//! equal priority    condim, sliding, spin, roll: the larger of each          otherwise those of the higher priority
//! scene             [solver.impulse] combine = "max", [actor.impulse] condim, spin_friction, rolling_friction
//!                   [[pair]] mu where the larger of two actors is not what acts
//! ```
//!
//! Source: MuJoCo, documentation of `geom/priority` and `geom/condim`.

use super::super::description::ContactNumbers;
use super::super::notes::Outcome;
use super::{Toucher, Writer};
use crate::file::{Impulse, Pair};
use osculate_contact::impulse::FrictionCombine;
use std::collections::BTreeSet;

/// Friction where a pair gives none: sliding \[–\], torsional and rolling \[m\].
const FRICTION: [f64; 3] = [1.0, 0.005, 0.0001];

/// Sliding friction: none of a contact without tangential force.
pub(super) fn sliding(contact: &ContactNumbers) -> Option<f64> {
    let mu = contact.friction.map(|f| f[0])?;
    Some(if contact.dimension == 1 { 0.0 } else { mu })
}

/// What acts between two geometries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Acting {
    pub(super) dimension: u32,
    /// Sliding friction \[–\], 0 of a contact without tangential force.
    pub(super) sliding: f64,
    /// Torsional and rolling friction \[m\], 0 where the dimension has no such row.
    angular: [f64; 2],
}

impl Acting {
    fn new(dimension: u32, [slide, spin, roll]: [f64; 3]) -> Self {
        let at = |least: u32, x: f64| if dimension >= least { x } else { 0.0 };
        Self { dimension, sliding: at(3, slide), angular: [at(4, spin), at(6, roll)] }
    }

    /// Of a pair with numbers of its own; without friction it has that of the format.
    pub(super) fn of_pair(contact: &ContactNumbers) -> Self {
        Self::new(contact.dimension, contact.friction.unwrap_or(FRICTION))
    }

    /// As the format combines two geometries; none where one of them says nothing.
    fn between(a: &ContactNumbers, b: &ContactNumbers) -> Option<Self> {
        let (x, y) = (a.friction?, b.friction?);
        Some(match a.priority.cmp(&b.priority) {
            std::cmp::Ordering::Greater => Self::new(a.dimension, x),
            std::cmp::Ordering::Less => Self::new(b.dimension, y),
            std::cmp::Ordering::Equal => {
                let dimension = a.dimension.max(b.dimension);
                Self::new(dimension, std::array::from_fn(|k| x[k].max(y[k])))
            }
        })
    }

    /// As the impulse model combines what is written of two actors.
    pub(super) fn written([a, b]: [&Toucher; 2]) -> Self {
        let dimension = a.contact.dimension.max(b.contact.dimension);
        let of = |t: &Toucher| t.contact.friction.unwrap_or_default();
        let (x, y) = (of(a), of(b));
        let mu = [a, b].map(|t| sliding(&t.contact).unwrap_or_default());
        Self::new(dimension, [mu[0].max(mu[1]), x[1].max(y[1]), x[2].max(y[2])])
    }

    /// Whether it has other rows of friction, or other coefficients of those that turn.
    pub(super) fn differs_in_rows(&self, other: &Self) -> bool {
        // No friction and a coefficient of zero are one thing.
        let rows = |a: &Self| Self { dimension: a.dimension.max(3), sliding: 0.0, ..*a };
        rows(self) != rows(other)
    }
}

impl Writer<'_> {
    /// Friction of the impulse model, where the file has any: settings, rows of the actors, and pairs that the larger of two
    /// coefficients does not describe.
    pub(super) fn impulse_friction(&mut self) {
        if self.touchers.iter().all(|t| t.contact.friction.is_none()) {
            return;
        }
        let combine = FrictionCombine::Max;
        self.file.solver.impulse = Some(Impulse { combine, ..Impulse::default() });
        let turns = self.touchers.iter().any(|t| t.contact.dimension > 3);
        for toucher in &self.touchers {
            let (contact, actors) = (&toucher.contact, &mut self.file.actors);
            let Some(actor) = actors.iter_mut().find(|a| a.name == toucher.actor) else { continue };
            actor.impulse.condim = contact.dimension as u8;
            // Rows come from the other geometry too, so its own coefficients count whatever its rows are.
            if let (Some([_, spin, roll]), true) = (contact.friction, turns) {
                (actor.impulse.spin_friction, actor.impulse.rolling_friction) = (spin, roll);
            }
        }
        self.pairs_by_rule();
    }

    /// Pairs of geometries whose friction is not the larger of what their actors say.
    fn pairs_by_rule(&mut self) {
        let (mut found, mut noted) = (Vec::new(), BTreeSet::new());
        for (i, a) in self.touchers.iter().enumerate() {
            for b in &self.touchers[i + 1..] {
                let own = [a.actor.clone(), b.actor.clone()];
                let given = |p: &Pair| p.actors.iter().all(|x| own.contains(x));
                if a.link == b.link || !a.contact.meets(&b.contact) {
                    continue;
                }
                let Some(acting) = Acting::between(&a.contact, &b.contact) else { continue };
                let written = Acting::written([a, b]);
                let pairs = &self.file.pairs;
                if acting == written || pairs.iter().any(given) {
                    continue;
                }
                if acting.differs_in_rows(&written) {
                    let leads = if a.contact.priority > b.contact.priority { a } else { b };
                    noted.insert((leads.line, leads.geometry.clone()));
                }
                if (acting.sliding - written.sliding).abs() > 0.0 {
                    found.push(Pair { actors: own, mu: Some(acting.sliding), ..Pair::default() });
                }
            }
        }
        self.file.pairs.extend(found);
        for (line, name) in noted {
            let reason = "priority decides sliding friction only: condim, torsional and rolling friction of two actors are the larger of each";
            self.note(line, format!("geometry '{name}'"), Outcome::Changed, reason);
        }
    }
}
