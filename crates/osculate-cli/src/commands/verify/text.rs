//! A certificate for people.

use crate::table;
use osculate_fit::certificate::{Certificate, EXACT, Jump, Row, TERMS};

/// The whole text.
pub(super) fn render(c: &Certificate) -> String {
    let mut text = String::from("Is the dissipative residual the gradient of Δt R?\n");
    text += "defect = ‖∇(Δt R) − ∂R/∂v‖ / ‖∂R/∂v‖, largest of all stages\n\npairs\n";
    text += &pairs(c);
    if let Some(first) = c.own_rows().next() {
        text += &format!("\nthe page's table, measured ({})\n", variant(first));
    }
    text += &page(c);
    text += "\nwitnesses\n";
    text += &witnesses(c);
    text += "\nwhat breaks the potential, relative to the residual at the worst stage\n";
    text += &causes(c);
    text += "\nevery variant of the law\n";
    text += &variants(c);
    text += "\nwhat no potential speaks of\n";
    text += &events(c);
    text += if c.agrees() { "\nagrees with the page\n" } else { "\nCONTRADICTS the page\n" };
    for row in c.rows.iter().filter(|r| !r.finding.agrees()) {
        text += &format!("  {} ({}): {}\n", row.schedule, variant(row), row.finding.text());
    }
    text
}

/// A variant in words.
pub(super) fn variant(row: &Row) -> String {
    let fade = if row.fade { "faded" } else { "not faded" };
    let plane = if row.collider_normal { "collider's plane" } else { "surface's plane" };
    format!("{fade}, {plane}, {} ramp", row.ramp)
}

fn number(x: f64) -> String {
    if x.abs() < f64::MIN_POSITIVE {
        "0".into()
    } else if (0.01..1000.0).contains(&x.abs()) {
        format!("{x:.3}")
    } else {
        format!("{x:.1e}")
    }
}

fn optional(x: Option<f64>) -> String {
    x.map_or_else(|| "-".into(), number)
}

fn header(names: &[&str]) -> Vec<Vec<String>> {
    vec![names.iter().map(|&n| n.to_owned()).collect()]
}

fn pairs(c: &Certificate) -> String {
    let mut rows =
        header(&["colliding", "collider", "field", "motion", "normals", "met", "random"]);
    rows.extend(c.pairs.iter().map(|p| {
        vec![
            p.colliding.clone(),
            p.collider.clone(),
            p.kind.into(),
            p.motion.into(),
            if p.normals { "yes" } else { "no" }.into(),
            p.stages[0].to_string(),
            p.stages[1].to_string(),
        ]
    }));
    table::render(&rows, &[false, false, false, false, false, true, true])
}

fn page(c: &Certificate) -> String {
    let mut rows = header(&["explicit", "implicit", "schedule", "defect", "median"]);
    rows[0].extend(TERMS.map(String::from));
    rows[0].extend(["curl", "found"].map(String::from));
    rows.extend(c.own_rows().map(|row| {
        let m = &row.measured;
        let mut cells = vec![
            row.explicit_normals.to_string(),
            row.implicit_normal_force.to_string(),
            row.schedule.to_owned(),
            optional(m.defect.map(|d| d.worst)),
            optional(m.defect.map(|d| d.median)),
        ];
        cells.extend(m.terms.iter().map(|t| optional(t.map(|t| t.worst))));
        cells.extend([number(m.curl.by_duals), row.finding.text()]);
        cells
    }));
    let fourth = if c.fourth_refused { "refused" } else { "ACCEPTED" };
    rows.push(vec!["true".into(), "true".into(), fourth.into()]);
    table::render(&rows, &[false, false, false, true, true, true, true, true, true, false])
}

fn witnesses(c: &Certificate) -> String {
    let mut rows = header(&[
        "schedule",
        "stages",
        "duals",
        "differences",
        "their distance",
        "left out",
        "curl, duals",
        "curl, matrix",
        "distance",
        "residual",
        "rounded",
    ]);
    rows.extend(c.own_rows().map(|row| {
        let (m, d) = (&row.measured, &row.measured.differences);
        vec![
            row.schedule.into(),
            m.defect.map_or(0, |d| d.stages).to_string(),
            optional(m.defect.map(|d| d.worst)),
            number(d.defect.worst),
            number(d.from_duals),
            d.unreliable.to_string(),
            number(m.curl.by_duals),
            number(m.curl.assembled),
            number(m.curl.mismatch),
            number(m.residual_mismatch),
            m.rounded.to_string(),
        ]
    }));
    let numbers = [true; 10];
    table::render(&rows, &[&[false], numbers.as_slice()].concat())
}

fn causes(c: &Certificate) -> String {
    let mut rows = header(&["schedule", "∂λ/∂q", "∂N/∂q", "∂a/∂G", "∂a/∂N_A", "unexplained"]);
    rows[0].extend(["c_A", "θ_A", "c_B", "θ_B"].map(String::from));
    rows.extend(c.own_rows().map(|row| {
        let m = &row.measured;
        let mut cells = vec![row.schedule.to_owned()];
        cells.extend(m.causes.iter().map(|cause| number(cause.share)));
        cells.push(number(m.unexplained));
        cells.extend(m.by_unknowns.iter().map(|&x| number(x)));
        cells
    }));
    table::render(&rows, &[false, true, true, true, true, true, true, true, true, true])
}

fn variants(c: &Certificate) -> String {
    let mut rows = header(&["variant", "schedule", "defect", "differences", "curl", "broken by"]);
    rows.extend(c.rows.iter().map(|row| {
        let m = &row.measured;
        let broken: Vec<&str> =
            m.causes.iter().filter(|c| c.share > EXACT).map(|c| c.name).collect();
        vec![
            variant(row),
            row.schedule.into(),
            optional(m.defect.map(|d| d.worst)),
            number(m.differences.defect.worst),
            number(m.curl.by_duals),
            if broken.is_empty() { "-".into() } else { broken.join(", ") },
        ]
    }));
    table::render(&rows, &[false, false, true, true, true, false])
}

fn events(c: &Certificate) -> String {
    let r = &c.events.retention;
    let mut text = format!(
        "stage-start retains {} contacts beside {}; dissipative force at most {} N retained, {} N in contact\n\
         {} samples within the threshold are rejected by their alignment\n",
        r.retained,
        r.contacts,
        number(r.retained_force),
        number(r.contact_force),
        r.rejected
    );
    if c.events.alignment.is_empty() {
        text += "no touching surface has normals: nothing is rejected, no jump at s = m\n";
    } else {
        text += "\nacross s = m, most loaded sample (Pa, J/m²: inside → outside)\n";
        text += &jumps(&c.events.alignment);
    }
    text += "\nacross φ = δ, a sample that leaves during the stage (Pa, J/m²: inside → outside)\n";
    text += &jumps(&c.events.leaving);
    text
}

fn jumps(jumps: &[Jump]) -> String {
    let mut rows = header(&["schedule", "fade", "elastic", "dissipative", "energy"]);
    let sides = |x: [f64; 2]| format!("{} → {}", number(x[0]), number(x[1]));
    rows.extend(jumps.iter().map(|j| {
        let fade = if j.fade { "yes" } else { "no" };
        vec![
            j.schedule.into(),
            fade.into(),
            sides(j.elastic),
            sides(j.dissipative),
            sides(j.energy),
        ]
    }));
    table::render(&rows, &[false, false, true, true, true])
}
