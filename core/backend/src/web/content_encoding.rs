//! Contents that a server compresses for the transport although it was not asked to.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ureq::http::{HeaderMap, header};

/// The content of an answer as it was before its transport.
///
/// # Errors
/// When it is damaged, too long, or has an encoding that is not known here.
pub(super) fn decode_content(
    headers: &HeaderMap,
    content: Vec<u8>,
    max: u64,
) -> Result<Vec<u8>, String> {
    // An answer to HEAD has the header alone.
    if content.is_empty() {
        return Ok(content);
    }
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let names = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let names: Vec<String> = names.map(|name| name.trim().to_ascii_lowercase()).collect();
    let mut decoded = content;
    // The last one was applied last.
    for name in names.iter().rev() {
        let bytes = decoded.as_slice();
        decoded = match name.as_str() {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => read_decoded(MultiGzDecoder::new(bytes), name, max)?,
            // Some servers leave the header of the format out.
            "deflate" if has_zlib_header(bytes) => {
                read_decoded(ZlibDecoder::new(bytes), name, max)?
            }
            "deflate" => read_decoded(DeflateDecoder::new(bytes), name, max)?,
            other => {
                let other: String = other.chars().take(40).collect();
                return Err(format!(
                    "the answer has the content encoding {other:?}, which is not known and was not asked for"
                ));
            }
        };
    }
    Ok(decoded)
}

fn has_zlib_header(content: &[u8]) -> bool {
    match content {
        [method, flags, ..] => {
            method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31)
        }
        _ => false,
    }
}

fn read_decoded(from: impl Read, encoding: &str, max: u64) -> Result<Vec<u8>, String> {
    let mut decoded = Vec::new();
    // A few kilobytes can unpack to gigabytes.
    let read = from.take(max + 1).read_to_end(&mut decoded);
    read.map_err(|error| {
        format!("the content encoding {encoding} of the answer is damaged: {error}")
    })?;
    if decoded.len() as u64 > max {
        return Err(format!("the answer is longer than the limit of {max} bytes"));
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use ureq::http::HeaderValue;

    use super::*;

    fn decode(encoding: &'static str, content: &[u8]) -> Result<Vec<u8>, String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        decode_content(&headers, content.to_vec(), 100)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_content_is_decoded_by_its_header() {
        let text = b"{\"version\": 4}";
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(text).unwrap();
        let zlib = zlib.finish().unwrap();
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(text).unwrap();
        let deflate = deflate.finish().unwrap();
        for (encoding, content) in [
            ("GZIP", gzip(text)),
            ("x-gzip", gzip(text)),
            ("deflate", zlib.clone()),
            ("deflate", deflate),
            ("deflate, gzip", gzip(&zlib)),
            ("identity", text.to_vec()),
        ] {
            assert_eq!(decode(encoding, &content).unwrap(), text, "{encoding}");
        }
        assert_eq!(decode("gzip", b"").unwrap(), b"");
    }

    #[test]
    fn an_encoding_that_cannot_be_read_is_named() {
        assert!(decode("br", b"x").unwrap_err().contains("the content encoding \"br\""));
        assert!(
            decode("gzip", b"x").unwrap_err().contains("encoding gzip of the answer is damaged")
        );
        let error = decode("gzip", &gzip(&[0; 101])).unwrap_err();
        assert!(error.contains("longer than the limit of 100 bytes"), "{error}");
    }
}
