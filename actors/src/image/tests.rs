// Whole, hostile and broken files of the three formats.

use memlog_events::code::MimeCode;
use proptest::prelude::*;

use super::{Bounds, Fault, header, look, samples::*};

const BOUNDS: Bounds = Bounds { bytes_max: 1 << 20, pixels_max: 1_000 };

fn whole() -> Vec<(&'static str, MimeCode, Vec<u8>)> {
    vec![
        ("png", MimeCode::PNG, png()),
        ("jpeg", MimeCode::JPEG, bytes(JPEG)),
        ("progressive jpeg", MimeCode::JPEG, bytes(JPEG_PROGRESSIVE)),
        ("grey jpeg", MimeCode::JPEG, bytes(JPEG_GREY)),
        ("jpeg with restarts", MimeCode::JPEG, bytes(JPEG_RESTARTS)),
        ("jpeg with exif", MimeCode::JPEG, bytes(JPEG_EXIF)),
        ("cmyk jpeg", MimeCode::JPEG, bytes(JPEG_CMYK)),
        ("lossless webp", MimeCode::WEBP, webp()),
        ("lossy webp", MimeCode::WEBP, bytes(WEBP_LOSSY)),
        ("webp with alpha", MimeCode::WEBP, bytes(WEBP_ALPHA)),
        ("webp with exif", MimeCode::WEBP, bytes(WEBP_EXIF)),
    ]
}

#[test]
fn what_is_whole_is_known_by_its_bytes() {
    for (which, mime, bytes) in whole() {
        let form = look(&bytes, None, BOUNDS).unwrap_or_else(|fault| panic!("{which}: {fault}"));
        assert_eq!((form.mime, (form.width, form.height), form.bytes), (mime, SIZE, bytes.len() as u64), "{which}");
        assert_eq!(look(&bytes, Some(mime), BOUNDS), Ok(form), "{which}");
    }
}

#[test]
fn another_claim_is_refused() {
    for (which, mime, bytes) in whole() {
        for claimed in [MimeCode::PNG, MimeCode::JPEG, MimeCode::WEBP].into_iter().filter(|it| *it != mime) {
            assert_eq!(look(&bytes, Some(claimed), BOUNDS), Err(Fault::Mismatch(mime)), "{which}");
        }
    }
}

// Every byte counts: a reader that is lenient shows grey where the rest was.
#[test]
fn what_is_cut_off_anywhere_is_refused() {
    for (which, _, bytes) in whole() {
        for length in 0..bytes.len() {
            assert!(look(&bytes[..length], None, BOUNDS).is_err(), "{which}, the first {length} of {}", bytes.len());
        }
    }
}

#[test]
fn what_moves_is_refused() {
    assert_eq!(look(&bytes(PNG_ANIMATED), None, BOUNDS), Err(Fault::Animated));
    assert_eq!(look(&bytes(WEBP_ANIMATED), None, BOUNDS), Err(Fault::Animated));
    // A picture that readers without animation show alone is animated all the same.
    let mut hidden = png();
    let control = chunk(b"fcTL", &[0; 26]);
    let end = hidden.len() - 12;
    hidden.splice(end..end, control);
    assert_eq!(look(&hidden, None, BOUNDS), Err(Fault::Animated));
}

#[test]
fn limits_hold_before_anything_is_decoded() {
    for (which, _, bytes) in whole() {
        let few = Bounds { pixels_max: 383, ..BOUNDS };
        assert_eq!(header(&bytes, None, few), Err(Fault::Pixels(383)), "{which}");
        let small = Bounds { bytes_max: bytes.len() as u64 - 1, ..BOUNDS };
        assert_eq!(header(&bytes, None, small), Err(Fault::Bytes(small.bytes_max)), "{which}");
        let exact = Bounds { bytes_max: bytes.len() as u64, pixels_max: 384 };
        assert!(header(&bytes, None, exact).is_ok(), "{which}");
    }
}

