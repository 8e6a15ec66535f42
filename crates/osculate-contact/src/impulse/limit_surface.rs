//! Friction of a uniformly loaded disk that slides and spins: the true limit surface.
//!
//! ```text
//! dissipation    D(v, ω) = c · mean over the disk of ‖v + ω n × x‖,   c = μ r_N,  radius R
//! friction       (f, τ) = −∇D
//! V = ‖v‖, W = R|ω|:  the mean distance to the centre of rotation, at V/W radii from that of the disk
//! inside,  m = V²/W² ≤ 1:   D = c W h(m),   f = −c v H(m)/W,          τ = −c R sgn ω (h − m H),   H = 2 h′
//! outside, p = W²/V² < 1:   D = c V k(p),   f = −c v (k − 2 p k′)/V,  τ = −c R (Rω/V) 2 k′
//! h = 4/(9π) [(7 + m) E − 4 (1 − m) K]        H  = 4/(3π) [(1 + m) E − (1 − m) K]/m
//! k = 4/(9π) [(7p + 1) E − (1 − p)(1 + 3p) K]/p,   k′ = 4/(9π) [(2p − 1) E + (1 − p)(1 − 3p/2) K]/p²
//! ```
//!
//! `K`, `E` are the complete elliptic integrals of the parameter m or p. Series replace the quotients where they cancel. The surface runs
//! from `(1, 0)` c, pure sliding, to `(0, 2R/3)` c, pure spin. It is twice differentiable; on the rim (`V = W`) second derivatives of friction are
//! infinite.
//!
//! Where others use a quadrature over the disk this is its limit; the tests compare the two.
//! The linear budget of [`torsion`](super::torsion) lies far inside of it; it reaches at least 0.934 of the ellipsoid of
//! [`elliptic`](super::elliptic).
//! Sources: Goyal, Ruina and Papadopoulos 1991, <https://doi.org/10.1016/0043-1648(91)90104-3>, for limit surfaces; integrals of Jacobi's kind derived here.

use nalgebra::{Matrix3, Vector2, Vector3};
use osculate_math::{Jet, Scalar};
use std::f64::consts::{FRAC_PI_2, PI};

/// Terms of the series: below [`SERIES_BELOW`] what is left out is under 10⁻¹⁷.
const TERMS: usize = 32;

/// Parameter below which quotients are summed.
const SERIES_BELOW: f64 = 0.3;

/// Coefficients of `2E/π` and of `2[E − (1 − m)K]/π`.
const COEFFICIENTS: ([f64; TERMS], [f64; TERMS]) = {
    let (mut e, mut q) = ([0.0; TERMS], [0.0; TERMS]);
    let (mut n, mut a, mut before) = (0, 1.0, 0.0);
    while n < TERMS {
        let x = n as f64;
        e[n] = a / (1.0 - 2.0 * x);
        q[n] = e[n] - a + before;
        before = a;
        let ratio = (2.0 * x + 1.0) / (2.0 * x + 2.0);
        a *= ratio * ratio;
        n += 1;
    }
    (e, q)
};

/// `(1 − m) K(m)`, `K(m)` and `E(m)` of the parameter `m < 1` with its complement `1 − m`, by the arithmetic-geometric mean.
fn elliptic(m: f64, complement: f64) -> (f64, f64, f64) {
    if complement < 1e-300 {
        return (0.0, f64::INFINITY, 1.0);
    }
    let (mut a, mut b, mut sum, mut power) = (1.0, complement.sqrt(), 0.5 * m, 0.5);
    // Quadratic once a and b are of one size; a complement of 1e-300 takes nine rounds to get there.
    for _ in 0..16 {
        let c = 0.5 * (a - b);
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        power *= 2.0;
        sum += power * c * c;
        if c.abs() <= 1e-9 * a {
            break;
        }
    }
    let k = FRAC_PI_2 / a;
    (complement * k, k, k * (1.0 - sum))
}

/// A function of one variable with its first two derivatives.
type Taylor = [f64; 3];

/// The value at `x`, exact in two orders of derivatives: those of `f` at its real part.
fn expand<T: Scalar>([value, first, second]: Taylor, x: T) -> T {
    let change = x - x.re();
    // Exactly on the rim the second derivative is infinite: first derivatives stay what they are.
    let second = if second.is_finite() { second } else { 0.0 };
    (change * (0.5 * second) + first) * change + value
}

