//! Streams and tosses made for tests: no recording is needed to check the reader.

use super::legacy::WIDTH;

fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'X');
    out.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
    out.extend(text.as_bytes());
}

fn integer(out: &mut Vec<u8>, value: usize) {
    if let Ok(byte) = u8::try_from(value) {
        out.extend([b'K', byte]);
    } else {
        out.push(b'M');
        out.extend(u16::try_from(value).unwrap().to_le_bytes());
    }
}

/// The legacy stream of a `(1, frames, 19)` tensor of doubles, storage key `0`.
pub(super) fn stream(table: &[[f64; WIDTH]]) -> Vec<u8> {
    let count = table.len() * WIDTH;
    let mut out = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.".to_vec();

    out.extend(b"\x80\x02}q\x00(");
    text(&mut out, "protocol_version");
    out.extend(b"q\x01M\xe9\x03");
    text(&mut out, "little_endian");
    out.extend(b"q\x02\x88");
    text(&mut out, "type_sizes");
    out.extend(b"q\x03}q\x04(");
    text(&mut out, "long");
    out.extend(b"q\x05K\x04uu.");

    out.extend(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x00((");
    text(&mut out, "storage");
    out.extend(b"q\x01ctorch\nDoubleStorage\nq\x02");
    text(&mut out, "0");
    out.extend(b"q\x03");
    text(&mut out, "cpu");
    out.extend(b"q\x04");
    integer(&mut out, count);
    out.extend(b"Ntq\x05QK\x00K\x01");
    integer(&mut out, table.len());
    integer(&mut out, WIDTH);
    out.extend(b"\x87q\x06");
    integer(&mut out, count);
    integer(&mut out, WIDTH);
    out.extend(b"K\x01\x87q\x07\x89ccollections\nOrderedDict\nq\x08)Rq\x09tq\x0aRq\x0b.");

    out.extend(b"\x80\x02]q\x00");
    text(&mut out, "0");
    out.extend(b"q\x01a.");
    out.extend(u64::try_from(count).unwrap().to_le_bytes());
    out.extend(table.iter().flatten().flat_map(|x| x.to_le_bytes()));
    out
}
