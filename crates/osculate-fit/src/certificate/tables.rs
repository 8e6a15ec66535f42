//! A certificate as CSV and as a LaTeX table.

use super::{Certificate, Finding, Row, TERMS};
use std::fmt::Write;

/// One line for each row and variant; numbers in full.
pub fn csv(certificate: &Certificate) -> String {
    let mut text = String::from(
        "explicit_normals,implicit_normal_force,schedule,fade,collider_normal,ramp,own,\
         defect_worst,defect_median,stages,coulomb,viscous,damping,\
         difference_defect,difference_unreliable,curl_duals,curl_matrix,\
         load,plane,fading_by_place,fading_by_turning,finding\n",
    );
    for row in &certificate.rows {
        let m = &row.measured;
        let number = |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:e}"));
        let mut cells = vec![
            row.explicit_normals.to_string(),
            row.implicit_normal_force.to_string(),
            row.schedule.into(),
            row.fade.to_string(),
            row.collider_normal.to_string(),
            row.ramp.into(),
            row.own.to_string(),
            number(m.defect.map(|d| d.worst)),
            number(m.defect.map(|d| d.median)),
            m.defect.map_or(0, |d| d.stages).to_string(),
        ];
        cells.extend(m.terms.iter().map(|t| number(t.map(|t| t.worst))));
        cells.extend([
            format!("{:e}", m.differences.defect.worst),
            m.differences.unreliable.to_string(),
            format!("{:e}", m.curl.by_duals),
            format!("{:e}", m.curl.assembled),
        ]);
        cells.extend(m.causes.iter().map(|c| format!("{:e}", c.share)));
        cells.push(finding_word(&row.finding).into());
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// A finding as one word.
fn finding_word(finding: &Finding) -> &'static str {
    match finding {
        Finding::Gradient => "gradient",
        Finding::NotAGradient { of_another: false } => "no-potential",
        Finding::NotAGradient { of_another: true } => "without-curl",
        Finding::SpecialCase => "special-case",
        Finding::Inactive => "inactive",
        Finding::Contradiction { .. } => "contradiction",
    }
}

/// The page's table with measured entries: the scene's own variant, plain `tabular`.
pub fn latex(certificate: &Certificate) -> String {
    let mut text = String::from(
        "% defect = |grad(dt R) - dR/dv| / |dR/dv|, worst of all stages\n\
         \\begin{tabular}{llrrrrrl}\n\
         explicit & implicit & defect & Coulomb & viscous & damping & curl & broken by \\\\\n\\hline\n",
    );
    for row in certificate.own_rows() {
        let m = &row.measured;
        let mut cells = vec![word(row.explicit_normals), word(row.implicit_normal_force)];
        cells.push(power(m.defect.map(|d| d.worst)));
        cells.extend((0..TERMS.len()).map(|k| power(m.terms[k].map(|t| t.worst))));
        cells.push(power(m.defect.map(|_| m.curl.by_duals)));
        cells.push(latex_causes(row));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} \\\\", cells.join(" & "));
    }
    text += "true & true & \\multicolumn{6}{l}{refused} \\\\\n\\end{tabular}\n";
    text
}

fn word(flag: bool) -> String {
    flag.to_string()
}

/// `$3.1\cdot10^{-16}$`.
fn power(x: Option<f64>) -> String {
    match x {
        None => "--".into(),
        Some(x) if x.abs() < f64::MIN_POSITIVE => "$0$".into(),
        Some(x) if (1e-2..1e3).contains(&x) => format!("${x:.2}$"),
        Some(x) => {
            let text = format!("{x:.1e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            format!("${mantissa}\\cdot10^{{{exponent}}}$")
        }
    }
}

fn latex_causes(row: &Row) -> String {
    let symbols = [
        "$\\partial\\hat\\lambda/\\partial q$",
        "$\\partial N/\\partial q$",
        "$\\partial a/\\partial G$",
        "$\\partial a/\\partial N_A$",
    ];
    let named = row.measured.causes.iter().zip(symbols).filter(|(c, _)| c.share > super::EXACT);
    let named: Vec<String> = named.map(|(c, s)| format!("{s} {}", power(Some(c.share)))).collect();
    if named.is_empty() { "--".into() } else { named.join(", ") }
}
