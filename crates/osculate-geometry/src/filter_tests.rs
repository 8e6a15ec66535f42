//! One test a sentence of the page's section *Contact Filtering*.

use super::*;

/// Two links of an arm (0: arm, 1 and 2 nested in it), and a box (3).
fn arm_and_box() -> ContactFilter {
    let mut filter = ContactFilter::new(4);
    filter.nest(1, 0).unwrap();
    filter.nest(2, 0).unwrap();
    filter
}

fn on_layers() -> ContactFilter {
    let mut filter = ContactFilter::new(3);
    for (actor, layer) in ["hand", "object", "table"].into_iter().enumerate() {
        filter.set_layer(actor, layer).unwrap();
    }
    filter
}

fn disabled(filter: &ContactFilter) -> Vec<(usize, usize)> {
    let n = filter.actors();
    let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
    all.filter(|&(a, b)| !filter.allows(a, b)).collect()
}

#[test]
fn every_ordered_interaction_is_eligible_at_first() {
    assert!(disabled(&arm_and_box()).is_empty());
}

#[test]
fn each_actor_has_a_layer_of_any_name_that_can_be_changed() {
    let mut filter = on_layers();
    filter.enable_layers("hand", "object", false, Direction::Both).unwrap();
    assert!(!filter.allows(0, 1));
    filter.set_layer(1, "an object, put down").unwrap();
    assert_eq!(filter.layer(1), "an object, put down");
    assert!(filter.allows(0, 1), "the setting belongs to the layer it named");
}

#[test]
fn asymmetric_layer_setting_does_not_change_the_reverse_direction() {
    let mut filter = on_layers();
    filter.enable_layers("hand", "object", false, Direction::OneWay).unwrap();
    assert_eq!(disabled(&filter), [(0, 1)]);
}

#[test]
fn symmetric_layer_setting_applies_to_both_directions() {
    let mut filter = on_layers();
    filter.enable_layers("hand", "object", false, Direction::Both).unwrap();
    assert_eq!(disabled(&filter), [(0, 1), (1, 0)]);
}

#[test]
fn layer_with_itself_gates_the_actors_that_share_it() {
    let mut filter = ContactFilter::new(2);
    filter.enable_layers(DEFAULT_LAYER, DEFAULT_LAYER, false, Direction::OneWay).unwrap();
    assert_eq!(disabled(&filter), [(0, 0), (0, 1), (1, 0), (1, 1)]);
}

#[test]
fn asymmetric_actor_setting_gates_the_ordered_pair_only() {
    let mut filter = arm_and_box();
    filter.enable_actors((1, 3), false, Direction::OneWay, Nested::No).unwrap();
    assert_eq!(disabled(&filter), [(1, 3)]);
}

#[test]
fn symmetric_actor_setting_gates_both_directions() {
    let mut filter = arm_and_box();
    filter.enable_actors((1, 3), false, Direction::Both, Nested::No).unwrap();
    assert_eq!(disabled(&filter), [(1, 3), (3, 1)]);
}

#[test]
fn both_gates_must_be_enabled_and_an_actor_setting_cannot_enable_a_disabled_layer_again() {
    let mut filter = on_layers();
    filter.enable_layers("hand", "object", false, Direction::Both).unwrap();
    filter.enable_actors((0, 1), true, Direction::Both, Nested::Yes).unwrap();
    assert!(!filter.allows(0, 1) && !filter.allows(1, 0));
    filter.enable_actors((0, 1), false, Direction::Both, Nested::No).unwrap();
    filter.enable_layers("hand", "object", true, Direction::Both).unwrap();
    assert!(!filter.allows(0, 1), "the layer alone does not enable it either");
    filter.enable_actors((0, 1), true, Direction::Both, Nested::No).unwrap();
    assert!(filter.allows(0, 1));
}

#[test]
fn without_nested_actors_exactly_the_handles_passed_are_affected() {
    let mut filter = arm_and_box();
    filter.enable_actors((0, 3), false, Direction::Both, Nested::No).unwrap();
    assert_eq!(disabled(&filter), [(0, 3), (3, 0)]);
}

#[test]
fn with_nested_actors_every_pair_of_the_cross_product_is_affected_and_no_other() {
    let mut filter = arm_and_box();
    filter.enable_actors((0, 3), false, Direction::OneWay, Nested::Yes).unwrap();
    assert_eq!(disabled(&filter), [(0, 3), (1, 3), (2, 3)]);
    filter.enable_actors((3, 0), false, Direction::OneWay, Nested::Yes).unwrap();
    assert_eq!(disabled(&filter), [(0, 3), (1, 3), (2, 3), (3, 0), (3, 1), (3, 2)]);
}

#[test]
fn nesting_reaches_all_levels() {
    let mut filter = arm_and_box();
    filter.nest(3, 2).unwrap();
    filter.enable_actors((0, 3), false, Direction::OneWay, Nested::Yes).unwrap();
    assert_eq!(disabled(&filter), [(0, 3), (1, 3), (2, 3), (3, 3)]);
}

#[test]
fn where_the_sets_overlap_their_pairs_are_affected_self_pairs_included() {
    let mut filter = arm_and_box();
    filter.enable_actors((0, 1), false, Direction::OneWay, Nested::Yes).unwrap();
    assert_eq!(disabled(&filter), [(0, 1), (1, 1), (2, 1)]);
}

#[test]
fn parent_with_itself_enables_its_nested_actors_adjacent_ones_too_until_a_later_setting() {
    let mut filter = arm_and_box();
    // What an articulated body does by itself for adjacent links.
    filter.enable_actors((1, 2), false, Direction::Both, Nested::No).unwrap();
    filter.enable_actors((0, 0), true, Direction::Both, Nested::Yes).unwrap();
    assert!(filter.allows(1, 2) && filter.allows(2, 1));
    filter.enable_actors((1, 2), false, Direction::OneWay, Nested::No).unwrap();
    assert_eq!(disabled(&filter), [(1, 2)]);
}

#[test]
fn listed_pairs_are_the_only_ones_and_gates_still_hold() {
    let mut filter = arm_and_box();
    filter.allow_only([(1, 3), (2, 3)]).unwrap();
    filter.enable_actors((2, 3), false, Direction::OneWay, Nested::No).unwrap();
    assert_eq!(disabled(&filter).len(), 15);
    assert!(filter.allows(1, 3));
}

#[test]
fn unknown_names_and_circular_nesting_are_refused() {
    let mut filter = arm_and_box();
    let unknown = filter.enable_layers("defalt", DEFAULT_LAYER, true, Direction::Both);
    let message = unknown.unwrap_err().to_string();
    assert!(message.contains("defalt") && message.contains(DEFAULT_LAYER), "{message}");
    let missing = FilterError::UnknownActor { index: 4, actors: 4 };
    assert_eq!(filter.set_layer(4, "x").unwrap_err(), missing);
    assert_eq!(
        filter.enable_actors((0, 4), true, Direction::Both, Nested::No).unwrap_err(),
        missing
    );
    assert_eq!(filter.allow_only([(4, 0)]).unwrap_err(), missing);
    assert_eq!(filter.nest(0, 2).unwrap_err(), FilterError::NestedInItself { index: 0 });
}