/// `Σ cₙ x^{n − s}/(n + 1)` from n = s, and two derivatives.
fn series(coefficients: &[f64; TERMS], shift: usize, x: f64) -> Taylor {
    let mut t = [0.0; 3];
    for n in (shift..TERMS).rev() {
        let c = coefficients[n] / (n as f64 + 1.0);
        t = [t[0] * x + c, t[1] * x + t[0], t[2] * x + 2.0 * t[1]];
    }
    t
}

/// `H(m)`.
fn inside(m: f64, complement: f64) -> Taylor {
    if m < SERIES_BELOW {
        return series(&COEFFICIENTS.0, 0, m);
    }
    let (kk, k, e) = elliptic(m, complement);
    let f = 4.0 / (3.0 * PI * m);
    let first = (0.5 * m - 1.0) * e + kk;
    let second = (2.0 - 0.25 * m) * e + (1.25 * m - 2.0) * k;
    [f * ((1.0 + m) * e - kk), f * first / m, f * second / (m * m)]
}

/// `h(m) − m H(m)`: the torque of a unit disk.
fn inside_torque(m: f64, complement: f64) -> Taylor {
    let (kk, _, e) = elliptic(m, complement);
    let [v, first, second] = inside(m, complement);
    let h = 4.0 / (9.0 * PI) * ((7.0 + m) * e - 4.0 * kk);
    [h - m * v, -0.5 * v - m * first, -1.5 * first - m * second]
}

/// `k′(p)`.
fn outside(p: f64, complement: f64) -> Taylor {
    if p < SERIES_BELOW {
        return series(&COEFFICIENTS.1, 1, p).map(|x| 0.5 * x);
    }
    let (kk, k, e) = elliptic(p, complement);
    let f = 4.0 / (9.0 * PI * p * p);
    let first = (2.0 - 1.75 * p) * e + (0.75 * p - 2.0) * kk;
    let slope = -2.25 * e + (2.25 - 1.125 * p) * k;
    [
        f * ((2.0 * p - 1.0) * e + (1.0 - 1.5 * p) * kk),
        f * first / p,
        f * (p * slope - 3.0 * first) / (p * p),
    ]
}

/// `k(p) − 2 p k′(p)`: the force of a unit disk.
fn outside_force(p: f64, complement: f64) -> Taylor {
    let [first, second, third] = outside(p, complement);
    let k = if p < SERIES_BELOW {
        // 1 + ∫k′
        let terms = COEFFICIENTS.1.iter().enumerate().skip(1).rev();
        let sum = terms.fold(0.0, |sum, (n, q)| sum * p + 0.5 * q / ((n as f64 + 1.0) * n as f64));
        1.0 + p * sum
    } else {
        let (kk, _, e) = elliptic(p, complement);
        4.0 / (9.0 * PI * p) * ((7.0 * p + 1.0) * e - (1.0 + 3.0 * p) * kk)
    };
    [k - 2.0 * p * first, -first - 2.0 * p * second, -3.0 * second - 2.0 * p * third]
}

/// `∇D/c` of the unit disk at `(v_x, v_y, Rω)`, not all zero: friction of unit strength, with its sign turned.
///
/// Generic: exact to two orders of derivatives, so that its own derivative is the Hessian of the dissipation.
pub fn gradient<T: Scalar>(u: &Vector3<T>) -> Vector3<T> {
    let (slide, spin) = (u.x * u.x + u.y * u.y, u.z * u.z);
    if slide <= spin {
        let m = slide / spin;
        let complement = ((spin - slide) / spin).re();
        let rate = spin.sqrt();
        let force = expand(inside(m.re(), complement), m) / rate;
        let torque = expand(inside_torque(m.re(), complement), m);
        let torque = if u.z > 0.0 { torque } else { -torque };
        return Vector3::new(u.x * force, u.y * force, torque);
    }
    let p = spin / slide;
    let complement = ((slide - spin) / slide).re();
    let speed = slide.sqrt();
    let force = expand(outside_force(p.re(), complement), p) / speed;
    let torque = expand(outside(p.re(), complement), p) * 2.0 / speed;
    Vector3::new(u.x * force, u.y * force, u.z * torque)
}

/// `∇²D/c` of the unit disk at the slip `u`: how friction turns with the slip. Its null vector is `u`.
pub fn hessian(u: &Vector3<f64>) -> Matrix3<f64> {
    let seeded = Vector3::from_fn(|i, _| Jet::<3>::variable(u[i], i));
    let g = gradient(&seeded);
    Matrix3::from_fn(|i, j| g[i].eps[j])
}

