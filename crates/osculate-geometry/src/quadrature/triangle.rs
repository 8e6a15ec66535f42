//! Symmetric quadrature rules on a triangle.
//!
//! | rule | points | degree | source |
//! |---|---|---|---|
//! | `P1Q1` | 1 | 1 | centroid |
//! | `P1Q3` | 3 | 2 | Strang and Fix 1973, interior points |
//! | `P1Q6` | 6 | 4 | Dunavant 1985 |
//! | `P1Q7` | 7 | 5 | Lyness and Jespersen 1975 (Radon 1948) |
//! | `P1Q12` | 12 | 6 | Dunavant 1985 |
//! | `P1Q16` | 16 | 8 | Lyness and Jespersen 1975 |
//!
//! J. N. Lyness, D. Jespersen, "Moderate degree symmetric quadrature rules for the triangle", IMA J. Appl. Math. 15
//! (1975), <https://doi.org/10.1093/imamat/15.1.19>; D. A. Dunavant, "High degree efficient symmetrical Gaussian
//! quadrature rules for the triangle", Int. J. Numer. Methods Eng. 21 (1985),
//! <https://doi.org/10.1002/nme.1620210612>.
//!
//! The published constants were refined by a Newton iteration on the moment equations
//! `Σ_i w_i e₂(λ_i)ᵐ e₃(λ_i)ⁿ = mean of e₂ᵐ e₃ⁿ`, `2m + 3n ≤ degree`, in 50 digits (e₂, e₃ are the elementary
//! symmetric polynomials of λ) and rounded to the nearest `f64`.

/// One point of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleNode {
    /// Barycentric coordinates `λ`, all positive, sum 1: the point is `λ₀ a + λ₁ b + λ₂ c`.
    pub barycentric: [f64; 3],
    /// Share `w` of the triangle's area, positive; a rule's weights sum to 1.
    pub weight: f64,
}

/// A quadrature rule on a triangle, all points inside and all weights positive.
///
/// The *order* of the points is a convention and part of the interface: sample `s` of a surface is point `s mod n` of
/// triangle `s div n` for a rule of `n` points, so recorded results can be compared sample by sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TriangleRule {
    /// 1 point, degree 1.
    P1Q1,
    /// 3 points, degree 2.
    #[default]
    P1Q3,
    /// 6 points, degree 4.
    P1Q6,
    /// 7 points, degree 5.
    P1Q7,
    /// 12 points, degree 6.
    P1Q12,
    /// 16 points, degree 8.
    P1Q16,
}

impl TriangleRule {
    /// Every rule, by number of points.
    pub const ALL: [Self; 6] =
        [Self::P1Q1, Self::P1Q3, Self::P1Q6, Self::P1Q7, Self::P1Q12, Self::P1Q16];

    /// Points and weights, in the order of the convention.
    pub fn nodes(self) -> &'static [TriangleNode] {
        match self {
            Self::P1Q1 => &P1Q1,
            Self::P1Q3 => &P1Q3,
            Self::P1Q6 => &P1Q6,
            Self::P1Q7 => &P1Q7,
            Self::P1Q12 => &P1Q12,
            Self::P1Q16 => &P1Q16,
        }
    }

    /// The largest total degree of polynomials that the rule integrates exactly.
    pub fn degree(self) -> u32 {
        match self {
            Self::P1Q1 => 1,
            Self::P1Q3 => 2,
            Self::P1Q6 => 4,
            Self::P1Q7 => 5,
            Self::P1Q12 => 6,
            Self::P1Q16 => 8,
        }
    }

    /// The rule's name, as in `P1Q3`.
    pub fn name(self) -> &'static str {
        match self {
            Self::P1Q1 => "P1Q1",
            Self::P1Q3 => "P1Q3",
            Self::P1Q6 => "P1Q6",
            Self::P1Q7 => "P1Q7",
            Self::P1Q12 => "P1Q12",
            Self::P1Q16 => "P1Q16",
        }
    }
}

const fn node(weight: f64, barycentric: [f64; 3]) -> TriangleNode {
    TriangleNode { barycentric, weight }
}

const THIRD: f64 = 1.0 / 3.0;

const P1Q1: [TriangleNode; 1] = [node(1.0, [THIRD; 3])];

