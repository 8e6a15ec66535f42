//! `compiler`: how the rest of the file is meant.

use super::super::description::ImportedLink;
use super::super::error::{ImportError, Problem};
use super::super::fields::Fields;
use super::super::xml::Element;

/// When mass properties come from geometries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FromGeom {
    /// Where a body gives none.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// One rotation of a sequence: axis, and whether it is of the turned frame (lower case) or of the fixed one.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) axis: usize,
    pub(super) moving: bool,
}

/// The settings.
pub(super) struct Compiler<'x> {
    degrees: bool,
    pub(super) euler: [Turn; 3],
    pub(super) from_geom: FromGeom,
    pub(super) autolimits: bool,
    pub(super) balance: bool,
    pub(super) groups: [u32; 2],
    pub(super) mesh_folder: &'x str,
    total_mass: Option<f64>,
}

impl Default for Compiler<'_> {
    /// Degrees, rotations about x, y, z of the turned frame, mass from geometries where none is given.
    fn default() -> Self {
        Self {
            degrees: true,
            euler: [0, 1, 2].map(|axis| Turn { axis, moving: true }),
            from_geom: FromGeom::Auto,
            autolimits: true,
            balance: false,
            groups: [0, 5],
            mesh_folder: "",
            total_mass: None,
        }
    }
}

impl<'x> Compiler<'x> {
    pub(super) fn read(root: Element<'x>) -> Result<Self, ImportError> {
        let mut out = Self::default();
        for element in root.all("compiler") {
            out.take(element)?;
        }
        Ok(out)
    }

    fn take(&mut self, e: Element<'x>) -> Result<(), ImportError> {
        match e.text("angle") {
            None => {}
            Some("degree") => self.degrees = true,
            Some("radian") => self.degrees = false,
            Some(_) => return Err(e.refused("angle", "degree or radian")),
        }
        match e.text("coordinate") {
            None | Some("local") => {}
            Some("global") => {
                let what = "coordinate=\"global\"".into();
                let reason = "poses would have to be measured from the world";
                return Err(e.error(Problem::Refused { what, reason }));
            }
            Some(_) => return Err(e.refused("coordinate", "local")),
        }
        match e.text("inertiafromgeom") {
            None => {}
            Some("auto") => self.from_geom = FromGeom::Auto,
            Some("true") => self.from_geom = FromGeom::Always,
            Some("false") => self.from_geom = FromGeom::Never,
            Some(_) => return Err(e.refused("inertiafromgeom", "true, false or auto")),
        }
        if let Some(sequence) = e.text("eulerseq") {
            let refused = || e.refused("eulerseq", "three letters of x, y, z, X, Y, Z");
            self.euler = turns(sequence).ok_or_else(refused)?;
        }
        self.autolimits = e.flag("autolimits")?.unwrap_or(self.autolimits);
        self.balance = e.flag("balanceinertia")?.unwrap_or(self.balance);
        if let Some(range) = e.list("inertiagrouprange", (2, 2), "two numbers, 0 to 5")? {
            self.groups = [range[0].max(0.0) as u32, range[1].max(0.0) as u32];
        }
        let folder = e.text("meshdir").or_else(|| e.text("assetdir"));
        e.attribute("assetdir");
        self.mesh_folder = folder.unwrap_or(self.mesh_folder);
        // Of −1, as it is by default, nothing follows.
        self.total_mass = e.number("settotalmass")?.filter(|m| *m > 0.0).or(self.total_mass);
        // Changes how bodies are counted, not how they move.
        e.attribute("fusestatic");
        Ok(())
    }

    /// An angle of the file in radians.
    pub(super) fn angle(&self, x: f64) -> f64 {
        if self.degrees { x.to_radians() } else { x }
    }

    /// Scales all masses where the file asks for a total.
    pub(super) fn set_total_mass(&self, links: &mut [ImportedLink]) {
        let found: f64 = links.iter().map(|l| l.inertia.mass).sum();
        let Some(total) = self.total_mass.filter(|_| found > 0.0) else { return };
        for link in links {
            link.inertia.mass *= total / found;
            link.inertia.inertia *= total / found;
        }
    }
}

fn turns(sequence: &str) -> Option<[Turn; 3]> {
    let turn = |letter: char| {
        let axis = ['x', 'y', 'z'].iter().position(|a| *a == letter.to_ascii_lowercase())?;
        Some(Turn { axis, moving: letter.is_ascii_lowercase() })
    };
    let turns: Option<Vec<Turn>> = sequence.chars().map(turn).collect();
    turns?.try_into().ok()
}
