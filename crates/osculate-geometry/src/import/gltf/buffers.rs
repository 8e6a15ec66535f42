//! The bytes that a glTF file refers to.

use super::super::Source;
use super::super::{MeshFormat, one_line};
use crate::GeometryError;
use ::gltf::{Document, buffer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::path::{Component, Path};

/// The buffers of a file, each as long as announced.
pub(super) struct Buffers<'a>(Vec<Cow<'a, [u8]>>);

impl<'a> Buffers<'a> {
    /// * `bin`: the binary part of a `.glb` file.
    pub(super) fn of(
        source: &Source<'_>,
        document: &Document,
        bin: Option<&'a [u8]>,
    ) -> Result<Self, GeometryError> {
        let (mut buffers, mut total) = (Vec::new(), 0u64);
        for buffer in document.buffers() {
            let mut bytes = match (buffer.source(), bin) {
                (buffer::Source::Uri(uri), _) => Cow::Owned(from_uri(source, &buffer, uri)?),
                (buffer::Source::Bin, Some(bin)) if buffer.index() == 0 => Cow::Borrowed(bin),
                (buffer::Source::Bin, _) => {
                    return Err(refused(
                        source,
                        &buffer,
                        "without bytes",
                        "a binary part or a uri",
                    ));
                }
            };
            let (count, found) = (buffer.length(), bytes.len());
            if found < count {
                return Err(GeometryError::FileList {
                    path: source.path.into(),
                    list: format!("buffer {}", buffer.index()),
                    count: count as u64,
                    needed: count as u128,
                    found: found as u64,
                });
            }
            match &mut bytes {
                Cow::Owned(bytes) => bytes.truncate(count),
                Cow::Borrowed(bytes) => *bytes = &bytes[..count],
            }
            // Any number of buffers may be one file.
            total = total.saturating_add(count as u64);
            source.check_size(total)?;
            buffers.push(bytes);
        }
        Ok(Self(buffers))
    }

    /// The bytes of a view; none where it does not lie in its buffer.
    pub(super) fn view(&self, view: &buffer::View<'_>) -> Option<&[u8]> {
        let end = view.offset().checked_add(view.length())?;
        self.0.get(view.buffer().index())?.get(view.offset()..end)
    }
}

fn refused(
    source: &Source<'_>,
    buffer: &buffer::Buffer<'_>,
    found: impl Into<String>,
    allowed: &'static str,
) -> GeometryError {
    let place = format!("buffer {}", buffer.index());
    GeometryError::FileContent { path: source.path.into(), place, found: found.into(), allowed }
}

/// Bytes written out in base 64, or those of a file in the folder.
fn from_uri(
    source: &Source<'_>,
    buffer: &buffer::Buffer<'_>,
    uri: &str,
) -> Result<Vec<u8>, GeometryError> {
    let shown = || format!("at {:?}", uri.chars().take(60).collect::<String>());
    if let Some(data) = uri.strip_prefix("data:") {
        let Some((_, data)) = data.split_once(";base64,") else {
            return Err(refused(source, buffer, shown(), "data in base 64"));
        };
        return STANDARD.decode(data).map_err(|e| {
            refused(source, buffer, format!("not readable: {}", one_line(e)), "data in base 64")
        });
    }
    let path = Path::new(uri);
    let inside = path.components().all(|c| matches!(c, Component::Normal(_)));
    if !inside || uri.is_empty() || uri.contains(['%', ':', '\\']) {
        let allowed = "a path within the folder of the file, without : % and \\";
        return Err(refused(source, buffer, shown(), allowed));
    }
    let Some(folder) = source.folder else {
        return Err(refused(source, buffer, shown(), "data in the file itself"));
    };
    let path = folder.join(path);
    Source { path: &path, most: source.most, folder: None }.read(MeshFormat::Gltf)
}
