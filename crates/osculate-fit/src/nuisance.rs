//! Numbers that are another in each recording or experiment: a tilt, a marker scale, a released velocity.
//!
//! ```text
//! θ_b = θ_scene + l_b,    l_b ~ N(0, σ²)        one l for each recording b, eliminated with the initial state
//! ```

use crate::contact_model::{Entry, index_of};
use serde::{Deserialize, Serialize};

/// A number that is another in each recording, around its value in the scene.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Nuisance {
    /// Path in the scene's layout, or the part before `_x`, `_y`, `_z`, for all three.
    pub path: String,
    /// Standard deviation over recordings, in the unit of the number.
    pub sigma: f64,
}

/// What can be wrong with nuisance parameters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NuisanceError {
    /// No number of the scene has that path.
    #[error(
        "found '{path}', allowed: a path of the scene, or one before _x, _y, _z (`osculate parameters` lists them)"
    )]
    Unknown {
        /// The path found.
        path: String,
    },
    /// One number is free twice.
    #[error("found '{path}', which is free already, allowed: each number once")]
    Twice {
        /// Its path.
        path: String,
    },
    /// A standard deviation is not positive.
    #[error("sigma of '{path}' is {found}, allowed: > 0")]
    Sigma {
        /// Path of the number.
        path: String,
        /// The value found.
        found: f64,
    },
}

/// Places among the numbers of a scene, each with its standard deviation.
///
/// * `taken`: places of numbers that are free already.
///
/// # Errors
/// With the index of the first that is wrong.
pub fn places(
    entries: &[Entry],
    nuisances: &[Nuisance],
    taken: &[usize],
) -> Result<Vec<(usize, f64)>, (usize, NuisanceError)> {
    let mut all: Vec<(usize, f64)> = Vec::new();
    for (i, n) in nuisances.iter().enumerate() {
        let path = n.path.clone();
        if !(n.sigma.is_finite() && n.sigma > 0.0) {
            return Err((i, NuisanceError::Sigma { path, found: n.sigma }));
        }
        let axes = ["x", "y", "z"].map(|axis| index_of(entries, &format!("{path}_{axis}")));
        let found = match index_of(entries, &path) {
            Some(index) => vec![index],
            None => axes.into_iter().flatten().collect(),
        };
        if found.is_empty() {
            return Err((i, NuisanceError::Unknown { path }));
        }
        for index in found {
            if taken.contains(&index) || all.iter().any(|a| a.0 == index) {
                return Err((i, NuisanceError::Twice { path: entries[index].path.clone() }));
            }
            all.push((index, n.sigma));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        ["a.v_x", "a.v_y", "a.v_z", "g"].map(|path| Entry { path: path.into(), unit: "" }).to_vec()
    }

    fn one(path: &str) -> Nuisance {
        Nuisance { path: path.into(), sigma: 0.1 }
    }

    #[test]
    fn a_stem_stands_for_its_three_axes_and_nothing_is_free_twice() {
        let found = places(&entries(), &[one("a.v"), one("g")], &[]).unwrap();
        assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let twice = places(&entries(), &[one("a.v"), one("a.v_y")], &[]).unwrap_err();
        assert_eq!(twice, (1, NuisanceError::Twice { path: "a.v_y".into() }));
        assert!(matches!(
            places(&entries(), &[one("g")], &[3]),
            Err((0, NuisanceError::Twice { .. }))
        ));
        assert!(matches!(
            places(&entries(), &[one("h")], &[]),
            Err((0, NuisanceError::Unknown { .. }))
        ));
        let wide = Nuisance { sigma: 0.0, ..one("g") };
        assert!(matches!(places(&entries(), &[wide], &[]), Err((0, NuisanceError::Sigma { .. }))));
    }
}