const P1Q3: [TriangleNode; 3] = {
    let (a, b) = (2.0 / 3.0, 1.0 / 6.0);
    [node(THIRD, [b, a, b]), node(THIRD, [b, b, a]), node(THIRD, [a, b, b])]
};

const P1Q6: [TriangleNode; 6] = {
    let (w1, a, b) = (0.22338158967801147, 0.10810301816807023, 0.4459484909159649);
    let (w2, c, d) = (0.10995174365532187, 0.8168475729804585, 0.09157621350977074);
    [
        node(w1, [a, b, b]),
        node(w1, [b, b, a]),
        node(w1, [b, a, b]),
        node(w2, [c, d, d]),
        node(w2, [d, d, c]),
        node(w2, [d, c, d]),
    ]
};

const P1Q7: [TriangleNode; 7] = {
    let (w1, a, b) = (0.12593918054482714, 0.7974269853530873, 0.10128650732345634);
    let (w2, c, d) = (0.1323941527885062, 0.05971587178976982, 0.4701420641051151);
    [
        node(0.225, [THIRD; 3]),
        node(w1, [b, a, b]),
        node(w1, [b, b, a]),
        node(w1, [a, b, b]),
        node(w2, [d, d, c]),
        node(w2, [d, c, d]),
        node(w2, [c, d, d]),
    ]
};

const P1Q12: [TriangleNode; 12] = {
    let (w1, a, b) = (0.11678627572637937, 0.5014265096581791, 0.24928674517091043);
    let (w2, c, d) = (0.05084490637020682, 0.8738219710169955, 0.06308901449150223);
    let w3 = 0.08285107561837357;
    let (e, f, g) = (0.6365024991213987, 0.3103524510337844, 0.053145049844816945);
    [
        node(w1, [a, b, b]),
        node(w1, [b, a, b]),
        node(w1, [b, b, a]),
        node(w2, [c, d, d]),
        node(w2, [d, c, d]),
        node(w2, [d, d, c]),
        node(w3, [e, f, g]),
        node(w3, [f, e, g]),
        node(w3, [e, g, f]),
        node(w3, [g, f, e]),
        node(w3, [f, g, e]),
        node(w3, [g, e, f]),
    ]
};

