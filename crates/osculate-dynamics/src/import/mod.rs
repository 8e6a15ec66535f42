//! Robots from files: URDF, and the common part of MJCF.
//!
//! A file is read into a [`Description`], which says what it holds in the terms of this crate: links with joints and
//! mass properties, geometries, actuators, loop closures, pairs that may not touch. [`Description::model`] makes the
//! articulated model of it. `docs/import.md` lists what is supported.
//!
//! * A file is taken as a whole or refused: an [`ImportError`] says file, line and element, what was found and what is
//!   allowed. Document type declarations are refused, so nothing expands.
//! * What is not supported is either refused, where leaving it out would make another robot of it, or stands in
//!   [`Description::notes`] with its line and the reason. The readers remember what they asked for; whatever is left is
//!   noted, so that nothing is dropped in silence.
//!
//! ```
//! use osculate_dynamics::import::{RobotOptions, parse_urdf};
//!
//! let text = r#"<robot name="pendulum">
//!   <link name="base"/>
//!   <link name="bob"><inertial>
//!     <origin xyz="0 0 -1"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/>
//!   </inertial></link>
//!   <joint name="pivot" type="continuous">
//!     <parent link="base"/><child link="bob"/><axis xyz="0 1 0"/>
//!   </joint>
//! </robot>"#;
//! let robot = parse_urdf(text, "pendulum.urdf".as_ref(), &RobotOptions::default())?;
//! let (model, initial) = robot.model()?;
//! assert_eq!((model.dofs(), initial.dofs()), (1, 1));
//! assert!(robot.notes.is_empty());
//! # Ok::<(), osculate_dynamics::import::ImportError>(())
//! ```

mod description;
mod error;
mod fields;
mod mesh;
mod mjcf;
mod model;
mod notes;
mod scene;
mod sizes;
mod solid;
mod urdf;
mod xml;

#[cfg(test)]
mod tests;

pub use description::{
    Actuator, ActuatorKind, ContactNumbers, ContactPair, Description, Geometry, GeometryShape,
    ImportedClosure, ImportedLink, MeshShape, Spring,
};
pub use error::{ImportError, Problem, Spot};
pub use mesh::RobotOptions;
pub use notes::{Note, Outcome, summary};
pub use scene::ImportedScene;

use crate::file::text::text_of;
use std::io::Read;
use std::path::Path;

/// The longest file \[bytes\].
const MOST_BYTES: u64 = 64 << 20;

/// Reads a URDF file. Meshes are looked for in its folder and in those of `options`.
///
/// # Errors
/// Where the file cannot be read, is no URDF, or describes what cannot be simulated.
pub fn read_urdf(path: &Path, options: &RobotOptions) -> Result<Description, ImportError> {
    parse_urdf(&content(path)?, path, &beside(path, options))
}

/// Reads the text of a URDF file; `file` is what messages call it.
///
/// # Errors
/// Where it is no URDF, or describes what cannot be simulated.
pub fn parse_urdf(
    text: &str,
    file: &Path,
    options: &RobotOptions,
) -> Result<Description, ImportError> {
    Ok(doubted(urdf::parse(text, file, options)?))
}

/// Reads an MJCF file. Meshes are looked for in its folder and in those of `options`.
///
/// # Errors
/// Where the file cannot be read, is no MJCF, or describes what cannot be simulated.
pub fn read_mjcf(path: &Path, options: &RobotOptions) -> Result<Description, ImportError> {
    parse_mjcf(&content(path)?, path, &beside(path, options))
}

/// Reads the text of an MJCF file; `file` is what messages call it.
///
/// # Errors
/// Where it is no MJCF, or describes what cannot be simulated.
pub fn parse_mjcf(
    text: &str,
    file: &Path,
    options: &RobotOptions,
) -> Result<Description, ImportError> {
    Ok(doubted(mjcf::parse(text, file, options)?))
}

/// With notes on sizes that are doubtful.
fn doubted(mut robot: Description) -> Description {
    robot.notes.extend(sizes::doubts(&robot));
    robot.notes.sort_by_key(|n| n.line);
    robot
}

fn beside(path: &Path, options: &RobotOptions) -> RobotOptions {
    let folder = path.parent().map(Into::into).unwrap_or_default();
    RobotOptions { folder, ..options.clone() }
}

fn content(path: &Path) -> Result<String, ImportError> {
    let spot = || Spot { file: path.into(), line: 1, element: String::new() };
    let refused = |e: std::io::Error| ImportError::new(spot(), Problem::Read { kind: e.kind() });
    let file = std::fs::File::open(path).map_err(refused)?;
    let found = file.metadata().map_err(refused)?.len();
    if found > MOST_BYTES {
        return Err(ImportError::new(spot(), Problem::Size { found, most: MOST_BYTES }));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(refused)?;
    text_of(bytes).map_err(|e| ImportError::new(spot(), Problem::NotText { cause: e.to_string() }))
}
