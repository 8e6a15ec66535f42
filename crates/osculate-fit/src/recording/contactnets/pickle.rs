//! The part of the pickle protocol that a saved tensor uses.
//!
//! A stack machine that builds plain values and calls nothing: a global is a name, a call is a name with
//! arguments. Opcodes, sizes and shared values beyond what a tensor needs are refused, so the work is bounded by
//! the length of the input.
//!
//! Source: the opcode table of Python's `pickletools`, protocol 2.

use crate::recording::RecordingError;
use std::{collections::BTreeMap, path::Path};

/// Longest accepted pickle (bytes); those of a saved tensor have less than 200.
pub(super) const LONGEST: usize = 4096;

/// A decoded object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i128),
    Text(String),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// `module.name`.
    Global(String),
    /// Reference to something outside the pickle.
    Persistent(Box<Value>),
    /// `callable(arguments)`, not carried out.
    Call(String, Vec<Value>),
}

/// Decodes the pickle at `offset` and returns it with the offset after its last byte.
///
/// # Errors
/// [`RecordingError::Truncated`], [`RecordingError::Opcode`], [`RecordingError::Stream`].
pub(super) fn load(
    bytes: &[u8],
    offset: usize,
    file: &Path,
) -> Result<(Value, usize), RecordingError> {
    let mut machine = Machine {
        bytes,
        file,
        start: offset,
        at: offset,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: BTreeMap::new(),
    };
    while !machine.step()? {}
    let value = machine.pop()?;
    match (machine.stack.len(), machine.marks.len()) {
        (0, 0) => Ok((value, machine.at)),
        _ => Err(machine.refuse("the stack at the end of a pickle", "more than one object")),
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    file: &'a Path,
    /// Offset of the first byte of the pickle.
    start: usize,
    /// Offset of the next byte.
    at: usize,
    stack: Vec<Value>,
    /// Stack heights at open marks.
    marks: Vec<usize>,
    memo: BTreeMap<u32, Value>,
}

impl<'a> Machine<'a> {
    /// Executes one opcode; true after the last.
    fn step(&mut self) -> Result<bool, RecordingError> {
        if self.at - self.start > LONGEST {
            return Err(self.refuse("the length of a pickle", format!("over {LONGEST} bytes")));
        }
        let offset = self.at;
        let [opcode] = self.array()?;
        match opcode {
            b'.' => return Ok(true),
            0x80 => {
                let [version] = self.array()?;
                if version != 2 {
                    return Err(self.refuse("the pickle protocol", version.to_string()));
                }
            }
            b'(' => self.marks.push(self.stack.len()),
            b'q' => {
                let [key] = self.array()?;
                self.remember(u32::from(key))?;
            }
            b'r' => {
                let key = u32::from_le_bytes(self.array()?);
                self.remember(key)?;
            }
            b'h' => {
                let [key] = self.array()?;
                self.recall(u32::from(key))?;
            }
            b'N' | 0x88 | 0x89 | b'K' | b'M' | b'J' | 0x8a | b'X' | b'c' => self.scalar(opcode)?,
            b')' | b']' | b'}' | b't' | 0x85..=0x87 | b'a' | b'e' | b's' | b'u' | b'Q' | b'R' => {
                self.container(opcode)?;
            }
            _ => {
                return Err(RecordingError::Opcode { file: self.file.into(), offset, opcode });
            }
        }
        Ok(false)
    }

    /// Constants, numbers, strings and names.
    fn scalar(&mut self, opcode: u8) -> Result<(), RecordingError> {
        let value = match opcode {
            0x88 => Value::Bool(true),
            0x89 => Value::Bool(false),
            b'K' => Value::Int(u8::from_le_bytes(self.array()?).into()),
            b'M' => Value::Int(u16::from_le_bytes(self.array()?).into()),
            b'J' => Value::Int(i32::from_le_bytes(self.array()?).into()),
            0x8a => self.long()?,
            b'X' => {
                let length = u32::from_le_bytes(self.array()?);
                let bytes = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
                Value::Text(self.text(bytes)?)
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                Value::Global(format!("{module}.{name}"))
            }
            _ => Value::None,
        };
        self.stack.push(value);
        Ok(())
    }

    /// Tuples, lists, dictionaries, references and calls.
    fn container(&mut self, opcode: u8) -> Result<(), RecordingError> {
        match opcode {
            b')' => self.stack.push(Value::Tuple(Vec::new())),
            b']' => self.stack.push(Value::List(Vec::new())),
            b'}' => self.stack.push(Value::Dict(Vec::new())),
            b't' => {
                let items = self.pop_to_mark()?;
                self.stack.push(Value::Tuple(items));
            }
            0x85..=0x87 => {
                let items = self.pop_many(usize::from(opcode - 0x84))?;
                self.stack.push(Value::Tuple(items));
            }
            b'a' | b'e' => {
                let items = if opcode == b'a' { self.pop_many(1)? } else { self.pop_to_mark()? };
                match self.stack.last_mut() {
                    Some(Value::List(list)) => list.extend(items),
                    _ => return Err(self.refuse("the target of an append", "not a list")),
                }
            }
            b's' | b'u' => {
                let items = if opcode == b's' { self.pop_many(2)? } else { self.pop_to_mark()? };
                if items.len() % 2 != 0 {
                    return Err(self.refuse("the items of a dictionary", "an odd number"));
                }
                let mut items = items.into_iter();
                let pairs = std::iter::from_fn(|| Some((items.next()?, items.next()?)));
                match self.stack.last_mut() {
                    Some(Value::Dict(dict)) => dict.extend(pairs),
                    _ => return Err(self.refuse("the target of an item", "not a dictionary")),
                }
            }
            b'Q' => {
                let reference = self.pop()?;
                self.stack.push(Value::Persistent(Box::new(reference)));
            }
            _ => match (self.pop()?, self.pop()?) {
                (Value::Tuple(arguments), Value::Global(name)) => {
                    self.stack.push(Value::Call(name, arguments));
                }
                _ => return Err(self.refuse("a call", "not a name with a tuple")),
            },
        }
        Ok(())
    }

    /// A little-endian two's complement integer with its length in front.
    fn long(&mut self) -> Result<Value, RecordingError> {
        let [length] = self.array()?;
        let bytes = self.take(usize::from(length))?;
        if bytes.len() > 16 {
            return Err(self.refuse("the size of an integer", format!("{length} bytes")));
        }
        let negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        Ok(Value::Int(i128::from_le_bytes(wide)))
    }

    fn remember(&mut self, key: u32) -> Result<(), RecordingError> {
        match self.stack.last() {
            // Containers may still grow, and copies of copies would grow without bound: they cannot be recalled.
            Some(value @ (Value::Text(_) | Value::Int(_) | Value::Global(_))) => {
                self.memo.insert(key, value.clone());
                Ok(())
            }
            Some(_) => {
                self.memo.remove(&key);
                Ok(())
            }
            None => Err(self.refuse("the stack", "empty")),
        }
    }

    fn recall(&mut self, key: u32) -> Result<(), RecordingError> {
        match self.memo.get(&key) {
            Some(value) => {
                self.stack.push(value.clone());
                Ok(())
            }
            None => Err(self.refuse("a shared value", format!("number {key}, not a name or text"))),
        }
    }

    /// Pops an object above the last mark.
    fn pop(&mut self) -> Result<Value, RecordingError> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.pop() {
            Some(value) if self.stack.len() >= floor => Ok(value),
            _ => Err(self.refuse("the stack", "empty")),
        }
    }

    fn pop_many(&mut self, count: usize) -> Result<Vec<Value>, RecordingError> {
        let mut items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        Ok(items)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Value>, RecordingError> {
        match self.marks.pop() {
            Some(mark) if mark <= self.stack.len() => Ok(self.stack.split_off(mark)),
            _ => Err(self.refuse("the stack", "without a mark")),
        }
    }

    fn take(&mut self, needed: usize) -> Result<&'a [u8], RecordingError> {
        let rest = &self.bytes[self.at..];
        match rest.get(..needed) {
            Some(taken) => {
                self.at += needed;
                Ok(taken)
            }
            None => Err(RecordingError::Truncated {
                file: self.file.into(),
                offset: self.at,
                needed,
                available: rest.len(),
            }),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RecordingError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// Text up to a line feed.
    fn line(&mut self) -> Result<String, RecordingError> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().take(LONGEST).position(|&b| b == b'\n').unwrap_or(rest.len());
        let bytes = self.take(length + 1)?;
        self.text(&bytes[..length])
    }

    fn text(&self, bytes: &[u8]) -> Result<String, RecordingError> {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.len() <= LONGEST => Ok(text.to_owned()),
            _ => Err(self.refuse("a text", "not short UTF-8")),
        }
    }

    fn refuse(&self, what: &'static str, found: impl Into<String>) -> RecordingError {
        RecordingError::Stream {
            file: self.file.into(),
            offset: self.at,
            what,
            found: found.into(),
            allowed: "the pickle of a saved tensor",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(bytes: &[u8]) -> Result<(Value, usize), RecordingError> {
        load(bytes, 0, Path::new("x.pt"))
    }

    #[test]
    fn integers_keep_sign_and_size() {
        for (bytes, expected) in [
            (&b"K\xff."[..], 255),
            (b"M\x00\x80.", 32_768),
            (b"J\xfe\xff\xff\xff.", -2),
            (b"\x8a\x00.", 0),
            (b"\x8a\x01\xff.", -1),
            (b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", 0x1950_a86a_20f9_469c_fc6c),
        ] {
            assert_eq!(decode(bytes).unwrap(), (Value::Int(expected), bytes.len()));
        }
    }

    #[test]
    fn containers_nest_and_shared_names_are_recalled() {
        let (value, _) =
            decode(b"\x80\x02}(X\x01\x00\x00\x00aq\x01(K\x01h\x01th\x01]N\x88\x86au.").unwrap();
        let text = || Value::Text("a".into());
        let list = Value::List(vec![Value::Tuple(vec![Value::None, Value::Bool(true)])]);
        let tuple = Value::Tuple(vec![Value::Int(1), text()]);
        assert_eq!(value, Value::Dict(vec![(text(), tuple), (text(), list)]));
    }

    #[test]
    fn calls_are_named_and_never_made() {
        let (value, _) = decode(b"cos\nsystem\nX\x02\x00\x00\x00ls\x85R.").unwrap();
        assert_eq!(value, Value::Call("os.system".into(), vec![Value::Text("ls".into())]));
    }

    #[test]
    fn foreign_opcodes_shared_containers_and_runaway_streams_are_refused() {
        let error = decode(b"K\x01i").unwrap_err();
        assert!(matches!(error, RecordingError::Opcode { offset: 2, opcode: b'i', .. }), "{error}");
        assert!(matches!(decode(b"]q\x00h\x00."), Err(RecordingError::Stream { .. })));
        assert!(matches!(decode(b"K\x01K\x02."), Err(RecordingError::Stream { .. })));
        assert!(matches!(decode(b"K\x01(\x85."), Err(RecordingError::Stream { .. })));
        let endless = [b"N".as_slice(), &[0x85; 3 * LONGEST]].concat();
        assert!(matches!(decode(&endless), Err(RecordingError::Stream { .. })));
        let error = decode(b"X\x09\x00\x00\x00abc").unwrap_err();
        assert!(
            matches!(error, RecordingError::Truncated { offset: 5, needed: 9, available: 3, .. }),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_opcodes_never_panic(
            bytes in prop::collection::vec(
                prop::sample::select(b"().]}NKMJXcqrhtaesuQR\x80\x85\x86\x87\x88\x89\x8a\x00\x01\n".to_vec()),
                0..60,
            )
        ) {
            let _ = decode(&bytes);
        }
    }
}
