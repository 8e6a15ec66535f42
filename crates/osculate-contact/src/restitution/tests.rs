use super::*;
use osculate_math::check::{self, Law, Smoothness};

const EPS: f64 = f64::EPSILON;

struct Restitution(RestitutionLaw);
impl Law<1, 1> for Restitution {
    fn value<T: Scalar>(&self, [u]: [T; 1]) -> [T; 1] {
        [self.0.restitution(u).unwrap()]
    }
}

struct Damping(RestitutionLaw);
impl Law<2, 1> for Damping {
    fn value<T: Scalar>(&self, [e, v]: [T; 2]) -> [T; 1] {
        [self.0.damping(e, v).unwrap()]
    }
}

fn e_of(u: f64) -> f64 {
    RestitutionLaw::Exact.restitution(u).unwrap()
}

fn u_of(e: f64) -> f64 {
    RestitutionLaw::Exact.damping_number(e).unwrap()
}

#[test]
fn restitution_has_exact_first_and_second_derivatives_for_light_medium_and_heavy_damping() {
    for law in [RestitutionLaw::Exact, RestitutionLaw::Rational] {
        for u in [0.02, 0.3, 1.0, 2.9, 3.5, 4.0, 7.0, 15.0, 17.0, 60.0] {
            let regime = format!("{law:?}, u = {u}");
            let step = 1e-2 * u;
            check::gradients(&Restitution(law), &regime, [u], [step], Smoothness::Smooth, 1e-5);
        }
    }
}

#[test]
fn damping_has_exact_first_and_second_derivatives_by_restitution_and_speed() {
    for law in [RestitutionLaw::Exact, RestitutionLaw::Rational] {
        for e in [0.01_f64, 0.05, 0.08, 0.3, 0.5, 0.8, 0.97] {
            let regime = format!("{law:?}, e = {e}");
            let steps = [1e-2 * e.min(1.0 - e), 1e-2];
            check::gradients(&Damping(law), &regime, [e, 1.7], steps, Smoothness::Smooth, 1e-5);
        }
    }
}

#[test]
fn derivatives_at_no_damping_are_those_of_the_series() {
    // e = 1 − 2u/3 + 4u²/9: slope −2/3, second derivative 8/9; inverse −3/2 and 3.
    let at = |x: f64| Jet::<1, Jet<1>> { re: Jet::variable(x, 0), eps: [Jet::constant(1.0)] };
    let e = RestitutionLaw::Exact.restitution(at(0.0)).unwrap();
    let u = RestitutionLaw::Exact.damping_number(at(1.0)).unwrap();
    assert!((e.re.re - 1.0).abs() < EPS && u.re.re.abs() < EPS);
    assert!((e.eps[0].re + 2.0 / 3.0).abs() < 1e-15 && (u.eps[0].re + 1.5).abs() < 1e-15);
    assert!((e.eps[0].eps[0] - 8.0 / 9.0).abs() < 1e-14);
    assert!((u.eps[0].eps[0] - 3.0).abs() < 1e-14);
}

#[test]
fn implicit_relation_holds_where_it_can_be_evaluated() {
    for i in 1..400 {
        let u = 0.05 * f64::from(i);
        let e = e_of(u);
        let residual = u.ln_1p() - (-e * u).ln_1p() - u * (1.0 + e);
        // The logarithm magnifies the rounding of e u by 1/(1 − e u).
        let rounding = 4.0 * EPS * (u + 1.0 / (1.0 - e * u));
        assert!(residual.abs() <= rounding, "u = {u}: {residual:e}, rounding {rounding:e}");
    }
}

#[test]
fn inverse_of_forward_is_the_identity_to_rounding() {
    for i in -60..=60 {
        let u = 10f64.powf(0.1 * f64::from(i));
        let e = e_of(u);
        // Near 1 the rounding of e itself is 3ε/2 in u.
        let back = u_of(e);
        assert!((back - u).abs() <= 8.0 * EPS * (u + 1.0), "u = {u}: {back}");
        assert!((e_of(back) - e).abs() <= 4.0 * EPS * e, "u = {u}");
    }
    for i in 1..=1000 {
        let e = f64::from(i) / 1000.0;
        assert!((e_of(u_of(e)) - e).abs() <= 8.0 * EPS, "e = {e}: {}", e_of(u_of(e)));
        let rational = RestitutionLaw::Rational;
        let again = rational.restitution(rational.damping_number(e).unwrap()).unwrap();
        assert!((again - e).abs() <= 32.0 * EPS, "e = {e}: {again}");
    }
}

