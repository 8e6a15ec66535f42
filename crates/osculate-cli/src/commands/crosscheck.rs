//! `osculate crosscheck`.

use crate::crosscheck::report::{FamilyReport, Verdict};
use crate::crosscheck::{Family, export, families};
use crate::{CliError, Console, Report};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

/// Compare the simulator with reference cases of another implementation.
///
/// DIR holds family folders (f1… to f9…) of JSON cases. Each case becomes a scene (docs/crosscheck.md), is simulated
/// and compared:
///
///   f1  contact law       force, position and distance of every recorded sample
///   f2  trajectories      poses, while the recorded amplification of a perturbation is below 1e3
///   f3  grids             corners, nodes, node values and distances of grid, mesh, box, sphere, plane
///   f4  free rotation     poses and velocities
///   f8  gradients         tangent of the final pose against the recorded differences
///
/// or recordings of the impulse model (a_….json to i_….json with manifest.json):
///
///   i   single contacts   friction impulses of every mode
///
/// A case that needs what is not built yet is listed as unsupported, with the reason.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub struct Args {
    /// Folder of the families, or one family's folder
    pub dir: PathBuf,
    /// Only this family (f1, or the name of its folder); may be repeated
    #[arg(long, value_name = "FAMILY")]
    pub family: Vec<String>,
    /// Also write each convertible case as a scene file into DEST/FAMILY/CASE.toml
    #[arg(long, value_name = "DEST")]
    pub export: Option<PathBuf>,
    /// List every case that was run
    #[arg(long)]
    pub cases: bool,
}

const EXAMPLES: &str = "\
Examples:
  osculate crosscheck REFERENCE_DATA
  osculate crosscheck REFERENCE_DATA --family f1 --cases
  osculate crosscheck REFERENCE_DATA --family f2 --export /tmp/scenes
  osculate simulate /tmp/scenes/f2_trajectories/creep_BE_default.toml --out /tmp/creep";

/// Runs it.
///
/// # Errors
/// Where there is nothing to compare, or a scene cannot be written.
pub fn run(args: &Args, console: &Console) -> Result<Report, CliError> {
    let all = families(&args.dir)?;
    for filter in &args.family {
        if !all.iter().any(|f| f.is_named(filter)) {
            let known = all.iter().map(|f| f.folder.as_str()).collect::<Vec<_>>().join(", ");
            return Err(CliError::UnknownFamily { found: filter.clone(), known });
        }
    }
    let wanted = |f: &&Family| args.family.is_empty() || args.family.iter().any(|x| f.is_named(x));
    let chosen: Vec<&Family> = all.iter().filter(wanted).collect();
    let bar = console.progress(chosen.iter().map(|f| f.cases.len()).sum(), "cases");
    let mut reports = Vec::new();
    let mut exported = 0;
    for family in chosen {
        reports.push(family.check(|| bar.inc(1))?);
        if let Some(folder) = &args.export {
            exported += export::export(family, folder)?;
        }
    }
    bar.finish_and_clear();
    let agrees = reports.iter().all(|r| r.failed == 0);
    let mut text = String::new();
    for report in &reports {
        describe(&mut text, report, args.cases);
    }
    text.push_str(match (agrees, reports.iter().any(|r| r.explained > 0)) {
        (true, false) => "every case that was run agrees\n",
        (true, true) => {
            "every case that was run agrees, or what its difference comes from is shown\n"
        }
        (false, _) => "some cases disagree\n",
    });
    if let Some(folder) = &args.export {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{exported} scenes written to {}", folder.display());
    }
    let json = json!({ "agrees": agrees, "exported": exported, "families": reports });
    Ok(Report { text, json, agrees })
}

fn describe(text: &mut String, r: &FamilyReport, cases: bool) {
    let _ = writeln!(
        text,
        "{}: {} of {} cases agree, {} unsupported, {} disagree",
        r.folder, r.passed, r.cases, r.unsupported, r.failed
    );
    if r.explained > 0 {
        let _ =
            writeln!(text, "  {} more differ, and what shows that it is not ours:", r.explained);
    }
    for d in &r.explanations {
        let _ = writeln!(text, "  DIFFERS {}: {}", d.case, d.because);
    }
    if let (Some(worst), Some(case), Some(place)) = (r.worst, &r.worst_case, &r.worst_place) {
        let _ = writeln!(text, "  worst {worst:.1e} of allowed {:.0e}, {}", r.tolerance, r.measure);
        let _ = writeln!(text, "  in {case}: {place}");
    }
    if let Some(span) = &r.span {
        let _ = writeln!(text, "  {span}");
    }
    for reason in &r.reasons {
        let (n, because) = (reason.cases.len(), &reason.because);
        let _ = writeln!(text, "  {n} unsupported, because {because}:");
        let _ = writeln!(text, "{}", wrap(&reason.cases));
    }
    for d in &r.disagreements {
        let _ = writeln!(text, "  DISAGREES {}: {}", d.case, d.because);
    }
    for case in r.reports() {
        let worst = case.worst.map_or_else(String::new, |w| format!("{w:.1e}"));
        if cases && !matches!(case.verdict, Verdict::Unsupported(_)) {
            let _ = writeln!(text, "  {:<36} {worst:>8}  {}", case.name, case.place);
        }
        for note in case.notes.iter().filter(|_| cases || r.notes_matter) {
            let _ = writeln!(text, "  note {}: {note}", case.name);
        }
    }
    text.push('\n');
}

/// Names in lines of at most 110 characters.
fn wrap(names: &[String]) -> String {
    let mut lines = vec![String::from("   ")];
    for name in names {
        let last = lines.len() - 1;
        if lines[last].len() + name.len() > 109 {
            lines.push(format!("    {name}"));
        } else {
            lines[last].push(' ');
            lines[last].push_str(name);
        }
    }
    lines.join("\n")
}
