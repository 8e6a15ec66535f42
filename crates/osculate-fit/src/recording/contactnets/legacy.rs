//! A tensor saved in the legacy stream format, as the public recordings are.
//!
//! ```text
//! pickle  0x1950a86a20f9469cfc6c            magic number
//! pickle  1001                              protocol version
//! pickle  {protocol_version, little_endian, type_sizes}
//! pickle  tensor: storage key, element type, offset, shape, strides
//! pickle  \[storage key\]
//! i64     number of elements
//! f64…    elements, little endian
//! ```
//!
//! Nothing in the stream is executed. Accepted is exactly a contiguous `(1, frames, 19)` tensor of doubles that
//! fills its storage.

use super::pickle::{self, Value};
use crate::recording::RecordingError;
use std::path::Path;

/// Numbers per frame.
pub(super) const WIDTH: usize = 19;

const MAGIC: i128 = 0x1950_a86a_20f9_469c_fc6c;
const PROTOCOL: i128 = 1001;

/// Frames of a saved toss.
///
/// # Errors
/// [`RecordingError::Truncated`], [`RecordingError::Opcode`], [`RecordingError::Stream`],
/// [`RecordingError::TrailingBytes`], each with the offset of what was found.
pub(super) fn read_frames(bytes: &[u8], file: &Path) -> Result<Vec<[f64; WIDTH]>, RecordingError> {
    let stream = Stream { bytes, file };
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(stream.refuse(
            0,
            "the format",
            "a zip archive",
            "the legacy stream of tensors",
        ));
    }
    let (magic, next) = pickle::load(bytes, 0, file)?;
    stream.expect(0, "the magic number", &magic, &Value::Int(MAGIC))?;
    let (protocol, system) = pickle::load(bytes, next, file)?;
    stream.expect(next, "the protocol version", &protocol, &Value::Int(PROTOCOL))?;
    let (info, tensor_at) = pickle::load(bytes, system, file)?;
    stream.check_system(system, info)?;
    let (tensor, keys_at) = pickle::load(bytes, tensor_at, file)?;
    let (key, frames) = stream.tensor(tensor_at, tensor)?;
    let (keys, data_at) = pickle::load(bytes, keys_at, file)?;
    stream.expect(keys_at, "the list of storages", &keys, &Value::List(vec![key]))?;
    stream.elements(data_at, frames)
}

struct Stream<'a> {
    bytes: &'a [u8],
    file: &'a Path,
}

impl Stream<'_> {
    fn refuse(
        &self,
        offset: usize,
        what: &'static str,
        found: impl Into<String>,
        allowed: &'static str,
    ) -> RecordingError {
        RecordingError::Stream {
            file: self.file.into(),
            offset,
            what,
            found: found.into(),
            allowed,
        }
    }

    fn expect(
        &self,
        offset: usize,
        what: &'static str,
        found: &Value,
        expected: &Value,
    ) -> Result<(), RecordingError> {
        match found == expected {
            true => Ok(()),
            false => Err(self.refuse(offset, what, shown(found), "that of a saved tensor")),
        }
    }

    /// The system that wrote the file was little endian.
    fn check_system(&self, offset: usize, info: Value) -> Result<(), RecordingError> {
        let Value::Dict(entries) = info else {
            return Err(self.refuse(offset, "the system", shown(&info), "a dictionary"));
        };
        for (name, expected) in
            [("protocol_version", Value::Int(PROTOCOL)), ("little_endian", Value::Bool(true))]
        {
            let entry = entries.iter().find(|(k, _)| matches!(k, Value::Text(t) if t == name));
            let found = entry.map_or(&Value::None, |(_, value)| value);
            self.expect(offset, name, found, &expected)?;
        }
        Ok(())
    }

    /// Storage key and number of frames of the tensor's description.
    fn tensor(&self, offset: usize, tensor: Value) -> Result<(Value, usize), RecordingError> {
        const REBUILD: &str = "torch._utils._rebuild_tensor_v2";
        let arguments = match tensor {
            Value::Call(name, arguments) if name == REBUILD => arguments,
            other => return Err(self.refuse(offset, "the object", shown(&other), "a tensor")),
        };
        let Ok([storage, start, shape, strides, _gradient, hooks]) =
            <[Value; 6]>::try_from(arguments)
        else {
            return Err(self.refuse(offset, "the tensor", "another version", "six arguments"));
        };
        self.expect(offset, "the offset of the tensor", &start, &Value::Int(0))?;
        let no_hooks = Value::Call("collections.OrderedDict".into(), Vec::new());
        self.expect(offset, "the hooks of the tensor", &hooks, &no_hooks)?;
        let frames = self.frames(offset, &shape)?;
        let width = WIDTH as i128;
        // The stride of an axis of length one has no meaning.
        let contiguous = matches!(&strides, Value::Tuple(s)
            if matches!(s[..], [Value::Int(_), Value::Int(row), Value::Int(1)] if row == width));
        if !contiguous {
            let found = shown(&strides);
            return Err(self.refuse(offset, "the strides", found, "(_, 19, 1)"));
        }
        let key = self.storage(offset, storage, frames)?;
        Ok((key, frames))
    }

    fn frames(&self, offset: usize, shape: &Value) -> Result<usize, RecordingError> {
        if let Value::Tuple(sizes) = shape
            && let [Value::Int(1), Value::Int(frames), Value::Int(width)] = sizes[..]
            && width == WIDTH as i128
            && let Ok(frames) = u32::try_from(frames)
            && frames >= 2
            && let Ok(frames) = usize::try_from(frames)
        {
            return Ok(frames);
        }
        Err(self.refuse(offset, "the shape", shown(shape), "(1, frames ≥ 2, 19)"))
    }

    /// Key of a storage of doubles that the tensor fills.
    fn storage(
        &self,
        offset: usize,
        storage: Value,
        frames: usize,
    ) -> Result<Value, RecordingError> {
        const ALLOWED: &str = "(storage, DoubleStorage, key, location, frames × 19, none)";
        let found = shown(&storage);
        if let Value::Persistent(reference) = storage
            && let Value::Tuple(items) = *reference
            && let Ok([kind, class, key, Value::Text(_), Value::Int(count), Value::None]) =
                <[Value; 6]>::try_from(items)
            && kind == Value::Text("storage".into())
            && class == Value::Global("torch.DoubleStorage".into())
            && matches!(key, Value::Text(_))
            && frames.checked_mul(WIDTH).and_then(|n| i128::try_from(n).ok()) == Some(count)
        {
            return Ok(key);
        }
        Err(self.refuse(offset, "the storage", found, ALLOWED))
    }

    /// The numbers, and nothing behind them.
    fn elements(&self, offset: usize, frames: usize) -> Result<Vec<[f64; WIDTH]>, RecordingError> {
        let rest = &self.bytes[offset..];
        let (needed, available) = (8 * (1 + frames * WIDTH), rest.len());
        if available < needed {
            let file = self.file.into();
            return Err(RecordingError::Truncated { file, offset, needed, available });
        }
        if available > needed {
            let (file, offset, extra) = (self.file.into(), offset + needed, available - needed);
            return Err(RecordingError::TrailingBytes { file, offset, extra });
        }
        let mut words = rest.chunks_exact(8).map(|chunk| {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            word
        });
        let count = words.next().map_or(0, i64::from_le_bytes);
        if usize::try_from(count).ok() != Some(frames * WIDTH) {
            let found = count.to_string();
            return Err(self.refuse(offset, "the number of elements", found, "frames × 19"));
        }
        let mut table = vec![[0.0; WIDTH]; frames];
        for (index, (slot, word)) in table.as_flattened_mut().iter_mut().zip(words).enumerate() {
            *slot = f64::from_le_bytes(word);
            if !slot.is_finite() {
                let at = offset + 8 * (1 + index);
                return Err(self.refuse(at, "an element", slot.to_string(), "a finite number"));
            }
        }
        Ok(table)
    }
}

