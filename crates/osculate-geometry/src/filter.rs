//! Which ordered pairs of actors are allowed to touch: layers, actor pairs, nested actors.
//!
//! An ordered pair (colliding, collider) is allowed iff its *layers* are enabled and the *actors* are: an actor setting
//! cannot enable again what a layer setting disabled. Later settings replace earlier ones. Everything is enabled at first.
//!
//! After the section *Contact Filtering* of the contact page of the SuperDex Physics documentation (CC-BY-4.0).

use std::collections::BTreeSet;

/// Layer of an actor that names none.
pub const DEFAULT_LAYER: &str = "default";

/// Whether a setting for two actors reaches the actors nested in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Nested {
    /// Exactly the two actors.
    #[default]
    No,
    /// Every ordered pair of the cross product of the two sets *actor and all that is nested in it*. Where the sets overlap,
    /// their pairs are affected too, an actor with itself included.
    Yes,
}

/// Whether a setting holds for the reverse direction too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    /// The first as colliding, the second as collider.
    OneWay,
    /// Both directions.
    #[default]
    Both,
}

/// Why a filter setting was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// No actor is on a layer.
    #[error("no actor is on layer '{name}'; there are: {known}")]
    UnknownLayer {
        /// The name found.
        name: String,
        /// The layers there are.
        known: String,
    },
    /// There are fewer actors.
    #[error("actor {index} does not exist, there are {actors}")]
    UnknownActor {
        /// The index found.
        index: usize,
        /// How many there are.
        actors: usize,
    },
    /// An actor would be nested in itself.
    #[error("actor {index} would be nested in itself")]
    NestedInItself {
        /// The actor.
        index: usize,
    },
}

/// Layers, gates and nesting of the actors of a scene, by index.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ContactFilter {
    layers: Vec<String>,
    parents: Vec<Option<usize>>,
    /// Ordered pairs of layers that are disabled.
    layers_off: BTreeSet<(String, String)>,
    /// Ordered pairs of actors that are disabled.
    actors_off: BTreeSet<(usize, usize)>,
    /// If given, the only ordered pairs of actors that are enabled.
    only: Option<BTreeSet<(usize, usize)>>,
}

impl ContactFilter {
    /// `actors` actors on the default layer, none nested, everything enabled.
    pub fn new(actors: usize) -> Self {
        Self {
            layers: vec![DEFAULT_LAYER.into(); actors],
            parents: vec![None; actors],
            ..Self::default()
        }
    }

    /// How many actors there are.
    pub fn actors(&self) -> usize {
        self.layers.len()
    }

    /// Layer of an actor; the default layer for an actor that does not exist.
    pub fn layer(&self, actor: usize) -> &str {
        self.layers.get(actor).map_or(DEFAULT_LAYER, String::as_str)
    }

    /// Puts an actor on a layer. Settings of layers follow the name, not the actor.
    ///
    /// # Errors
    /// Where the actor does not exist.
    pub fn set_layer(&mut self, actor: usize, layer: impl Into<String>) -> Result<(), FilterError> {
        self.check(actor)?;
        self.layers[actor] = layer.into();
        Ok(())
    }

    /// Nests an actor in another.
    ///
    /// # Errors
    /// Where an actor does not exist or the nesting would have no root.
    pub fn nest(&mut self, actor: usize, parent: usize) -> Result<(), FilterError> {
        self.check(actor)?;
        self.check(parent)?;
        let mut ancestor = Some(parent);
        while let Some(a) = ancestor {
            if a == actor {
                return Err(FilterError::NestedInItself { index: actor });
            }
            ancestor = self.parents[a];
        }
        self.parents[actor] = Some(parent);
        Ok(())
    }

    /// Enables or disables contact of the actors on a layer (colliding) with those on another (collider).
    ///
    /// # Errors
    /// Where no actor is on a layer.
    pub fn enable_layers(
        &mut self,
        colliding: &str,
        collider: &str,
        enable: bool,
        direction: Direction,
    ) -> Result<(), FilterError> {
        for name in [colliding, collider] {
            if !self.layers.iter().any(|l| l == name) {
                let known: BTreeSet<&str> = self.layers.iter().map(String::as_str).collect();
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                return Err(FilterError::UnknownLayer { name: name.into(), known });
            }
        }
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        set(&mut self.layers_off, pair(colliding, collider), enable);
        if direction == Direction::Both {
            set(&mut self.layers_off, pair(collider, colliding), enable);
        }
        Ok(())
    }

    /// Enables or disables contact of an actor (colliding) with another (collider).
    ///
    /// # Errors
    /// Where an actor does not exist.
    pub fn enable_actors(
        &mut self,
        (colliding, collider): (usize, usize),
        enable: bool,
        direction: Direction,
        nested: Nested,
    ) -> Result<(), FilterError> {
        self.check(colliding)?;
        self.check(collider)?;
        let colliders = self.resolve(collider, nested);
        for a in self.resolve(colliding, nested) {
            for &b in &colliders {
                set(&mut self.actors_off, (a, b), enable);
                if direction == Direction::Both {
                    set(&mut self.actors_off, (b, a), enable);
                }
            }
        }
        Ok(())
    }

    /// Disables every ordered pair of actors but these.
    ///
    /// # Errors
    /// Where an actor does not exist.
    pub fn allow_only(
        &mut self,
        pairs: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<(), FilterError> {
        let pairs: BTreeSet<_> = pairs.into_iter().collect();
        pairs.iter().try_for_each(|&(a, b)| self.check(a).and_then(|()| self.check(b)))?;
        self.only = Some(pairs);
        Ok(())
    }

    /// Whether an ordered pair is allowed to touch.
    pub fn allows(&self, colliding: usize, collider: usize) -> bool {
        let pair = (colliding, collider);
        // A search of the set would have to copy the names: pairs are asked for in every stage.
        let layers = [colliding, collider].map(|a| self.layer(a));
        let off = |(a, b): &(String, String)| [a.as_str(), b.as_str()] == layers;
        !self.layers_off.iter().any(off)
            && !self.actors_off.contains(&pair)
            && self.only.as_ref().is_none_or(|only| only.contains(&pair))
    }

    fn check(&self, index: usize) -> Result<(), FilterError> {
        if index < self.actors() {
            Ok(())
        } else {
            Err(FilterError::UnknownActor { index, actors: self.actors() })
        }
    }

    /// An actor, with what is nested in it where asked.
    fn resolve(&self, actor: usize, nested: Nested) -> Vec<usize> {
        if nested == Nested::No {
            return vec![actor];
        }
        let inside = |mut a: usize| loop {
            if a == actor {
                return true;
            }
            match self.parents[a] {
                Some(parent) => a = parent,
                None => return false,
            }
        };
        (0..self.actors()).filter(|&a| inside(a)).collect()
    }
}

fn set<P: Ord>(off: &mut BTreeSet<P>, pair: P, enable: bool) {
    if enable {
        off.remove(&pair);
    } else {
        off.insert(pair);
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
