//! Response content that a server compresses although the request did not accept an encoding.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ureq::http::{HeaderMap, header};

/// Returns the decoded content of a response.
///
/// # Errors
/// Returns an error if the content is damaged or too long, or its encoding is not supported.
pub(super) fn decode_content(
    headers: &HeaderMap,
    content: Vec<u8>,
    max: u64,
) -> Result<Vec<u8>, String> {
    // A response to HEAD has only the header.
    if content.is_empty() {
        return Ok(content);
    }
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let names = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let names: Vec<String> = names.map(|name| name.trim().to_ascii_lowercase()).collect();
    let mut decoded = content;
    // Encodings are listed in the order in which they were applied.
    for name in names.iter().rev() {
        let bytes = decoded.as_slice();
        decoded = match name.as_str() {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => read_decoded(MultiGzDecoder::new(bytes), name, max)?,
            // Some servers omit the zlib header.
            "deflate" if has_zlib_header(bytes) => {
                read_decoded(ZlibDecoder::new(bytes), name, max)?
            }
            "deflate" => read_decoded(DeflateDecoder::new(bytes), name, max)?,
            unknown => {
                let unknown: String = unknown.chars().take(40).collect();
                return Err(format!(
                    "the response has the unsupported content encoding {unknown:?}, which was not requested"
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

fn read_decoded(reader: impl Read, encoding: &str, max: u64) -> Result<Vec<u8>, String> {
    let mut decoded = Vec::new();
    // A few kilobytes can unpack to gigabytes.
    let outcome = reader.take(max + 1).read_to_end(&mut decoded);
    outcome
        .map_err(|error| format!("the {encoding} encoding of the response is damaged: {error}"))?;
    if decoded.len() as u64 > max {
        return Err(format!("the response is longer than the limit of {max} bytes"));
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
        assert!(decode("br", b"x").unwrap_err().contains("unsupported content encoding \"br\""));
        assert!(
            decode("gzip", b"x")
                .unwrap_err()
                .contains("the gzip encoding of the response is damaged")
        );
        let error = decode("gzip", &gzip(&[0; 101])).unwrap_err();
        assert!(error.contains("longer than the limit of 100 bytes"), "{error}");
    }
}
