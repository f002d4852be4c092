//! Compressed states, as gzip.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use formwork_core::disk::MAX_STATE_LEN;

use crate::cause::Cause;

/// Compresses bytes.
///
/// # Errors
/// Never fails in practice, because the encoder writes into memory.
pub(crate) fn compress_gzip(text: &[u8]) -> Result<Vec<u8>, Cause> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    Ok(encoder.finish()?)
}

/// Decompresses bytes.
///
/// # Errors
/// Returns an error if the data is damaged, has trailing bytes, or exceeds the maximum size of a
/// state.
pub(crate) fn decompress_gzip(content: &[u8]) -> Result<Vec<u8>, Cause> {
    let mut text = Vec::new();
    // A few kilobytes can unpack to gigabytes. One byte more than the limit shows that the content
    // exceeds it.
    // Trailing bytes are treated as damage, as in Terraform, which reads any number of gzip
    // members.
    MultiGzDecoder::new(content).take(MAX_STATE_LEN + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_STATE_LEN {
        return Err(format!("the state is longer than the limit of {MAX_STATE_LEN} bytes").into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_content_is_restored_and_damaged_content_is_refused() {
        let text = b"{}".repeat(1000);
        let mut content = compress_gzip(&text).unwrap();
        assert!(content.len() < 100);
        assert_eq!(decompress_gzip(&content).unwrap(), text);
        content.extend(b"trailing");
        assert!(decompress_gzip(&content).is_err());
        content.truncate(content.len() - b"trailing".len() - 1);
        assert!(decompress_gzip(&content).is_err());
    }
}
