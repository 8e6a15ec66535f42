//! Which actors are allowed to touch.

use super::build::Context;
use super::error::FileError;
use super::schema::{FilterRule, SceneFile};
use crate::Scene;
use osculate_geometry::filter::{Direction, FilterError, Nested};
use std::collections::HashSet;

/// Applies layers, nesting, `only`, `disable` and `[[filter]]` to the filter of the scene, in this order;
/// adjacent links are separated before `only` and `disable`.
pub(super) fn apply(
    context: &Context<'_>,
    file: &SceneFile,
    scene: &mut Scene,
) -> Result<(), FileError> {
    layers_and_parents(context, file, scene)?;
    if let Some(articulation) = &scene.articulation {
        let separated = articulation.separate_adjacent(&mut scene.filter);
        separated.map_err(|source| context.scene("joint", source.into()))?;
    }
    only_and_disable(context, file, scene)?;
    for (i, rule) in file.filters.iter().enumerate() {
        apply_rule(context, rule, &format!("filter[{i}]"), scene)?;
    }
    Ok(())
}

fn layers_and_parents(
    context: &Context<'_>,
    file: &SceneFile,
    scene: &mut Scene,
) -> Result<(), FileError> {
    for (i, actor) in file.actors.iter().enumerate() {
        if let Some(layer) = &actor.layer {
            let field = format!("actor[{i}].layer");
            if layer.is_empty() {
                return Err(context.value(&field, "\"\"", "a name"));
            }
            let set = scene.filter.set_layer(i, layer.as_str());
            set.map_err(|source| refuse(context, &field, &source))?;
        }
        if let Some(parent) = &actor.parent {
            let field = format!("actor[{i}].parent");
            let parent = context.actor(&field, parent, scene)?;
            let nest = scene.filter.nest(i, parent);
            nest.map_err(|source| refuse(context, &field, &source))?;
        }
    }
    Ok(())
}

fn refuse(context: &Context<'_>, field: &str, source: &FilterError) -> FileError {
    match source {
        FilterError::UnknownLayer { name, known } => context.value(
            field,
            format!("layer '{name}', which no actor is on"),
            format!("a layer with actors, there are: {known}"),
        ),
        FilterError::NestedInItself { .. } => {
            context.value(field, source, "an actor that is not nested in this one")
        }
        _ => context.value(field, source, "layers and actors of the scene"),
    }
}

fn apply_rule(
    context: &Context<'_>,
    rule: &FilterRule,
    at: &str,
    scene: &mut Scene,
) -> Result<(), FileError> {
    let direction = if rule.one_way { Direction::OneWay } else { Direction::Both };
    let set = match (&rule.layers, &rule.actors) {
        (Some([a, b]), None) if !rule.nested => {
            scene.filter.enable_layers(a, b, rule.enable, direction)
        }
        (None, Some([a, b])) => {
            let a = context.actor(&format!("{at}.actors[0]"), a, scene)?;
            let b = context.actor(&format!("{at}.actors[1]"), b, scene)?;
            let nested = if rule.nested { Nested::Yes } else { Nested::No };
            scene.filter.enable_actors((a, b), rule.enable, direction, nested)
        }
        (Some(_), None) => {
            let allowed = "false beside layers: a layer has no nested actors";
            return Err(context.value(&format!("{at}.nested"), "true", allowed));
        }
        (layers, _) => {
            let found = if layers.is_some() { "layers and actors" } else { "neither" };
            return Err(context.value(at, found, "either layers or actors"));
        }
    };
    set.map_err(|source| refuse(context, at, &source))
}

fn only_and_disable(
    context: &Context<'_>,
    file: &SceneFile,
    scene: &mut Scene,
) -> Result<(), FileError> {
    let disabled = ordered(context, "disable", &file.disable, scene)?;
    let Some(only) = &file.only else {
        for pair in disabled {
            let set = scene.filter.enable_actors(pair, false, Direction::OneWay, Nested::No);
            set.map_err(|source| refuse(context, "disable", &source))?;
        }
        return Ok(());
    };
    if !file.disable.is_empty() {
        return Err(context.value("disable", "disable beside only", "one of them"));
    }
    let pairs = ordered(context, "only", only, scene)?;
    for (i, &(a, b)) in pairs.iter().enumerate() {
        if !scene.has_roles(a, b) {
            let found = format!("{:?}", only[i]);
            let allowed = "[colliding, collider]: the first with samples, the second with a collider, \
                           not both static";
            return Err(context.value(&format!("only[{i}]"), found, allowed));
        }
    }
    let set = scene.filter.allow_only(pairs);
    set.map_err(|source| refuse(context, "only", &source))
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
