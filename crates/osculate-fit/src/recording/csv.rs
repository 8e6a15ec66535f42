//! One trajectory, one CSV file.
//!
//! ```text
//! t,px,py,pz,qw,qx,qy,qz[,vx,vy,vz,wx,wy,wz]
//! ```
//!
//! `t` (s), `p` (m) and `v` \[m/s\] in the world frame, `q` the body-to-world quaternion, scalar first, `w` \[rad/s\]
//! in the **body** frame. Columns may come in any order; the six velocity columns come together or not at all.
//! Every line, the last one too, ends with a line end: a file without it may have lost digits.

use super::{RecordingError, files};
use nalgebra::Vector3;
use osculate_math::{se3::Pose, so3};
use std::{fmt::Write, path::Path};

#[cfg(test)]
mod tests;

/// Columns of a file with velocities; the first [`POSE_COLUMNS`] are those of a file without.
pub const COLUMNS: [&str; 14] =
    ["t", "px", "py", "pz", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"];

/// Number of columns of a file without velocities.
pub const POSE_COLUMNS: usize = 8;

/// Fewest rows of a trajectory.
pub const FEWEST_ROWS: usize = 2;

/// Allowed distance of a quaternion norm from 1; ten printed digits stay below `2e-10`.
pub const NORM_TOLERANCE: f64 = 1e-6;

/// Measured motion of one rigid body.
///
/// All series have the same length, [`FEWEST_ROWS`] or more when read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Number of the toss.
    pub id: u32,
    /// Times (s), increasing, shape `[frames]`.
    pub times: Vec<f64>,
    /// Poses, body to world, positions in m, shape `[frames]`.
    pub poses: Vec<Pose>,
    /// Velocities of the origin of the body frame \[m/s\], world frame, shape `[frames]`.
    pub velocities: Option<Vec<Vector3<f64>>>,
    /// Angular velocities \[rad/s\], **body** frame (`R ω` in the world), shape `[frames]`.
    pub angular_velocities: Option<Vec<Vector3<f64>>>,
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// [`RecordingError::Io`], or what [`Recording::parse_csv`] refuses.
    pub fn read_csv(path: &Path, id: u32) -> Result<Self, RecordingError> {
        Self::parse_csv(&files::read(path)?, path, id)
    }

    /// Parses the content of a file; `file` is only named in errors.
    ///
    /// # Errors
    /// One variant of [`RecordingError`] per failure: header, field count, number, finiteness, quaternion norm,
    /// order of times, number of rows, cut-short last line. Never panics, whatever the bytes.
    pub fn parse_csv(bytes: &[u8], file: &Path, id: u32) -> Result<Self, RecordingError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut lines = bytes.split_inclusive(|&b| b == b'\n').enumerate();
        let header = lines.next().map_or(&[][..], |(_, line)| line);
        let layout = Layout::parse(header, file)?;
        let mut recording = Self::empty(id, layout.velocities);
        for (index, line) in lines {
            if !line.trim_ascii().is_empty() {
                let row = layout.row(line, file, index + 1)?;
                recording.push(&row, file, index + 1)?;
            }
        }
        match recording.times.len() {
            0 => Err(RecordingError::EmptyTrajectory { file: file.into(), needed: FEWEST_ROWS }),
            found if found < FEWEST_ROWS => {
                Err(RecordingError::TooFewRows { file: file.into(), found, needed: FEWEST_ROWS })
            }
            _ => Ok(recording),
        }
    }

    /// Writes a file in the same layout, replacing it atomically.
    ///
    /// Times get nine decimals, everything else ten significant digits; the sign of a quaternion, which a rotation
    /// does not have, is non-negative in `w` on the first row and continuous from there.
    ///
    /// # Errors
    /// [`RecordingError::Io`], [`RecordingError::SeriesLength`], [`RecordingError::NotFinite`].
    pub fn write_csv(&self, path: &Path) -> Result<(), RecordingError> {
        self.check_lengths()?;
        let mut previous = [1.0, 0.0, 0.0, 0.0];
        let mut rows = Vec::with_capacity(self.times.len());
        for (k, (time, pose)) in self.times.iter().zip(&self.poses).enumerate() {
            let mut q = so3::to_quaternion(&pose.rotation);
            if q.iter().zip(previous).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
                q = q.map(|x| -x);
            }
            previous = q;
            let mut row = vec![*time];
            row.extend(pose.position.iter().chain(&q));
            if let (Some(v), Some(w)) = (&self.velocities, &self.angular_velocities) {
                row.extend(v[k].iter().chain(w[k].iter()));
            }
            rows.push(row);
        }
        let columns = if self.has_velocities() { COLUMNS.len() } else { POSE_COLUMNS };
        write_rows(path, &COLUMNS[..columns], &rows)
    }

    /// Whether both velocity series are there.
    pub fn has_velocities(&self) -> bool {
        self.velocities.is_some() && self.angular_velocities.is_some()
    }

    /// A recording without frames.
    pub(crate) fn empty(id: u32, velocities: bool) -> Self {
        Self {
            id,
            times: Vec::new(),
            poses: Vec::new(),
            velocities: velocities.then(Vec::new),
            angular_velocities: velocities.then(Vec::new),
        }
    }

    /// Appends a row in the order of [`COLUMNS`] after checking it; velocities beyond the layout are ignored.
    pub(crate) fn push(
        &mut self,
        row: &[f64; COLUMNS.len()],
        file: &Path,
        line: usize,
    ) -> Result<(), RecordingError> {
        let [t, px, py, pz, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz] = *row;
        if let Some(&previous) = self.times.last()
            && t <= previous
        {
            return Err(RecordingError::TimeNotIncreasing {
                file: file.into(),
                line,
                found: t,
                previous,
            });
        }
        let norm = (qw * qw + qx * qx + qy * qy + qz * qz).sqrt();
        if (norm - 1.0).abs() > NORM_TOLERANCE {
            let tolerance = NORM_TOLERANCE;
            return Err(RecordingError::QuaternionNorm {
                file: file.into(),
                line,
                norm,
                tolerance,
            });
        }
        self.times.push(t);
        self.poses.push(Pose {
            position: Vector3::new(px, py, pz),
            rotation: so3::from_quaternion([qw, qx, qy, qz]),
        });
        if let Some(velocities) = &mut self.velocities {
            velocities.push(Vector3::new(vx, vy, vz));
        }
        if let Some(velocities) = &mut self.angular_velocities {
            velocities.push(Vector3::new(wx, wy, wz));
        }
        Ok(())
    }

    /// All series are as long as `times`, and both velocities are there or neither.
    pub(crate) fn check_lengths(&self) -> Result<(), RecordingError> {
        let expected = self.times.len();
        let both = self.velocities.is_some() || self.angular_velocities.is_some();
        let velocities = |series: &Option<Vec<Vector3<f64>>>| match series {
            Some(values) => values.len(),
            None if both => 0,
            None => expected,
        };
        for (series, found) in [
            ("poses", self.poses.len()),
            ("velocities", velocities(&self.velocities)),
            ("angular velocities", velocities(&self.angular_velocities)),
        ] {
            if found != expected {
                return Err(RecordingError::SeriesLength { id: self.id, series, found, expected });
            }
        }
        Ok(())
    }
}

