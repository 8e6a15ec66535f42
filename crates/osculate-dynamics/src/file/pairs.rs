//! Values that replace the combined ones of a pair.

use super::build::Context;
use super::error::FileError;
use super::schema::Pair;
use crate::{Override, Scene};
use osculate_contact::{ContactError, PairOverride};
use std::collections::HashSet;

/// `[[pair]]`.
pub(super) fn overrides(
    context: &Context<'_>,
    pairs: &[Pair],
    scene: &Scene,
) -> Result<Vec<Override>, FileError> {
    let (mut seen, mut found) = (HashSet::new(), Vec::with_capacity(pairs.len()));
    for (i, pair) in pairs.iter().enumerate() {
        let at = format!("pair[{i}]");
        let a = context.actor(&format!("{at}.actors[0]"), &pair.actors[0], scene)?;
        let b = context.actor(&format!("{at}.actors[1]"), &pair.actors[1], scene)?;
        if a == b || !seen.insert((a.min(b), a.max(b))) {
            let allowed = "two actors, every pair once in either order";
            let names = format!("{:?}", pair.actors);
            return Err(context.value(&format!("{at}.actors"), names, allowed));
        }
        let values = PairOverride::from_array([pair.k, pair.v_f, pair.c_t, pair.mu, pair.c_n]);
        if values == PairOverride::default() {
            return Err(context.value(&at, "no value", "at least one of k, v_f, c_t, mu, c_n"));
        }
        values.validate().map_err(|source| {
            let name = match &source {
                ContactError::Parameter { parameter, .. } => parameter,
                _ => "",
            };
            FileError::Contact { place: context.source.place(&format!("{at}.{name}")), source }
        })?;
        found.push(Override { bodies: [a, b], values });
    }
    Ok(found)
}
