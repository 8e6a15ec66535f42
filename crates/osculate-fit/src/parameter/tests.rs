use super::*;

fn parameter(scale: Scale) -> FreeParameter {
    FreeParameter::new("cube.mu", scale, [0.05, 2.0])
}

#[test]
fn coordinates_invert_and_slope_is_the_derivative() {
    for scale in [Scale::Linear, Scale::Log, Scale::Bounded] {
        let p = parameter(scale);
        for value in [0.06, 0.3, 1.0, 1.9] {
            let u = p.to_coordinate(value);
            assert!((p.to_value(u) - value).abs() < 1e-12);
            let h = 1e-5;
            let slope = (p.to_value(u + h) - p.to_value(u - h)) / (2.0 * h);
            assert!((slope - p.slope(u)).abs() < 1e-8 * slope.abs().max(1.0));
        }
    }
}

#[test]
fn bounded_scale_never_leaves_its_range() {
    let p = parameter(Scale::Bounded);
    for u in [-1e3, -20.0, 0.0, 20.0, 1e3] {
        let x = p.to_value(u);
        assert!((0.05..=2.0).contains(&x));
    }
}

/// A search ended at a negative mass and called it the best.
#[test]
fn ranges_hold_what_a_scene_refuses_and_no_more() {
    let names = osculate_contact::params::ACTOR_SYMBOLS;
    for (i, name) in names.iter().enumerate() {
        for x in [-1.5, -0.5, -1e-9, 0.0, 1e-9, 0.5, 1.5] {
            let mut values = osculate_contact::ContactParams::default().to_array();
            values[i] = x;
            let scene = osculate_contact::ContactParams::from_array(values, true).validate();
            let found = meaningful(&format!("cube.{name}")).is_none_or(|(ok, _)| ok(x));
            assert_eq!(found, scene.is_ok(), "{name} = {x}");
        }
    }
    let mut mass = parameter(Scale::Linear);
    (mass.path, mass.range) = ("cube.mass".into(), [-3.0, -1.0]);
    let error = mass.validate().unwrap_err().to_string();
    assert!(error.contains("cube.mass") && error.contains("> 0"), "{error}");
}

#[test]
fn wrong_ranges_are_refused_with_path_and_numbers() {
    let mut p = parameter(Scale::Log);
    p.range = [0.0, 1.0];
    assert!(matches!(p.validate(), Err(ParameterError::Range { field: "range", .. })));
    p.range = [1.0, 0.5];
    assert!(p.validate().is_err());
    p.range = [0.1, 0.5];
    p.start = Some([0.05, 0.2]);
    let error = p.validate().unwrap_err().to_string();
    assert!(error.contains("cube.mu") && error.contains("start"), "{error}");
}