/// The unit slip whose friction is parallel to `load`, and `‖load‖` over that friction: by how much the surface must grow to pass
/// through `load`.
///
/// The angle of slip turns monotonically with that of friction: the surface is convex.
pub fn ray(load: &Vector3<f64>) -> (Vector3<f64>, f64) {
    let slide = load.x.hypot(load.y);
    let spin = load.z.abs();
    let at = |angle: f64| {
        let g = gradient(&Vector3::new(angle.sin(), 0.0, angle.cos()));
        (g, g.x * spin - g.z * slide)
    };
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    while high - low > 2.0 * f64::EPSILON {
        let middle = 0.5 * (low + high);
        if at(middle).1 < 0.0 { low = middle } else { high = middle }
    }
    let angle = 0.5 * (low + high);
    let (g, _) = at(angle);
    let along = if slide > 0.0 { load.xy() / slide } else { Vector2::zeros() };
    let sine = if slide > 0.0 { angle.sin() } else { 0.0 };
    let cosine = if spin > 0.0 { angle.cos() } else { 0.0 };
    let direction = Vector3::new(along.x * sine, along.y * sine, load.z.signum() * cosine);
    (direction, slide.hypot(spin) / g.x.hypot(g.z))
}

/// The largest force of the unit disk beside a torque \[–\]: what spin leaves to sliding.
///
/// * `torque`: part of `c R`; from 2/3 on, pure spin, there is none.
///
/// A number to judge a patch by; no derivative is taken of it.
pub fn force_beside(torque: f64) -> f64 {
    let at = |angle: f64| gradient(&Vector3::new(angle.sin(), 0.0, angle.cos()));
    // The torque falls with the angle of slip: the surface is convex.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    while high - low > 2.0 * f64::EPSILON {
        let middle = 0.5 * (low + high);
        if at(middle).z > torque.abs() { low = middle } else { high = middle }
    }
    at(0.5 * (low + high)).x
}

#[cfg(test)]
mod tests {
    use super::*;
    use osculate_math::check::{self, Law, Smoothness};

    struct Gradient;
    impl Law<3, 3> for Gradient {
        fn value<T: Scalar>(&self, x: [T; 3]) -> [T; 3] {
            gradient(&Vector3::from(x)).into()
        }
    }

    /// Mean of `‖v + ω n × x‖` over the unit disk, by rings and spokes.
    fn by_quadrature(u: &Vector3<f64>, rings: usize, spokes: usize) -> f64 {
        let mut sum = 0.0;
        for i in 0..rings {
            let r = (i as f64 + 0.5) / rings as f64;
            for j in 0..spokes {
                let angle = (j as f64 + 0.5) * std::f64::consts::TAU / spokes as f64;
                let (y, x) = angle.sin_cos();
                sum += r * (u.x - u.z * r * y).hypot(u.y + u.z * r * x);
            }
        }
        sum * 2.0 / (rings * spokes) as f64
    }

    #[test]
    fn dissipation_is_the_mean_speed_over_the_disk() {
        for u in [
            [0.3, 0.4, 1.0],
            [0.7, -0.2, 0.5],
            [0.02, 0.01, -1.0],
            [0.6, 0.8, 1.0],
            [1.0, 0.0, 1e-3],
        ] {
            let u = Vector3::from(u);
            // Euler: D is homogeneous of degree one.
            let exact = gradient(&u).dot(&u);
            let summed = by_quadrature(&u, 400, 400);
            assert!((exact - summed).abs() <= 2e-5 * exact, "{u}: {exact} {summed}");
        }
    }

    #[test]
    fn force_and_torque_follow_the_measured_table() {
        // (V/(R ω), F/(μ N), τ/(2/3 μ N R)), measured before by quadrature.
        for (ratio, force, torque) in [
            (0.1_f64, 0.0999, 0.9925),
            (0.3, 0.2966, 0.9337),
            (0.653, 0.6160, 0.7075),
            (1.0, 0.8488, 0.4244),
            (2.0, 0.9677, 0.1917),
        ] {
            let g: Vector3<f64> = gradient(&Vector3::new(ratio, 0.0, 1.0));
            println!("{ratio}: F {:.5}, torque {:.5}", g.x, 1.5 * g.z);
            assert!(
                (g.x - force).abs() <= 6e-5 && (1.5 * g.z - torque).abs() <= 6e-5,
                "{ratio}: {g}"
            );
        }
    }