/// Where the columns of a file are.
struct Layout {
    /// For each field of a line, its index in [`COLUMNS`].
    order: Vec<usize>,
    velocities: bool,
}

impl Layout {
    fn parse(header: &[u8], file: &Path) -> Result<Self, RecordingError> {
        let expected = || {
            let (pose, velocity) = COLUMNS.split_at(POSE_COLUMNS);
            format!("`{}[,{}]`", pose.join(","), velocity.join(","))
        };
        if header.trim_ascii().is_empty() {
            return Err(RecordingError::NoHeader { file: file.into(), expected: expected() });
        }
        let mut order = Vec::new();
        for name in header.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
            let Some(column) = COLUMNS.iter().position(|c| c.as_bytes() == name) else {
                let (column, expected) = (excerpt(name), expected());
                return Err(RecordingError::UnknownColumn { file: file.into(), column, expected });
            };
            if order.contains(&column) {
                let column = COLUMNS[column];
                return Err(RecordingError::DuplicateColumn { file: file.into(), column });
            }
            order.push(column);
        }
        let velocities = order.iter().any(|&c| c >= POSE_COLUMNS);
        let needed = if velocities { COLUMNS.len() } else { POSE_COLUMNS };
        match (0..needed).find(|c| !order.contains(c)) {
            Some(column) => Err(RecordingError::MissingColumn {
                file: file.into(),
                column: COLUMNS[column],
                expected: expected(),
            }),
            None => Ok(Self { order, velocities }),
        }
    }

    /// The numbers of a line in the order of [`COLUMNS`], zero where the file has no column.
    fn row(
        &self,
        line: &[u8],
        file: &Path,
        number: usize,
    ) -> Result<[f64; COLUMNS.len()], RecordingError> {
        let (found, expected) = (line.split(|&b| b == b',').count(), self.order.len());
        let ended = line.ends_with(b"\n");
        if !ended {
            let file = file.into();
            return Err(RecordingError::CutShort { file, line: number, found, expected });
        }
        if found != expected {
            let file = file.into();
            return Err(RecordingError::FieldCount { file, line: number, found, expected });
        }
        let mut row = [0.0; COLUMNS.len()];
        for (field, &column) in line.split(|&b| b == b',').zip(&self.order) {
            row[column] = parse_number(field.trim_ascii(), file, number, COLUMNS[column])?;
        }
        Ok(row)
    }
}

