//! `osculate import urdf` and `osculate import mjcf`.

use crate::table::render;
use crate::{CliError, Report, files};
use osculate_dynamics::import::{Description, Note, RobotOptions, read_mjcf, read_urdf, summary};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What both formats take.
#[derive(Debug, clap::Args)]
pub struct Common {
    /// Robot file
    pub source: PathBuf,
    /// Scene file to write; without it, only what the file holds is printed
    #[arg(long, value_name = "SCENE.toml")]
    pub out: Option<PathBuf>,
    /// Folder in which meshes are looked for too, may be repeated
    #[arg(long, value_name = "DIR")]
    pub search: Vec<PathBuf>,
    /// Replace the scene file
    #[arg(long)]
    pub overwrite: bool,
}

/// Reads a URDF file.
///
/// # Errors
/// Where the file is refused, or the scene cannot be built or written.
pub(super) fn urdf(args: &Common, floating: bool) -> Result<Report, CliError> {
    let options = RobotOptions { floating, ..options(args) };
    report(args, &read_urdf(&args.source, &options)?)
}

/// Reads an MJCF file.
///
/// # Errors
/// Where the file is refused, or the scene cannot be built or written.
pub(super) fn mjcf(args: &Common) -> Result<Report, CliError> {
    report(args, &read_mjcf(&args.source, &options(args))?)
}

fn options(args: &Common) -> RobotOptions {
    RobotOptions { search: args.search.clone(), ..RobotOptions::default() }
}

fn report(args: &Common, robot: &Description) -> Result<Report, CliError> {
    let mut notes = robot.notes.clone();
    if let Some(out) = &args.out {
        notes.extend(write(out, args.overwrite, robot)?);
    }
    let lines = summary(&notes);
    let mut text = overview(robot) + "\n" + &links(robot);
    if lines.is_empty() {
        text.push_str("\neverything in the file is supported\n");
    } else {
        text.push_str("\nnot as in the file:\n");
        lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    if let Some(out) = &args.out {
        text.push_str(&format!("\nwritten: {}\n", out.display()));
    }
    let text = text.trim_end().to_owned();
    Ok(Report { text, json: json(args, robot, &notes), agrees: true })
}

/// Writes the scene, unless it cannot be built; what it does not say as the file.
fn write(out: &Path, overwrite: bool, robot: &Description) -> Result<Vec<Note>, CliError> {
    if out.exists() && !overwrite {
        let found = out.display().to_string();
        return Err(CliError::Value {
            field: "--out",
            found,
            allowed: "a new file, or --overwrite",
        });
    }
    let folder = out.parent().unwrap_or(Path::new(""));
    if !folder.as_os_str().is_empty() {
        files::create_folder(folder)?;
    }
    let scene = robot.scene(folder);
    scene.file.build(folder)?;
    files::write(out, scene.file.to_toml()?.as_bytes())?;
    Ok(scene.notes)
}

fn geometries(robot: &Description) -> usize {
    robot.world.len() + robot.links.iter().map(|l| l.geometries.len()).sum::<usize>()
}

fn overview(robot: &Description) -> String {
    let joints = robot.links.iter().filter(|l| l.joint.kind.dofs() > 0).count();
    let name = if robot.name.is_empty() { "robot" } else { &robot.name };
    format!(
        "{name}: {} links, {joints} moving joints, {} degrees of freedom, {:.6} kg, {} geometries, {} actuators, {} loop closures\n",
        robot.links.len(),
        robot.dofs(),
        robot.mass(),
        geometries(robot),
        robot.actuators.len(),
        robot.closures.len(),
    )
}

/// One row a link.
fn links(robot: &Description) -> String {
    let header = ["link", "parent", "joint", "kind", "dof", "mass (kg)", "geometries"];
    let mut rows = vec![header.map(String::from).to_vec()];
    rows.extend(robot.links.iter().map(|l| {
        let parent = l.parent.map_or("world", |p| robot.links[p].name.as_str());
        let joint = if l.joint_name.is_empty() { "–" } else { &l.joint_name };
        vec![
            l.name.clone(),
            parent.into(),
            joint.into(),
            l.joint.kind.name().into(),
            l.joint.kind.dofs().to_string(),
            format!("{:.6}", l.inertia.mass),
            l.geometries.len().to_string(),
        ]
    }));
    render(&rows, &[false, false, false, false, true, true, true])
}

fn json(args: &Common, robot: &Description, notes: &[Note]) -> Value {
    let links = robot.links.iter().map(|l| {
        json!({
            "name": l.name,
            "parent": l.parent.map(|p| &robot.links[p].name),
            "joint": l.joint_name,
            "kind": l.joint.kind.name(),
            "dofs": l.joint.kind.dofs(),
            "mass_kg": l.inertia.mass,
            "geometries": l.geometries.len(),
            "line": l.spot.line,
        })
    });
    let notes = notes.iter().map(|n| {
        json!({
            "line": n.line,
            "element": n.element,
            "attribute": n.attribute,
            "outcome": n.outcome.to_string(),
            "reason": n.reason,
        })
    });
    json!({
        "source": args.source,
        "scene": args.out,
        "name": robot.name,
        "dofs": robot.dofs(),
        "mass_kg": robot.mass(),
        "geometries": geometries(robot),
        "actuators": robot.actuators.len(),
        "closures": robot.closures.len(),
        "links": links.collect::<Vec<_>>(),
        "notes": notes.collect::<Vec<_>>(),
    })
}