// A few bytes that say they are gigabytes of pixels, in each place where a format says so.
#[test]
fn bombs_are_refused_by_what_they_say() {
    let bounds = Bounds { bytes_max: 1 << 20, pixels_max: 40_000_000 };
    let mut bomb = png();
    bomb[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    assert_eq!(look(&bomb, None, bounds), Err(Fault::Pixels(40_000_000)));
    let mut bomb = bytes(JPEG);
    let frame = bomb.windows(2).position(|pair| pair == [0xff, 0xc0]).expect("a frame");
    bomb[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
    assert_eq!(look(&bomb, None, bounds), Err(Fault::Pixels(40_000_000)));
    let mut bomb = webp();
    bomb[21..25].copy_from_slice(&[0xff, 0xff, 0xff, 0x0f]);
    assert_eq!(look(&bomb, None, bounds), Err(Fault::Pixels(40_000_000)));
    // The canvas says one thing and the frame in it another.
    let mut bomb = bytes(WEBP_EXIF);
    let frame = bomb.windows(4).position(|kind| kind == b"VP8 ").expect("a frame");
    bomb[frame + 14..frame + 18].copy_from_slice(&[0xff, 0x3f, 0xff, 0x3f]);
    assert_eq!(look(&bomb, None, bounds), Err(Fault::Damaged));
    // A second frame header, which a decoder may believe instead of the first.
    let mut bomb = bytes(JPEG);
    let mut second = bomb[frame_of(&bomb)].to_vec();
    second[5..9].copy_from_slice(&[0xff; 4]);
    let at = frame_of(&bomb).end;
    bomb.splice(at..at, second);
    assert_eq!(look(&bomb, None, bounds), Err(Fault::Damaged));
}

fn frame_of(jpeg: &[u8]) -> std::ops::Range<usize> {
    let at = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).expect("a frame");
    at..at + 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]))
}

// A file that is two files is given back as it came, and somebody may take it for the other.
#[test]
fn nothing_hides_behind_the_end() {
    for behind in [&b"PK\x03\x04"[..], b"<script>", &[0; 4]] {
        for whole in [png(), webp(), bytes(WEBP_LOSSY)] {
            assert_eq!(look(&[&whole, behind].concat(), None, BOUNDS), Err(Fault::Damaged));
        }
        // Cameras put a second picture or a film there, and every reader passes over it.
        assert!(look(&[&bytes(JPEG), behind].concat(), None, BOUNDS).is_ok());
    }
}

#[test]
fn other_formats_are_unknown() {
    let gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x00;";
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>";
    for other in [&gif[..], svg, b"", b"BM", b"RIFF\x04\x00\x00\x00WAVE", b"\x00\x00\x00\x20ftypavif", b"%PDF-1.7"] {
        assert_eq!(look(other, None, BOUNDS), Err(Fault::Unknown));
    }
    for cut in [&b"\x89PNG\r\n\x1a\n"[..], &[0xff, 0xd8, 0xff], b"RIFF\x04\x00\x00\x00WEBP"] {
        assert_eq!(look(cut, None, BOUNDS), Err(Fault::Damaged));
    }
}

// One changed bit of the pixels: PNG has checksums, so it never passes for the picture that was sent.
#[test]
fn a_changed_png_is_damaged() {
    let whole = png();
    let data = whole.windows(4).position(|kind| kind == b"IDAT").expect("data") + 4;
    for at in data..whole.len() - 12 {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert!(look(&changed, None, BOUNDS).is_err(), "byte {at}");
    }
}

fn chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_be_bytes()[..], kind, body, &[0; 4]].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    // Any bytes give an answer, and none that is accepted is past the limits.
    #[test]
    fn any_bytes_give_an_answer(
        which in 0..11_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..12),
    ) {
        let mut bytes = whole().swap_remove(which).2;
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes.insert(at, byte),
                1 if bytes.len() > 1 => drop(bytes.remove(at)),
                2 => bytes.truncate(at.max(1)),
                _ => bytes[at] = byte,
            }
        }
        if let Ok(form) = look(&bytes, None, BOUNDS) {
            prop_assert!(u64::from(form.width) * u64::from(form.height) <= BOUNDS.pixels_max);
            prop_assert_eq!(form.bytes, bytes.len() as u64);
        }
    }

    #[test]
    fn noise_behind_a_signature_gives_an_answer(
        signature in 0..4_usize,
        noise in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let first: &[u8] = [&b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"[..], &[0xff, 0xd8, 0xff], b"RIFF\x80\x00\x00\x00WEBPVP8X", b""][signature];
        prop_assert!(look(&[first, &noise].concat(), None, BOUNDS).is_err());
    }
}
