//! MJCF: the part that most robots use.
//!
//! Read are `compiler`, `option` (gravity and time step), `default`, `asset/mesh`, `worldbody` with `body`, `frame`,
//! `inertial`, `joint`, `freejoint`, `geom` and `site`, `actuator`, `equality` (`connect`, `weld`) and `contact`. What
//! makes bodies of other files or of rules (`include`, `replicate`, `composite`, `flexcomp`, `attach`) is refused.

mod actuator;
mod asset;
mod body;
mod compiler;
mod contact;
mod defaults;
mod equality;
mod geom;
mod inertial;
mod joint;
mod orientation;
mod reasons;

use super::description::{Description, Geometry, ImportedLink};
use super::error::{ImportError, Problem};
use super::fields::Fields;
use super::mesh::{Meshes, RobotOptions};
use super::notes::Note;
use super::xml::{Element, Xml};
use asset::Assets;
use compiler::Compiler;
use defaults::Defaults;
use nalgebra::Vector3;
use osculate_math::se3::Pose;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Name of the world among bodies.
const WORLD: &str = "world";

/// What holds for the whole file.
pub(super) struct Context<'x, 'o> {
    compiler: Compiler<'x>,
    defaults: Defaults<'x>,
    assets: Assets<'x>,
    meshes: &'o Meshes<'o>,
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Builder<'x> {
    links: Vec<ImportedLink>,
    world: Vec<Geometry>,
    /// Bodies by name: link, and line.
    bodies: BTreeMap<&'x str, (Option<usize>, usize)>,
    /// Joints by name: link, and line.
    joints: BTreeMap<&'x str, (usize, usize)>,
    /// Geometries by name: line.
    geometries: BTreeMap<&'x str, usize>,
    /// Sites by name: link, place, and line.
    sites: BTreeMap<&'x str, (Option<usize>, Pose, usize)>,
    notes: Vec<Note>,
    /// Links whose names are not in the file.
    generated: Vec<usize>,
}

impl<'x> Builder<'x> {
    /// The link of a body by name; `None` for the world.
    fn body(&self, at: Element<'x>, attribute: &str) -> Result<Option<usize>, ImportError> {
        let name = at.needed_text(attribute)?;
        let unknown = || at.error(Problem::Unknown { what: "body", name: name.into() });
        self.bodies.get(name).map(|(link, _)| *link).ok_or_else(unknown)
    }

    /// Lengthens names that are not in the file where others have them.
    fn name_links(&mut self) {
        let mut taken: BTreeSet<String> = self.bodies.keys().map(|n| (*n).to_owned()).collect();
        for &i in &self.generated {
            let name = &mut self.links[i].name;
            while !taken.insert(name.clone()) {
                name.push('_');
            }
        }
    }
}

/// Notes a name, unless something has it.
fn unique<'x, V>(
    names: &mut BTreeMap<&'x str, V>,
    element: Element<'x>,
    value: V,
    line: impl Fn(&V) -> usize,
) -> Result<(), ImportError> {
    let Some(name) = element.text("name").filter(|n| !n.is_empty()) else { return Ok(()) };
    match names.insert(name, value) {
        None => Ok(()),
        Some(first) => {
            let what = format!("{} '{name}'", element.tag());
            Err(element.error(Problem::Twice { what, first: line(&first) }))
        }
    }
}

pub(super) fn parse(
    text: &str,
    file: &Path,
    options: &RobotOptions,
) -> Result<Description, ImportError> {
    let xml = Xml::parse(text, file)?;
    let root = xml.root("mujoco")?;
    refuse_generators(root)?;
    let meshes = Meshes::new(options);
    let context = Context {
        compiler: Compiler::read(root)?,
        defaults: Defaults::read(root)?,
        assets: Assets::read(root)?,
        meshes: &meshes,
    };
    let mut out = Builder::default();
    out.bodies.insert(WORLD, (None, 0));
    let mut worlds = root.all("worldbody").peekable();
    if worlds.peek().is_none() {
        return Err(root.error(Problem::Missing { what: "<worldbody>".into() }));
    }
    for world in worlds {
        body::read_world(&context, world, &mut out)?;
    }
    if out.links.is_empty() && out.world.is_empty() {
        return Err(root.error(Problem::Empty));
    }
    out.name_links();
    context.compiler.set_total_mass(&mut out.links);
    let actuators = actuator::read(&context, root, &mut out)?;
    let (excluded, pairs) = contact::read(&context, root, &out)?;
    let (gravity, timestep) = options_of(root)?;
    let mut description = Description {
        name: root.text("model").unwrap_or_default().into(),
        gravity: Some(gravity),
        timestep: Some(timestep),
        links: std::mem::take(&mut out.links),
        world: std::mem::take(&mut out.world),
        actuators,
        closures: Vec::new(),
        excluded,
        pairs,
        notes: Vec::new(),
    };
    description.closures = equality::read(&context, root, &mut out, &description)?;
    let mut notes = out.notes;
    notes.extend(xml.unread(reasons::reason));
    notes.extend(description.drives().1);
    notes.sort_by_key(|n| n.line);
    description.notes = notes;
    description.check()?;
    Ok(description)
}

/// What would add bodies that are not in the file as it stands.
fn refuse_generators(root: Element<'_>) -> Result<(), ImportError> {
    let mut waiting = vec![root];
    while let Some(element) = waiting.pop() {
        let reason = match element.tag() {
            "include" => "bodies of other files would be missing; write the files as one",
            "replicate" | "composite" | "flexcomp" | "flex" | "attach" | "skin" => {
                "bodies that it makes would be missing"
            }
            _ => {
                waiting.extend(element.children());
                continue;
            }
        };
        if element.tag() == "skin" {
            continue;
        }
        let what = format!("<{}>", element.tag());
        return Err(element.error(Problem::Refused { what, reason }));
    }
    Ok(())
}

/// Gravity and time step; what is not given is as the format says.
fn options_of(root: Element<'_>) -> Result<(Vector3<f64>, f64), ImportError> {
    let (mut gravity, mut timestep) = (Vector3::new(0.0, 0.0, -9.81), 0.002);
    for option in root.all("option") {
        gravity = option.vector("gravity")?.unwrap_or(gravity);
        if option.attribute("timestep").is_some() {
            timestep = option.needed_positive("timestep")?;
        }
        for flag in option.all("flag") {
            match flag.text("gravity") {
                None | Some("enable") => {}
                Some("disable") => gravity = Vector3::zeros(),
                Some(_) => return Err(flag.refused("gravity", "enable or disable")),
            }
        }
    }
    Ok((gravity, timestep))
}
