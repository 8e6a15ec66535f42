//! One trajectory, one CSV file.
//!
//! ```text
//! t,px,py,pz,qw,qx,qy,qz[,vx,vy,vz,wx,wy,wz]
//! ```
//!
//! `t` (s), `p` (m) and `v` \[m/s\] in the world frame, `q` the body-to-world quaternion, scalar first, `w` \[rad/s\]
//! in the **body** frame. Columns may come in any order; the six velocity columns come together or not at all.
//! Every line, the last one too, ends with a line end: a file without it may have lost digits.
//!
//! A folder whose metadata list `extra_columns` has these beside the pose, or in place of all of it: joint angles, forces, masks. A
//! field of theirs may be empty: nothing was measured there.

use super::{RecordingError, files};
use nalgebra::Vector3;
use osculate_math::{se3::Pose, so3};
use std::{collections::BTreeMap, fmt::Write, path::Path};

mod layout;
#[cfg(test)]
mod tests;

use layout::Layout;
pub(crate) use layout::parse_number;

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
    /// Poses, body to world, positions in m, shape `[frames]`; empty where the file has none, only extra columns.
    pub poses: Vec<Pose>,
    /// Velocities of the origin of the body frame \[m/s\], world frame, shape `[frames]`.
    pub velocities: Option<Vec<Vector3<f64>>>,
    /// Angular velocities \[rad/s\], **body** frame (`R ω` in the world), shape `[frames]`.
    pub angular_velocities: Option<Vec<Vector3<f64>>>,
    /// Extra columns, each of shape `[frames]`; none where a field is empty.
    pub extra: BTreeMap<String, Vec<Option<f64>>>,
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// [`RecordingError::Io`], or what [`Recording::parse_csv`] refuses.
    pub fn read_csv(path: &Path, id: u32) -> Result<Self, RecordingError> {
        Self::read_csv_with(path, id, &[])
    }

    /// Reads a file that may have extra columns.
    ///
    /// # Errors
    /// As [`Recording::read_csv`].
    pub fn read_csv_with(path: &Path, id: u32, extra: &[String]) -> Result<Self, RecordingError> {
        Self::parse_csv_with(&files::read(path)?, path, id, extra)
    }

    /// Parses the content of a file; `file` is only named in errors.
    ///
    /// # Errors
    /// One variant of [`RecordingError`] per failure: header, field count, number, finiteness, quaternion norm,
    /// order of times, number of rows, cut-short last line. Never panics, whatever the bytes.
    pub fn parse_csv(bytes: &[u8], file: &Path, id: u32) -> Result<Self, RecordingError> {
        Self::parse_csv_with(bytes, file, id, &[])
    }

    /// As [`Recording::parse_csv`], of a file that has these columns too, in any order.
    ///
    /// # Errors
    /// As [`Recording::parse_csv`].
    pub fn parse_csv_with(
        bytes: &[u8],
        file: &Path,
        id: u32,
        extra: &[String],
    ) -> Result<Self, RecordingError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut lines = bytes.split_inclusive(|&b| b == b'\n').enumerate();
        let header = lines.next().map_or(&[][..], |(_, line)| line);
        let layout = Layout::parse(header, file, extra)?;
        let mut recording = Self::empty(id, layout.velocities);
        recording.extra = extra.iter().map(|name| (name.clone(), Vec::new())).collect();
        let mut last = 1;
        for (index, line) in lines {
            if !line.trim_ascii().is_empty() {
                last = index + 1;
                let (row, more) = layout.row(line, (file, extra), index + 1)?;
                if layout.poses {
                    recording.push(&row, file, index + 1)?;
                } else {
                    recording.check_time(row[0], file, index + 1)?;
                    recording.times.push(row[0]);
                }
                for (name, value) in extra.iter().zip(more) {
                    recording.extra.entry(name.clone()).or_default().push(value);
                }
            }
        }
        match recording.times.len() {
            0 => Err(RecordingError::EmptyTrajectory { file: file.into(), needed: FEWEST_ROWS }),
            found if found < FEWEST_ROWS => {
                let (file, line, needed) = (file.into(), last, FEWEST_ROWS);
                Err(RecordingError::TooFewRows { file, line, found, needed })
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
        for (k, time) in self.times.iter().enumerate() {
            let mut row = vec![Some(*time)];
            if let Some(pose) = self.poses.get(k) {
                self.push_fields(k, pose, &mut previous, &mut row);
            }
            row.extend(self.extra.values().map(|series| series[k]));
            rows.push(row);
        }
        let columns = match (self.poses.is_empty(), self.has_velocities()) {
            (true, _) => 1,
            (false, true) => COLUMNS.len(),
            (false, false) => POSE_COLUMNS,
        };
        let mut names = COLUMNS[..columns].to_vec();
        names.extend(self.extra.keys().map(String::as_str));
        write_rows(path, &names, &rows)
    }

    /// Pose and velocities of a frame; `previous` is the quaternion of the frame before.
    fn push_fields(
        &self,
        k: usize,
        pose: &Pose,
        previous: &mut [f64; 4],
        row: &mut Vec<Option<f64>>,
    ) {
        let mut q = so3::to_quaternion(&pose.rotation);
        if q.iter().zip(previous.iter()).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
            q = q.map(|x| -x);
        }
        *previous = q;
        row.extend(pose.position.iter().chain(&q).copied().map(Some));
        if let (Some(v), Some(w)) = (&self.velocities, &self.angular_velocities) {
            row.extend(v[k].iter().chain(w[k].iter()).copied().map(Some));
        }
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
            extra: BTreeMap::new(),
        }
    }

    /// Times go forward.
    fn check_time(&self, found: f64, file: &Path, line: usize) -> Result<(), RecordingError> {
        match self.times.last() {
            Some(&previous) if found <= previous => {
                Err(RecordingError::TimeNotIncreasing { file: file.into(), line, found, previous })
            }
            _ => Ok(()),
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
        self.check_time(t, file, line)?;
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
        let poses = if self.extra.is_empty() || both {
            self.poses.len()
        } else {
            self.poses.len().max(expected * usize::from(self.poses.is_empty()))
        };
        let velocities = |series: &Option<Vec<Vector3<f64>>>| match series {
            Some(values) => values.len(),
            None if both => 0,
            None => expected,
        };
        for (series, found) in [
            ("poses", poses),
            ("velocities", velocities(&self.velocities)),
            ("angular velocities", velocities(&self.angular_velocities)),
        ] {
            if found != expected {
                return Err(RecordingError::SeriesLength { id: self.id, series, found, expected });
            }
        }
        if let Some(series) = self.extra.values().find(|s| s.len() != expected) {
            let (series, found) = ("values of an extra column", series.len());
            return Err(RecordingError::SeriesLength { id: self.id, series, found, expected });
        }
        Ok(())
    }
}

/// Writes a header and rows, the first column as a time; a field without a value stays empty.
pub(crate) fn write_rows<V: Copy + Into<Option<f64>>>(
    path: &Path,
    columns: &[&str],
    rows: &[impl AsRef<[V]>],
) -> Result<(), RecordingError> {
    let mut text = columns.join(",");
    text.push('\n');
    for (index, row) in rows.iter().enumerate() {
        for (k, (&value, &column)) in row.as_ref().iter().zip(columns).enumerate() {
            let Some(value) = value.into() else {
                text.push(',');
                continue;
            };
            if !value.is_finite() {
                let (file, line, column) = (path.into(), index + 2, column.to_owned());
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