const P1Q16: [TriangleNode; 16] = {
    let (w1, a, b) = (0.09509163426728462, 0.0814148234145537, 0.4592925882927232);
    let (w2, c, d) = (0.10321737053471824, 0.6588613844964796, 0.1705693077517602);
    let w3 = 0.027230314174434993;
    let (e, f, g) = (0.7284923929554042, 0.2631128296346381, 0.008394777409957605);
    let (w4, h, i) = (0.03245849762319808, 0.8989055433659381, 0.05054722831703098);
    [
        node(0.14431560767778717, [THIRD; 3]),
        node(w1, [a, b, b]),
        node(w1, [b, a, b]),
        node(w1, [b, b, a]),
        node(w2, [d, d, c]),
        node(w2, [d, c, d]),
        node(w2, [c, d, d]),
        node(w3, [e, g, f]),
        node(w3, [e, f, g]),
        node(w3, [f, e, g]),
        node(w3, [f, g, e]),
        node(w3, [g, f, e]),
        node(w3, [g, e, f]),
        node(w4, [i, i, h]),
        node(w4, [i, h, i]),
        node(w4, [h, i, i]),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding of a sum of at most 16 terms below 1.
    const ROUNDING: f64 = 4.0 * f64::EPSILON;

    fn factorial(n: u32) -> f64 {
        (1..=n).map(f64::from).product()
    }

    /// Mean of `λ₀ᵃ λ₁ᵇ λ₂ᶜ` over a triangle: `2 a! b! c! / (a + b + c + 2)!`.
    fn mean([a, b, c]: [u32; 3]) -> f64 {
        2.0 * factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + 2)
    }

    fn quadrature(rule: TriangleRule, exponents: [u32; 3]) -> f64 {
        let monomial =
            |l: [f64; 3]| (0..3).map(|i| l[i].powi(exponents[i] as i32)).product::<f64>();
        rule.nodes().iter().map(|n| n.weight * monomial(n.barycentric)).sum()
    }

    /// All exponents of total degree `d`.
    fn exponents(d: u32) -> impl Iterator<Item = [u32; 3]> {
        (0..=d).flat_map(move |a| (0..=d - a).map(move |b| [a, b, d - a - b]))
    }

    #[test]
    fn rules_are_exact_for_all_monomials_up_to_their_degree() {
        for rule in TriangleRule::ALL {
            for e in (0..=rule.degree()).flat_map(exponents) {
                let (found, exact) = (quadrature(rule, e), mean(e));
                assert!((found - exact).abs() < ROUNDING, "{rule:?} on λ^{e:?}: {found}, {exact}");
            }
        }
    }

    #[test]
    fn rules_are_exact_for_affine_monomials_up_to_their_degree() {
        // On the triangle (0,0), (1,0), (0,1): ∫ xᵃ yᵇ / |T| = 2 a! b! / (a + b + 2)!.
        for rule in TriangleRule::ALL {
            for (a, b) in (0..=rule.degree()).flat_map(|d| (0..=d).map(move |a| (a, d - a))) {
                let found = quadrature(rule, [0, a, b]);
                assert!((found - mean([0, a, b])).abs() < ROUNDING, "{rule:?} on x^{a} y^{b}");
            }
        }
    }

    #[test]
    fn rules_are_not_exact_one_degree_higher() {
        for rule in TriangleRule::ALL {
            let defect = exponents(rule.degree() + 1)
                .map(|e| (quadrature(rule, e) - mean(e)).abs())
                .fold(0.0, f64::max);
            assert!(defect > 1e-7, "{rule:?} is exact at degree {}", rule.degree() + 1);
        }
    }

    #[test]
    fn points_are_inside_and_weights_positive_and_sum_to_one() {
        for rule in TriangleRule::ALL {
            for n in rule.nodes() {
                assert!(
                    n.weight > 0.0 && n.barycentric.iter().all(|&l| l > 0.0),
                    "{rule:?}: {n:?}"
                );
                assert!((n.barycentric.iter().sum::<f64>() - 1.0).abs() < ROUNDING);
            }
            assert!((rule.nodes().iter().map(|n| n.weight).sum::<f64>() - 1.0).abs() < ROUNDING);
            assert_eq!(rule.name(), format!("P1Q{}", rule.nodes().len()));
        }
    }

    #[test]
    fn rules_do_not_depend_on_the_order_of_the_corners() {
        for rule in TriangleRule::ALL {
            for n in rule.nodes() {
                let [a, b, c] = n.barycentric;
                for turned in [[b, c, a], [b, a, c]] {
                    assert!(
                        rule.nodes().contains(&node(n.weight, turned)),
                        "{rule:?} lacks {turned:?}"
                    );
                }
            }
        }
    }

    /// The largest coordinate of each point, and for the points with three different coordinates the smallest: fixes
    /// the order, which no integral sees.
    #[test]
    fn points_are_in_the_order_of_the_convention() {
        let order = |rule: TriangleRule| -> Vec<(usize, usize)> {
            let arg = |l: [f64; 3], sign: f64| {
                (1..3).fold(0, |m, i| if (l[i] - l[m]) * sign > 1e-12 { i } else { m })
            };
            rule.nodes()
                .iter()
                .map(|n| (arg(n.barycentric, 1.0), arg(n.barycentric, -1.0)))
                .collect()
        };
        assert_eq!(order(TriangleRule::P1Q3), [(1, 0), (2, 0), (0, 1)]);
        assert_eq!(order(TriangleRule::P1Q6), [(1, 0), (0, 2), (0, 1), (0, 1), (2, 0), (1, 0)]);
        assert_eq!(
            order(TriangleRule::P1Q7)[1..],
            [(1, 0), (2, 0), (0, 1), (0, 2), (0, 1), (1, 0)]
        );
        assert_eq!(
            order(TriangleRule::P1Q12)[6..],
            [(0, 2), (1, 2), (0, 1), (2, 0), (2, 1), (1, 0)]
        );
        assert_eq!(
            order(TriangleRule::P1Q16)[7..],
            [(0, 1), (0, 2), (1, 2), (2, 1), (2, 0), (1, 0), (2, 0), (1, 0), (0, 1)]
        );
    }
}
