//! Numbers as text.

/// Exponent as superscript digits.
pub(crate) fn superscript(exponent: i32) -> String {
    exponent
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
        })
        .collect()
}

/// Number with this many decimals and a true minus sign; never a negative zero.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| c == '0' || c == '.') => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}

/// Decimal exponent of a number as it is printed with this many significant digits.
fn exponent(value: f64, digits: usize) -> i32 {
    let text = format!("{:.*e}", digits - 1, value);
    text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

/// Number with three significant digits: `0.0123`, `4.50`, `1230`, `1.23×10⁵`.
pub(crate) fn short(value: f64) -> String {
    if value.abs() <= 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return if value.is_nan() {
            "–".to_owned()
        } else {
            fixed(value, 0).replace("inf", "∞")
        };
    }
    let e = exponent(value, 3);
    if (-3..5).contains(&e) {
        return fixed(value, (2 - e).max(0) as usize);
    }
    let mantissa = fixed(scaled(value, e), 2);
    format!("{mantissa}×10{}", superscript(e))
}

/// Power of ten taken out of numbers up to `largest`: none if they read well, else a multiple of 3.
pub(crate) fn common_exponent(largest: f64) -> i32 {
    let e = largest.log10().floor() as i32;
    if (-3..5).contains(&e) { 0 } else { 3 * e.div_euclid(3) }
}

/// `value`·10^−`exponent`, in two steps because one power of 300 and more would overflow.
pub(crate) fn scaled(value: f64, exponent: i32) -> f64 {
    let half = -exponent / 2;
    value * 10f64.powi(half) * 10f64.powi(-exponent - half)
}

/// Value with its interval, all with the digits that the width of the interval calls for:
/// `4200 (2500 to 7600)`, `3.0 (1.0 to 8.0)×10⁻⁶`.
pub(crate) fn with_interval(value: f64, lower: f64, upper: f64) -> String {
    let width = upper - lower;
    let largest = value.abs().max(lower.abs()).max(upper.abs());
    if !(width > 0.0 && width.is_finite() && largest.is_finite()) {
        return format!("{} ({} to {})", short(value), short(lower), short(upper));
    }
    let exponent = common_exponent(largest);
    let decimals = (1 - (scaled(width, exponent).log10().floor() as i32)).min(12);
    let unit = 10f64.powi((-decimals).max(0));
    let text = |v: f64| match scaled(v, exponent) {
        v if unit > 1.0 => fixed((v / unit).round() * unit, 0),
        v => fixed(v, decimals.max(0) as usize),
    };
    let factor =
        if exponent == 0 { String::new() } else { format!("×10{}", superscript(exponent)) };
    format!("{} ({} to {}){factor}", text(value), text(lower), text(upper))
}

/// Number that is `mantissa`·10^`exponent`, written for a logarithmic axis.
pub(crate) fn scientific(mantissa: u32, exponent: i32) -> String {
    match mantissa {
        1 => format!("10{}", superscript(exponent)),
        _ => format!("{mantissa}×10{}", superscript(exponent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_keep_three_digits() {
        assert_eq!(short(0.012_34), "0.0123");
        assert_eq!(short(4.5), "4.50");
        assert_eq!(short(-999.9), "−1000");
        assert_eq!(short(123_456.0), "1.23×10⁵");
        assert_eq!(short(-2e-9), "−2.00×10⁻⁹");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(f64::NEG_INFINITY), "−∞");
        assert_eq!(short(f64::NAN), "–");
    }

    #[test]
    fn intervals_share_digits_and_factor() {
        assert_eq!(with_interval(4200.0, 2500.0, 7600.0), "4200 (2500 to 7600)");
        assert_eq!(with_interval(4213.0, 1975.0, 7831.0), "4200 (2000 to 7800)");
        assert_eq!(with_interval(3e-6, 1e-6, 8e-6), "3.0 (1.0 to 8.0)×10⁻⁶");
        assert_eq!(with_interval(1.054e6, 1.052e6, 1.056e6), "1.0540 (1.0520 to 1.0560)×10⁶");
        assert_eq!(with_interval(1.0, 0.0, f64::INFINITY), "1.00 (0 to ∞)");
        assert_eq!(with_interval(1.0, f64::NAN, 2.0), "1.00 (– to 2.00)");
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(fixed(-0.001, 2), "0.00");
    }
}
