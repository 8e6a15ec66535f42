//! Which pairs may touch, and with which values.

use super::build::Context;
use super::error::FileError;
use super::schema::{Pair, SceneFile};
use crate::{Override, Scene};
use osculate_contact::{ContactError, PairOverride};
use std::collections::HashSet;

/// Ordered pairs (colliding, collider) after `only` and `disable`.
pub(super) fn enabled(
    context: &Context<'_>,
    file: &SceneFile,
    scene: &Scene,
) -> Result<Vec<(usize, usize)>, FileError> {
    let disabled = ordered(context, "disable", &file.disable, scene)?;
    let disabled: HashSet<(usize, usize)> = disabled.into_iter().collect();
    let possible = scene.all_pairs();
    let Some(only) = &file.only else {
        return Ok(possible.into_iter().filter(|pair| !disabled.contains(pair)).collect());
    };
    if !file.disable.is_empty() {
        return Err(context.value("disable", "disable beside only", "one of them"));
    }
    let pairs = ordered(context, "only", only, scene)?;
    let possible: HashSet<(usize, usize)> = possible.into_iter().collect();
    for (i, pair) in pairs.iter().enumerate() {
        if !possible.contains(pair) {
            let found = format!("{:?}", only[i]);
            let allowed = "[colliding, collider]: the first with samples, the second with a collider, \
                           not both static";
            return Err(context.value(&format!("only[{i}]"), found, allowed));
        }
    }
    Ok(pairs)
}

fn ordered(
    context: &Context<'_>,
    list: &str,
    names: &[[String; 2]],
    scene: &Scene,
) -> Result<Vec<(usize, usize)>, FileError> {
    let (mut seen, mut pairs) = (HashSet::new(), Vec::with_capacity(names.len()));
    for (i, [colliding, collider]) in names.iter().enumerate() {
        let field = format!("{list}[{i}]");
        let a = context.actor(&format!("{field}[0]"), colliding, scene)?;
        let b = context.actor(&format!("{field}[1]"), collider, scene)?;
        if a == b || !seen.insert((a, b)) {
            let allowed = "two actors, every ordered pair once";
            return Err(context.value(&field, format!("{:?}", names[i]), allowed));
        }
        pairs.push((a, b));
    }
    Ok(pairs)
}

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
