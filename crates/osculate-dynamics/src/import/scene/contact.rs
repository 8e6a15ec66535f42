//! Who touches whom, and with which friction.

use super::super::description::{ContactNumbers, Geometry};
use super::super::notes::Outcome;
use super::Writer;
use super::friction::{Acting, sliding};
use crate::file::{FilterRule, Pair};
use osculate_geometry::filter::DEFAULT_LAYER;
use std::collections::{BTreeMap, BTreeSet};

/// Layer of a geometry by its bits; the default one of those that are on it where nothing is said.
fn layer(contact: &ContactNumbers) -> Option<String> {
    let usual = ContactNumbers::default();
    let same = (contact.kind, contact.affinity) == (usual.kind, usual.affinity);
    (!same).then(|| format!("kind-{}-affinity-{}", contact.kind, contact.affinity))
}

impl Writer<'_> {
    /// Writes layer and friction of an actor that has a geometry.
    pub(super) fn contact_of(&mut self, actor: &str, geometry: &Geometry) {
        let contact = &geometry.contact;
        let Some(written) = self.file.actors.iter_mut().find(|a| a.name == actor) else { return };
        written.layer = layer(contact);
        if let Some(mu) = sliding(contact) {
            written.contact.mu = mu;
        }
    }

    /// Layers by bits, then links against themselves, their parents and what the file excludes.
    pub(super) fn filters(&mut self) {
        let mut layers: BTreeMap<String, ContactNumbers> = BTreeMap::new();
        for toucher in &self.touchers {
            let name = layer(&toucher.contact).unwrap_or_else(|| DEFAULT_LAYER.into());
            layers.insert(name, toucher.contact);
        }
        let list: Vec<_> = layers.into_iter().collect();
        for (i, (a, first)) in list.iter().enumerate() {
            for (b, second) in &list[i..] {
                if !first.meets(second) {
                    let layers = Some([a.clone(), b.clone()]);
                    self.file.filters.push(FilterRule { layers, ..FilterRule::default() });
                }
            }
        }
        let mut off: BTreeSet<[String; 2]> = BTreeSet::new();
        for i in 0..self.robot.links.len() {
            let own = self.groups(Some(i));
            off.extend(own.iter().filter(|n| self.nests(n)).map(|n| [n.clone(), n.clone()]));
            if let Some(parent) = self.body_parent(i) {
                off.extend(crossed(&own, &self.groups(Some(parent))));
            }
        }
        for [a, b] in &self.robot.excluded {
            off.extend(crossed(&self.groups(*a), &self.groups(*b)));
        }
        let rule =
            |actors| FilterRule { actors: Some(actors), nested: true, ..FilterRule::default() };
        self.file.filters.extend(off.into_iter().map(rule));
    }

    /// The actors that stand for what touches of a link: that of its host, or those that stand in the world.
    fn groups(&self, link: Option<usize>) -> Vec<String> {
        let host = link.and_then(|i| self.hosts[i].link);
        if let Some(actor) = host.and_then(|i| self.actors[i].clone()) {
            let touches = self
                .touchers
                .iter()
                .any(|t| t.link.and_then(|i| self.hosts[i].link) == host && t.link.is_some());
            return if touches { vec![actor] } else { Vec::new() };
        }
        let of_link = self.touchers.iter().filter(|t| t.link == link);
        of_link.map(|t| t.actor.clone()).collect()
    }

    /// Whether several geometries belong to an actor.
    fn nests(&self, actor: &str) -> bool {
        self.file.actors.iter().any(|a| a.parent.as_deref() == Some(actor))
    }

    /// The body that a link's body is joined to.
    fn body_parent(&self, i: usize) -> Option<usize> {
        let links = &self.robot.links;
        let mut parent = links[i].parent;
        while let Some(p) = parent.filter(|&p| links[p].between) {
            parent = links[p].parent;
        }
        parent
    }

    /// Friction of pairs that have their own.
    pub(super) fn pairs(&mut self) {
        for pair in &self.robot.pairs {
            let find = |name: &String| self.touchers.iter().find(|t| t.geometry == *name);
            let both = (find(&pair.geometries[0]), find(&pair.geometries[1]));
            let (element, line) = (format!("pair of {:?}", pair.geometries), pair.line);
            let (Some(a), Some(b)) = both else {
                let reason = "one of the two touches nothing by its bits";
                self.note(line, element, Outcome::Ignored, reason);
                continue;
            };
            if !a.contact.meets(&b.contact) {
                let reason = "the two do not touch by their bits, and a pair cannot overrule them";
                self.note(line, element, Outcome::Ignored, reason);
                continue;
            }
            let actors = [a.actor.clone(), b.actor.clone()];
            let (acting, written) = (Acting::of_pair(&pair.contact), Acting::written([a, b]));
            if acting.differs_in_rows(&written) {
                let reason = "condim, torsional and rolling friction of a pair are those of its actors; only sliding friction is its own";
                self.note(line, element, Outcome::Changed, reason);
            }
            self.file.pairs.push(Pair { actors, mu: Some(acting.sliding), ..Pair::default() });
        }
    }
}

fn crossed(a: &[String], b: &[String]) -> Vec<[String; 2]> {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| [x.clone(), y.clone()]));
    pairs.filter(|[x, y]| x != y).collect()
}
