//! What the bytes of an image are: PNG, JPEG or WEBP, how large, whether they move, and whether they really decode.
//!
//! Pure and total: any bytes give an answer, none a panic. `header` walks the file's own structure and needs no memory to do it,
//! so that what is refused for its size never makes a decoder reserve a pixel; `look` then decodes all of it and keeps nothing.
//!
//! To add a format: a walker in `header`, an arm in `decode`, a code in `memlog_events::code::MimeCode` and its name in
//! `api::thread::Mime`.

mod header;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use memlog_events::{code::MimeCode, event::ImageFormV1};
use zune_core::{bytestream::ZCursor, options::DecoderOptions};

/// What a file may be at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Bytes.
    pub bytes_max: u64,
    /// Width times height.
    pub pixels_max: u64,
}

/// Why bytes are no image that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// None of the three formats.
    #[error("is no PNG, JPEG or WEBP")]
    Unknown,
    /// Another format than was said.
    #[error("does not fit the bytes, which are {}", name(*.0))]
    Mismatch(MimeCode),
    /// More than one picture, one after the other.
    #[error("is animated, which is not supported")]
    Animated,
    /// Too many bytes.
    #[error("is at most {0} bytes")]
    Bytes(u64),
    /// Too many pixels.
    #[error("is at most {0} pixels, width times height")]
    Pixels(u64),
    /// Cut off, changed, or of a kind that hardly anything reads.
    #[error("does not decode: it is damaged or cut off, or goes on behind its end")]
    Damaged,
}

/// A format as clients name it.
pub fn name(mime: MimeCode) -> &'static str {
    match mime {
        MimeCode::JPEG => "image/jpeg",
        MimeCode::WEBP => "image/webp",
        _ => "image/png",
    }
}

/// What the bytes say of themselves; nothing is decoded.
pub fn header(bytes: &[u8], claimed: Option<MimeCode>, bounds: Bounds) -> Result<ImageFormV1, Fault> {
    let size = bytes.len() as u64;
    if size > bounds.bytes_max {
        return Err(Fault::Bytes(bounds.bytes_max));
    }
    let mime = header::format(bytes).ok_or(Fault::Unknown)?;
    if claimed.is_some_and(|claimed| claimed != mime) {
        return Err(Fault::Mismatch(mime));
    }
    let (width, height) = header::walk(mime, bytes)?;
    if width == 0 || height == 0 {
        return Err(Fault::Damaged);
    }
    if u64::from(width) * u64::from(height) > bounds.pixels_max {
        return Err(Fault::Pixels(bounds.pixels_max));
    }
    Ok(ImageFormV1 { mime, width, height, bytes: size })
}

/// What the bytes are, all of them decoded once. Blocks for as long as that takes: a second for the largest.
pub fn look(bytes: &[u8], claimed: Option<MimeCode>, bounds: Bounds) -> Result<ImageFormV1, Fault> {
    let form = header(bytes, claimed, bounds)?;
    check(bytes, form)?;
    Ok(form)
}

/// Decodes what `header` found.
pub fn check(bytes: &[u8], form: ImageFormV1) -> Result<(), Fault> {
    // The decoders are made for hostile files; one that panics over a file all the same says no more than that it is damaged.
    let decoded = catch_unwind(AssertUnwindSafe(|| decode(bytes, form)));
    decoded.ok().flatten().ok_or(Fault::Damaged)
}

fn decode(bytes: &[u8], form: ImageFormV1) -> Option<()> {
    match form.mime {
        MimeCode::PNG => png(bytes, form),
        MimeCode::JPEG => jpeg(bytes, form),
        MimeCode::WEBP => webp(bytes, form),
        _ => None,
    }
}

/// A row at a time.
fn png(bytes: &[u8], form: ImageFormV1) -> Option<()> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    // What is packed into texts and profiles is not looked at, so it is not unpacked.
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().ok()?;
    let info = reader.info();
    if (info.width, info.height) != (form.width, form.height) {
        return None;
    }
    while reader.next_row().ok()?.is_some() {}
    reader.finish().ok()
}

/// Scans of a progressive picture: usual encoders make some ten, and each is a pass over all pixels.
const SCANS_MAX: usize = 64;

/// By the letter: what is lenient would paint the missing part grey.
fn jpeg(bytes: &[u8], form: ImageFormV1) -> Option<()> {
    let (width, height) = (form.width as usize, form.height as usize);
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(width)
        .set_max_height(height)
        .jpeg_set_max_scans(SCANS_MAX);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().ok()?;
    let info = decoder.info()?;
    if (usize::from(info.width), usize::from(info.height)) != (width, height) {
        return None;
    }
    decoder.decode().ok().map(drop)
}

fn webp(bytes: &[u8], form: ImageFormV1) -> Option<()> {
    let mut decoder = image_webp::WebPDecoder::new(std::io::Cursor::new(bytes)).ok()?;
    if decoder.dimensions() != (form.width, form.height) || decoder.is_animated() {
        return None;
    }
    let mut pixels = vec![0; decoder.output_buffer_size()?];
    decoder.read_image(&mut pixels).ok()
}