    #[test]
    fn limits_are_pure_sliding_pure_spin_and_the_rim() {
        assert!(
            (gradient(&Vector3::new(0.6, -0.8, 0.0)) - Vector3::new(0.6, -0.8, 0.0)).norm()
                <= 1e-15
        );
        assert!(
            (gradient(&Vector3::new(0.0, 0.0, -3.0)) - Vector3::new(0.0, 0.0, -2.0 / 3.0)).norm()
                <= 1e-15
        );
        // On the rim E = 1 and (1 − m) K = 0: F = 8/(3π), τ = 8/(9π), from both sides.
        let rim = Vector3::new(24.0, 0.0, 8.0) / (9.0 * PI);
        for change in [-1e-14, 0.0, 1e-14] {
            let g = gradient(&Vector3::new(1.0 + change, 0.0, 1.0));
            assert!((g - rim).norm() <= 1e-12, "{change}: {g}");
        }
    }

    #[test]
    fn friction_has_exact_derivatives_inside_outside_and_in_the_limits() {
        for (regime, u) in [
            ("spin", [0.0, 0.0, 1.0]),
            ("slow slide", [0.1, -0.05, -1.0]),
            ("inside", [0.5, 0.4, 1.0]),
            ("near the rim, inside", [0.85, 0.3, 1.0]),
            ("near the rim, outside", [1.0, 0.3, 0.9]),
            ("outside", [0.9, -0.8, 0.7]),
            ("slow spin", [1.0, 0.5, 0.05]),
            ("slide", [0.6, 0.8, 0.0]),
        ] {
            check::gradients(&Gradient, regime, u, [2e-3; 3], Smoothness::Smooth, 1e-5);
        }
        check::gradients(&Gradient, "rim", [1.0, 0.0, 1.0], [1e-3; 3], Smoothness::Kink, 1e-5);
    }

    #[test]
    fn force_beside_a_torque_is_that_of_the_same_slip() {
        for ratio in [0.01, 0.3, 0.653, 1.0, 2.0, 50.0] {
            let g: Vector3<f64> = gradient(&Vector3::new(ratio, 0.0, -1.0));
            assert!((force_beside(g.z) - g.x).abs() <= 1e-12, "{ratio}");
        }
        assert!(force_beside(2.0 / 3.0) <= 1e-7 && force_beside(1.0) <= 1e-15);
        assert!((force_beside(0.0) - 1.0).abs() <= 1e-15);
    }

    #[test]
    fn hessian_is_symmetric_and_has_the_slip_as_null_vector() {
        for u in [[0.3, 0.4, 1.0], [0.7, -0.2, 0.5], [0.0, 0.0, -1.0], [0.6, 0.8, 0.0]] {
            let u = Vector3::from(u);
            let h = hessian(&u);
            assert!((h - h.transpose()).norm() <= 1e-13 * h.norm(), "{u}");
            assert!((h * u).norm() <= 1e-13 * h.norm(), "{u}");
        }
    }

    #[test]
    fn ray_ends_where_friction_of_its_slip_is() {
        for u in [[0.3, 0.4, 1.0], [0.7, -0.2, -0.5], [0.0, 0.0, -1.0], [0.6, 0.8, 0.0]] {
            let u = Vector3::from(u).normalize();
            let (direction, size) = ray(&(gradient(&u) * 1.7));
            assert!((direction - u).norm() <= 1e-12 && (size - 1.7).abs() <= 1e-13, "{u}: {size}");
        }
    }

    #[test]
    fn series_and_quotients_meet() {
        let (below, above) = (SERIES_BELOW - 1e-12, SERIES_BELOW + 1e-12);
        for f in [inside, inside_torque, outside, outside_force] {
            let (x, y) = (f(below, 1.0 - below), f(above, 1.0 - above));
            for (i, tolerance) in [2e-12, 1e-11, 1e-10].into_iter().enumerate() {
                assert!((x[i] - y[i]).abs() <= tolerance, "order {i}: {} {}", x[i], y[i]);
            }
        }
    }

    #[test]
    fn surface_reaches_0_934_of_the_ellipsoid_or_more() {
        let mut least: f64 = 1.0;
        for i in 1..1000 {
            let angle = f64::from(i) * FRAC_PI_2 / 1000.0;
            let g = gradient(&Vector3::new(angle.sin(), 0.0, angle.cos()));
            let reach = g.x.hypot(1.5 * g.z);
            assert!(reach <= 1.0);
            least = least.min(reach);
        }
        println!("least reach {least}");
        assert!((0.934..0.935).contains(&least), "{least}");
    }
}
