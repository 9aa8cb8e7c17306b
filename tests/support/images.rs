//! Small real images, made as the tests need them.

use std::io::Cursor;

use base64::{Engine, engine::general_purpose::STANDARD};

/// As requests carry it.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// And back.
pub fn bytes(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).expect("base64")
}

/// A PNG of noise, which no compression shortens; another seed is another image.
pub fn noise(width: u32, height: u32, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut pixels = Vec::with_capacity((width * height * 3) as usize);
    for _ in 0..width * height * 3 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        pixels.push((state >> 32) as u8);
    }
    let mut out = Cursor::new(Vec::new());
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::NoCompression);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&pixels).expect("pixels");
    writer.finish().expect("an end");
    out.into_inner()
}

/// A PNG of a few bytes.
pub fn dot(seed: u64) -> Vec<u8> {
    noise(2, 1, seed)
}

/// The same with a chunk of this kind before its end.
pub fn with_chunk(mut png: Vec<u8>, kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let chunk = [&(body.len() as u32).to_be_bytes()[..], kind, body, &[0; 4]].concat();
    let end = png.len() - 12;
    png.splice(end..end, chunk);
    png
}

/// A JPEG of 24 by 16, as libjpeg writes it.
pub const JPEG: &str = "\
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6\
T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wgARCAAQABgDASIAAhEBAxEB\
/8QAFgABAQEAAAAAAAAAAAAAAAAAAwQA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAgAE/9oADAMBAAIQAxAAAAGJHUGfWa0//8QAGBABAAMBAAAAAAAAAAAAAA\
AAAAECEhH/2gAIAQEAAQUCyyyiqKuP/8QAFxEAAwEAAAAAAAAAAAAAAAAAAAEDAv/aAAgBAwEBPwHNBUP/xAAYEQACAwAAAAAAAAAAAAAAAAAAAQIRIf/a\
AAgBAgEBPwFaXFH/xAAUEAEAAAAAAAAAAAAAAAAAAAAg/9oACAEBAAY/Al//xAAXEAEBAQEAAAAAAAAAAAAAAAABABAR/9oACAEBAAE/ISENgc3/2gAMAw\
EAAgADAAAAEPPv/8QAFhEBAQEAAAAAAAAAAAAAAAAAAAER/9oACAEDAQE/EFbH/8QAFhEBAQEAAAAAAAAAAAAAAAAAAQAR/9oACAECAQE/EHFWLf/EABgQ\
AQEBAQEAAAAAAAAAAAAAAABhAREh/9oACAEBAAE/EJJpIIsfHO6//9k=";
/// A WEBP of 24 by 16, as libwebp writes it.
pub const WEBP: &str = "\
UklGRmwAAABXRUJQVlA4IGAAAACQAwCdASoYABAAPxF2sVAwp6SisAgCECIJbACdMoRwAII738OIAP78A2FDiwRgiMtOCPY7pMd/YTv6bSot5AJ16o+X87\
1Om/nfw+uhaQF7tEW+5gOyWVIK3TROIBFVAAA=";
/// A WEBP of two frames.
pub const WEBP_ANIMATED: &str = "\
UklGRnwBAABXRUJQVlA4WAoAAAACAAAAFwAADwAAQU5JTQYAAAAAAAAAAABBTk1GqAAAAAAAAAAAABcAAA8AAGQAAAJWUDggkAAAALAFAJ0BKhgAEAA+bT\
CTRiQjIaEwCACADYlsAJ0yhHA3gH4q1IHyBLlYKib3qHZvYW2RJimGAAD+/4vp/+P6/vIwNLVxqvqJ72x3sz6ArVqFmz97E7ry8+vyMzIE6up/Z06UlXof\
ryYSrgdTlT5cmgRgFj7qPcn7vKNkpv2G8M8qf5zNf8VMf2l6uM4coKIAAEFOTUagAAAAAAAAAAAAFwAADwAAZAAAAFZQOCCIAAAA9AQAnQEqGAAQAD5tLp\
JFgwCAAADYlsAJ0yhHA3kH4k0oABa721hiDmCbX6JEyIgAAP7zrCQk9/mf80JdmjUk0y8G5OAoisywXnniV/93lFHT37D9599QLm57IgCy1FIiyq/MHckW\
4Orab4U8wtRfkOhXwWhDSbhRqOLl0nBmf2DNdRXz+DWAAA==";