fn parse_number(
    field: &[u8],
    file: &Path,
    line: usize,
    column: &'static str,
) -> Result<f64, RecordingError> {
    let parsed = std::str::from_utf8(field).ok().and_then(|text| text.parse::<f64>().ok());
    match parsed {
        Some(number) if number.is_finite() => Ok(number),
        Some(found) => Err(RecordingError::NotFinite { file: file.into(), line, column, found }),
        None => {
            let found = excerpt(field);
            Err(RecordingError::NotANumber { file: file.into(), line, column, found })
        }
    }
}

/// The beginning of a field, printable, for an error message.
fn excerpt(field: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text: String = String::from_utf8_lossy(field).chars().take(LONGEST + 1).collect();
    let shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().count() > LONGEST { format!("{shown}…") } else { shown }
}

/// Writes a header and rows, the first column as a time.
pub(crate) fn write_rows<R: AsRef<[f64]>>(
    path: &Path,
    columns: &[&'static str],
    rows: &[R],
) -> Result<(), RecordingError> {
    let mut text = columns.join(",");
    text.push('\n');
    for (index, row) in rows.iter().enumerate() {
        for (k, (&value, &column)) in row.as_ref().iter().zip(columns).enumerate() {
            if !value.is_finite() {
                let (file, line) = (path.into(), index + 2);
                return Err(RecordingError::NotFinite { file, line, column, found: value });
            }
            if k == 0 {
                // Writing to a string cannot fail.
                let _ = write!(text, "{value:.9}");
            } else {
                text.push(',');
                text.push_str(&ten_digits(value));
            }
        }
        text.push('\n');
    }
    files::write(path, text.as_bytes())
}

/// `printf("%.10g")`: ten significant digits without trailing zeros, an exponent only where it is shorter.
fn ten_digits(value: f64) -> String {
    let scientific = format!("{value:.9e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match usize::try_from(9 - exponent) {
        Ok(decimals) if exponent >= -4 => trimmed(&format!("{value:.decimals$}")),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
        }
    }
}
