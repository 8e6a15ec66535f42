//! `asset`: meshes, read when a geometry asks for them.

use super::super::description::MeshShape;
use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::mesh::MeshName;
use super::super::notes::Note;
use super::super::xml::Element;
use super::Context;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::path::Path;

/// Meshes by name.
#[derive(Default)]
pub(super) struct Assets<'x> {
    meshes: BTreeMap<&'x str, Element<'x>>,
}

impl<'x> Assets<'x> {
    pub(super) fn read(root: Element<'x>) -> Result<Self, ImportError> {
        let mut out = Self::default();
        for section in root.all("asset") {
            for mesh in section.children().filter(|e| e.tag() == "mesh") {
                let file = mesh.text("file").unwrap_or_default();
                let stem = Path::new(file).file_stem().and_then(|s| s.to_str());
                let Some(name) = mesh.text("name").or(stem) else {
                    return Err(mesh.error(Problem::Missing { what: "attribute file".into() }));
                };
                if let Some(first) = out.meshes.insert(name, mesh) {
                    let what = format!("mesh '{name}'");
                    return Err(mesh.error(Problem::Twice { what, first: first.line() }));
                }
            }
        }
        Ok(out)
    }

    /// Reads the mesh of a geometry.
    pub(super) fn mesh(
        &self,
        context: &Context<'x, '_>,
        (geom, name): (Element<'x>, &str),
        notes: &mut Vec<Note>,
    ) -> Result<MeshShape, ImportError> {
        let unknown = || geom.error(Problem::Unknown { what: "mesh", name: name.into() });
        let element = *self.meshes.get(name).ok_or_else(unknown)?;
        let e = context.defaults.resolve(element, &["mesh"], None)?;
        for moved in ["refpos", "refquat"] {
            if e.find(moved).is_some() {
                let reason = "move the geometry in place of its mesh";
                return Err(element.error(Problem::Refused { what: moved.into(), reason }));
            }
        }
        match e.text("inertia") {
            None | Some("legacy" | "exact" | "convex") => {}
            Some(_) => {
                let (what, reason) = ("inertia".into(), "only the mass of a solid is computed");
                return Err(element.error(Problem::Refused { what, reason }));
            }
        }
        let file = e.needed_text("file")?;
        let scale = e.vector("scale")?.unwrap_or_else(|| Vector3::repeat(1.0));
        if scale.iter().any(|s| s.abs() <= 0.0) {
            return Err(e.refused("scale", "three numbers, none zero"));
        }
        let name = MeshName { file, folder: context.compiler.mesh_folder, scale };
        context.meshes.load(element, &name, notes)
    }
}
