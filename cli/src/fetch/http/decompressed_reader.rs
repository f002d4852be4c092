//! Decompression of HTTP content, with a limit on the compression ratio.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

/// Maximum ratio of the decompressed size to the transferred size.
const MAX_DECOMPRESSION_RATIO: u64 = 200;
/// The decompressed size up to which the ratio is not limited, in bytes.
const UNLIMITED_RATIO_SIZE: u64 = 16 << 20;

/// A reader that decompresses gzip content.
pub(super) struct DecompressedReader<R> {
    content: MultiGzDecoder<CountingReader<R>>,
    n_bytes: u64,
}

/// A reader that counts the bytes that it has read.
struct CountingReader<R> {
    from: R,
    n_bytes: u64,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buffer)?;
        self.n_bytes += n as u64;
        Ok(n)
    }
}

impl<R: Read> DecompressedReader<R> {
    pub(super) fn new(from: R) -> Self {
        Self { content: MultiGzDecoder::new(CountingReader { from, n_bytes: 0 }), n_bytes: 0 }
    }
}

impl<R: Read> Read for DecompressedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.content.read(buffer)?;
        self.n_bytes += n as u64;
        let sent = self.content.get_ref().n_bytes;
        if self.n_bytes > UNLIMITED_RATIO_SIZE && self.n_bytes / MAX_DECOMPRESSION_RATIO > sent {
            let reason = format!(
                "the decompressed content is more than {MAX_DECOMPRESSION_RATIO} times as large as the transferred content"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    #[test]
    fn content_that_unpacks_to_many_times_its_size_is_refused() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        let zeros = vec![0; 1 << 20];
        (0..64).for_each(|_| packed.write_all(&zeros).unwrap());
        let packed = packed.finish().unwrap();
        let mut read = DecompressedReader::new(&*packed);
        let n_unpacked = io::copy(&mut read, &mut io::sink());
        let reason = n_unpacked.unwrap_err().to_string();
        assert!(reason.contains("more than 200 times as large"), "{reason}");
        assert!(read.n_bytes < 20 << 20, "{}", read.n_bytes);
    }
}
