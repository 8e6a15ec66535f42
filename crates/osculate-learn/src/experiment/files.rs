//! Configurations in, results out.

use super::ExperimentError;
use osculate_plot::LineFigure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A configuration, strictly: a field that is not known is an error.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, ExperimentError> {
    let file = path.display().to_string();
    let text = osculate_dynamics::file::read_text(path)
        .map_err(|source| ExperimentError::File { file: file.clone(), source })?;
    toml::from_str(&text).map_err(|e| ExperimentError::Syntax { file, source: Box::new(e) })
}

/// A path beside a configuration.
pub(super) fn beside(file: &Path, name: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new(".")).join(name)
}

/// Refuses a value unless it is allowed.
pub(super) fn require(
    file: &Path,
    (field, found): (&'static str, impl ToString),
    fits: bool,
    allowed: &'static str,
) -> Result<(), ExperimentError> {
    if fits {
        return Ok(());
    }
    let (file, found) = (file.display().to_string(), found.to_string());
    Err(ExperimentError::Value { file, field, found, allowed })
}

/// `report.json` and figures, PNG and SVG.
pub(super) fn write(
    folder: &Path,
    report: &impl Serialize,
    figures: &[(&str, LineFigure)],
) -> Result<(), ExperimentError> {
    let failed = |path: &Path| {
        let file = path.display().to_string();
        move |source| ExperimentError::File { file, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let path = folder.join("report.json");
    let text = serde_json::to_string_pretty(report)? + "\n";
    std::fs::write(&path, text).map_err(failed(&path))?;
    for (name, figure) in figures {
        figure.save(&folder.join(format!("{name}.png")))?;
        figure.save(&folder.join(format!("{name}.svg")))?;
    }
    Ok(())
}