/// The beginning of a value for an error message.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = format!("{value:?}");
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Result<Vec<[f64; WIDTH]>, RecordingError> {
        read_frames(bytes, Path::new("7.pt"))
    }

    fn table() -> Vec<[f64; WIDTH]> {
        (0..300).map(|k| std::array::from_fn(|c| f64::from(k) + 0.01 * c as f64)).collect()
    }

    /// A stream in which one byte string is replaced.
    fn altered(from: &[u8], to: &[u8]) -> RecordingError {
        let bytes = synthetic::stream(&table());
        let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
        let altered = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
        read(&altered).unwrap_err()
    }

    #[test]
    fn elements_come_back_bit_by_bit() {
        for frames in [2, 13, 300] {
            let table = &table()[..frames];
            assert_eq!(read(&synthetic::stream(table)).unwrap(), table);
        }
    }

    #[test]
    fn every_cut_is_an_error() {
        let bytes = synthetic::stream(&table()[..2]);
        for length in 0..bytes.len() {
            let error = read(&bytes[..length]).unwrap_err();
            assert!(matches!(error, RecordingError::Truncated { .. }), "{length}: {error}");
        }
        let longer = [&bytes[..], b"\0"].concat();
        let error = read(&longer).unwrap_err();
        assert!(matches!(error, RecordingError::TrailingBytes { extra: 1, .. }), "{error}");
    }

    #[test]
    fn other_formats_types_and_layouts_are_refused_by_name() {
        for (from, to, named) in [
            (&b"\x8a\x0al"[..], &b"\x8a\x0am"[..], "magic number"),
            (b"M\xe9\x03.", b"M\xea\x03.", "protocol version"),
            (b"little_endianq\x02\x88", b"little_endianq\x02\x89", "little_endian"),
            (b"_rebuild_tensor_v2", b"_rebuild_parameter", "the object"),
            (b"DoubleStorage", b"FloatStorage", "FloatStorage"),
            (b"K\x00K\x01M", b"K\x01K\x01M", "offset of the tensor"),
            (b"K\x13\x87q\x06", b"K\x14\x87q\x06", "the shape"),
            (b"K\x13K\x01\x87", b"K\x01K\x13\x87", "the strides"),
            (b"]q\x00X\x01\x00\x00\x000", b"]q\x00X\x01\x00\x00\x001", "list of storages"),
        ] {
            let error = altered(from, to).to_string();
            assert!(error.starts_with("7.pt: byte ") && error.contains(named), "{error}");
        }
        let error = read(b"PK\x03\x04rest").unwrap_err().to_string();
        assert!(error.contains("zip"), "{error}");
    }

    #[test]
    fn element_count_and_finiteness_are_checked_at_their_offsets() {
        let bytes = synthetic::stream(&table());
        let data = bytes.len() - 8 * (1 + 300 * WIDTH);
        let mut count = bytes.clone();
        count[data] ^= 1;
        let error = read(&count).unwrap_err();
        assert!(
            matches!(error, RecordingError::Stream { offset, .. } if offset == data),
            "{error}"
        );
        let mut infinite = bytes;
        let at = data + 8 * (1 + 5);
        infinite[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
        let error = read(&infinite).unwrap_err();
        assert!(matches!(error, RecordingError::Stream { offset, .. } if offset == at), "{error}");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(read(&bytes).is_err());
        }

        #[test]
        fn damaged_streams_never_panic(at in 0_usize..400, byte in any::<u8>()) {
            let mut bytes = synthetic::stream(&table()[..2]);
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = read(&bytes);
        }
    }
}
