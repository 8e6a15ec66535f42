//! Numbers in the buffers of a glTF file, every offset, stride and count compared with the bytes that there are.

use super::super::Source;
use super::buffers::Buffers;
use crate::GeometryError;
use ::gltf::Accessor;
use ::gltf::accessor::{DataType, Dimensions};
use nalgebra::Vector3;

/// Positions `[m]`.
pub(super) fn points<'a>(
    source: &Source<'_>,
    buffers: &'a Buffers<'_>,
    accessor: &Accessor<'_>,
) -> Result<impl Iterator<Item = Vector3<f64>> + 'a, GeometryError> {
    if (accessor.data_type(), accessor.dimensions()) != (DataType::F32, Dimensions::Vec3) {
        return Err(refused(source, accessor, "positions of 32-bit floats"));
    }
    let number = |bytes: &[u8]| match *bytes {
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => f64::NAN,
    };
    let items = items(source, buffers, accessor)?;
    Ok(items.map(move |item| Vector3::from_iterator(item.chunks_exact(4).map(number))))
}

/// Indices of vertices.
pub(super) fn indices(
    source: &Source<'_>,
    buffers: &Buffers<'_>,
    accessor: &Accessor<'_>,
) -> Result<Vec<usize>, GeometryError> {
    let integers = matches!(accessor.data_type(), DataType::U8 | DataType::U16 | DataType::U32);
    if !integers || accessor.dimensions() != Dimensions::Scalar {
        return Err(refused(source, accessor, "indices of 8, 16 or 32 bits without sign"));
    }
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
    Ok(items(source, buffers, accessor)?.map(number).collect())
}

fn refused(source: &Source<'_>, accessor: &Accessor<'_>, allowed: &'static str) -> GeometryError {
    GeometryError::FileContent {
        path: source.path.into(),
        place: format!("accessor {}", accessor.index()),
        found: format!("of {:?} {:?}", accessor.data_type(), accessor.dimensions()),
        allowed,
    }
}

/// The bytes of each item.
fn items<'a>(
    source: &Source<'_>,
    buffers: &'a Buffers<'_>,
    accessor: &Accessor<'_>,
) -> Result<impl Iterator<Item = &'a [u8]> + 'a, GeometryError> {
    let place = || format!("accessor {}", accessor.index());
    let view = accessor.view().filter(|_| accessor.sparse().is_none());
    let Some(view) = view else {
        return Err(GeometryError::FileContent {
            path: source.path.into(),
            place: place(),
            found: "sparse or without bytes".into(),
            allowed: "a buffer view with all items",
        });
    };
    let (size, count) = (accessor.size(), accessor.count());
    let stride = view.stride().unwrap_or(size);
    let bytes = buffers.view(&view).unwrap_or_default();
    let steps = (count as u128).saturating_sub(1) * stride as u128;
    let needed = accessor.offset() as u128 + steps + size as u128;
    if needed > bytes.len() as u128 || stride < size {
        return Err(GeometryError::FileList {
            path: source.path.into(),
            list: place(),
            count: count as u64,
            needed,
            found: bytes.len() as u64,
        });
    }
    // Within the view, as was just seen.
    Ok(bytes[accessor.offset()..].chunks(stride).take(count).map(move |item| &item[..size]))
}
