//! The structure of the three formats, walked from the first byte to the last without decoding anything.
//!
//! Sources: PNG, third edition (W3C), with its animation chunks; JPEG, ITU-T T.81 annex B; WebP container (RFC 9649).

use memlog_events::code::MimeCode;

use super::Fault;

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The format, by the first bytes.
pub(super) fn format(bytes: &[u8]) -> Option<MimeCode> {
    if bytes.starts_with(PNG_SIGNATURE) {
        Some(MimeCode::PNG)
    } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        Some(MimeCode::JPEG)
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some(MimeCode::WEBP)
    } else {
        None
    }
}

/// Width and height, once the file was found to be whole and still.
pub(super) fn walk(mime: MimeCode, bytes: &[u8]) -> Result<(u32, u32), Fault> {
    match mime {
        MimeCode::PNG => png(bytes),
        MimeCode::JPEG => jpeg(bytes).ok_or(Fault::Damaged),
        MimeCode::WEBP => webp(bytes),
        _ => Err(Fault::Unknown),
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn png(bytes: &[u8]) -> Result<(u32, u32), Fault> {
    let be = |at| array(bytes, at).map(u32::from_be_bytes).ok_or(Fault::Damaged);
    let mut at = PNG_SIGNATURE.len();
    if array(bytes, at + 4) != Some(*b"IHDR") {
        return Err(Fault::Damaged);
    }
    let size = (be(at + 8)?, be(at + 12)?);
    loop {
        let length = be(at)? as usize;
        match &array(bytes, at + 4).ok_or(Fault::Damaged)? {
            // Wherever they stand: some readers show the first picture, others play them.
            b"acTL" | b"fcTL" | b"fdAT" => return Err(Fault::Animated),
            // Nothing may follow: what does is another file.
            b"IEND" if at + 12 + length == bytes.len() => return Ok(size),
            b"IEND" => return Err(Fault::Damaged),
            _ => at = at.checked_add(12 + length).filter(|at| *at < bytes.len()).ok_or(Fault::Damaged)?,
        }
    }
}

/// To the end of the picture. What a camera puts behind it (a second picture, a film) is not looked at, as nothing else does.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let be = |at| array(bytes, at).map(u16::from_be_bytes);
    let (mut at, mut size, mut scanned) = (2, None, false);
    loop {
        let marker = next_marker(bytes, &mut at)?;
        let length = usize::from(be(at).unwrap_or_default());
        match marker {
            0xd9 if scanned => return size,
            0xd9 | 0x00 => return None,
            0x01 | 0xd0..=0xd8 => continue,
            0xda => scanned = true,
            _ => {}
        }
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        // A second one would be a second size.
        if is_frame && size.replace((u32::from(be(at + 5)?), u32::from(be(at + 3)?))).is_some() {
            return None;
        }
        at += Some(length).filter(|length| *length >= 2)?;
        if marker == 0xda {
            skip_scan(bytes, &mut at);
        }
    }
}

/// The code of the next marker; `at` is behind it. A few bytes of padding may stand before it.
fn next_marker(bytes: &[u8], at: &mut usize) -> Option<u8> {
    while *bytes.get(*at)? != 0xff {
        *at += 1;
    }
    while *bytes.get(*at)? == 0xff {
        *at += 1;
    }
    let marker = bytes[*at];
    *at += 1;
    Some(marker)
}

/// To the next marker that ends a scan.
fn skip_scan(bytes: &[u8], at: &mut usize) {
    while let Some(pair) = bytes.get(*at..*at + 2) {
        if pair[0] == 0xff && !matches!(pair[1], 0x00 | 0xff | 0xd0..=0xd7) {
            return;
        }
        *at += 1;
    }
    *at = bytes.len();
}

fn webp(bytes: &[u8]) -> Result<(u32, u32), Fault> {
    let le = |at| array(bytes, at).map(u32::from_le_bytes).ok_or(Fault::Damaged);
    let end = le(4)? as usize + 8;
    if end > bytes.len() || end + (end & 1) < bytes.len() {
        return Err(Fault::Damaged);
    }
    let (mut at, mut canvas, mut frame) = (12, None, None);
    while at < end {
        let (kind, length, body) = (array::<4>(bytes, at).ok_or(Fault::Damaged)?, le(at + 4)? as usize, at + 8);
        let next = body.checked_add(length).filter(|next| *next <= end).ok_or(Fault::Damaged)?;
        let found = match &kind {
            b"ANIM" | b"ANMF" => return Err(Fault::Animated),
            b"VP8X" if bytes[body..next].first().is_some_and(|flags| flags & 0b10 != 0) => return Err(Fault::Animated),
            b"VP8X" => canvas.replace(extended(&bytes[body..next]).ok_or(Fault::Damaged)?),
            b"VP8 " => frame.replace(lossy(&bytes[body..next]).ok_or(Fault::Damaged)?),
            b"VP8L" => frame.replace(lossless(&bytes[body..next]).ok_or(Fault::Damaged)?),
            _ => None,
        };
        // Two of a kind would be two sizes, and a decoder may believe the other.
        if found.is_some() {
            return Err(Fault::Damaged);
        }
        at = next + (length & 1);
    }
    let frame = frame.ok_or(Fault::Damaged)?;
    if canvas.is_some_and(|canvas| canvas != frame) { Err(Fault::Damaged) } else { Ok(frame) }
}

fn extended(body: &[u8]) -> Option<(u32, u32)> {
    let three = |at| array::<3>(body, at).map(|it| u32::from_le_bytes([it[0], it[1], it[2], 0]) + 1);
    Some((three(4)?, three(7)?))
}

fn lossy(body: &[u8]) -> Option<(u32, u32)> {
    let side = |at| array(body, at).map(|it| u32::from(u16::from_le_bytes(it) & 0x3fff));
    let key_frame = body.first()? & 1 == 0 && body.get(3..6)? == [0x9d, 0x01, 0x2a];
    Some((side(6)?, side(8)?)).filter(|_| key_frame)
}

fn lossless(body: &[u8]) -> Option<(u32, u32)> {
    let sides = u32::from_le_bytes(array(body, 1)?);
    let size = ((sides & 0x3fff) + 1, ((sides >> 14) & 0x3fff) + 1);
    (*body.first()? == 0x2f).then_some(size)
}