#[test]
fn light_damping_is_the_series_and_heavy_damping_rebounds_at_the_inverse_coefficient() {
    for u in [0.0, 5e-324, 1e-200, 1e-9, 1e-6] {
        let series = 1.0 - 2.0 * u / 3.0 + 4.0 * u * u / 9.0;
        assert!((e_of(u) - series).abs() <= EPS, "u = {u}");
    }
    // Right to rounding although 1 − e is small: the inverse series is u = 3/2 (1 − e) + 3/2 (1 − e)² + ….
    for gap in [1.0_f64, 2.0, 64.0].map(|n| n * 0.5f64.powi(40)) {
        let ratio = u_of(1.0 - gap) / gap;
        assert!((ratio - 1.5 * (1.0 + gap)).abs() < 4.0 * EPS, "{ratio}");
    }
    for u in [40.0, 1e3, 1e100, 1e300] {
        assert!((e_of(u) * u - 1.0).abs() <= EPS, "u = {u}");
    }
}

#[test]
fn asymptotic_forms_agree_with_the_solved_relation_where_they_take_over() {
    let e = exact_restitution(HEAVY);
    assert!(((-gap(HEAVY) + 1.0) / HEAVY - e).abs() <= 4.0 * EPS * e);
    let u = exact_damping_number(1.0 / HEAVY);
    assert!((heavy_damping_number(1.0 / HEAVY) - u).abs() <= 4.0 * EPS * u);
}

#[test]
fn restitution_matches_an_independent_table() {
    // Ten digits of e = [1 + W₀(−(1 + u) e^{−(1+u)})]/u, evaluated elsewhere.
    for (u, e) in [
        (0.01, 0.9933774544),
        (0.05, 0.9677385785),
        (0.1, 0.9374755799),
        (0.2, 0.8821899862),
        (0.5, 0.7484349316),
        (1.0, 0.5936242600),
        (2.0, 0.4107196861),
        (5.0, 0.1969802453),
        (10.0, 0.0999816248),
    ] {
        assert!((e_of(u) - e).abs() < 6e-11, "u = {u}: {} not {e}", e_of(u));
    }
    for (e, u) in [
        (0.9, 0.166482),
        (0.8, 0.373146),
        (0.7, 0.634828),
        (0.5, 1.432751),
        (0.3, 3.087082),
        (0.1, 9.998159),
    ] {
        assert!((u_of(e) - u).abs() < 6e-7, "e = {e}: {} not {u}", u_of(e));
    }
}

#[test]
fn rational_formula_is_within_its_stated_distance_of_the_exact_relation() {
    let mut worst = [0.0_f64; 2];
    for i in 1..2000 {
        let e = f64::from(i) / 2000.0;
        let u = RestitutionLaw::Rational.damping_number(e).unwrap();
        worst[0] = worst[0].max((u / u_of(e) - 1.0).abs());
        worst[1] = worst[1].max((e_of(u) - e).abs());
    }
    println!("rational formula: {:.2} % in c_n, {:.4} in e", worst[0] * 100.0, worst[1]);
    assert!((0.030..0.032).contains(&worst[0]) && (0.007..0.0076).contains(&worst[1]));
}

#[test]
fn restitution_falls_with_damping_and_stays_in_its_range() {
    let mut last = e_of(0.0);
    for i in -300..=3000 {
        let e = e_of(10f64.powf(0.01 * f64::from(i)));
        assert!(e > 0.0 && e < last, "not decreasing at {i}");
        last = e;
    }
}

#[test]
fn values_outside_the_ranges_are_refused_with_name_and_value() {
    for law in [RestitutionLaw::Exact, RestitutionLaw::Rational] {
        for e in [0.0, -0.1, 1.0 + 1e-12, f64::NAN, f64::INFINITY, 5e-324] {
            let error = law.damping_number(e).unwrap_err();
            assert!(matches!(error, ContactError::Parameter { parameter: "e", .. }), "{e}");
        }
        for u in [-1e-9, f64::NAN, f64::INFINITY] {
            assert!(law.restitution(u).is_err(), "{u}");
        }
        for v in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = law.damping(0.5, v).unwrap_err();
            assert!(matches!(error, ContactError::Parameter { parameter: "v", .. }), "{v}");
        }
    }
}
