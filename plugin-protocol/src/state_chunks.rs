//! States in chunks, as state stores send them: division of the bytes, and assembly with a check of
//! every length and range. Host and SDK use both.

use bytes::Bytes;

use crate::message::state_store::StateChunk;

/// The size of chunks that the host proposes, as in Terraform.
pub const PROPOSED_CHUNK_SIZE: i64 = 8 << 20;

/// The largest size of chunks that a provider may choose, as in Terraform. A chunk is one message,
/// with room for its other fields.
pub const MAX_CHUNK_SIZE: i64 = 128 << 20;

/// The longest state that is assembled. It is held in memory.
pub const MAX_STATE_SIZE: i64 = 1 << 30;

/// Divides a state into chunks of a size, which must not be 0. An empty state is one empty chunk.
#[must_use]
pub fn split_into_chunks(state: &Bytes, size: usize) -> Vec<StateChunk> {
    let total = state.len();
    let starts = (0..total.max(1)).step_by(size.max(1));
    let chunk = |start: usize| {
        let end = total.min(start.saturating_add(size.max(1)));
        StateChunk {
            bytes: state.slice(start..end),
            total_length: offset_or_length_to_i64(total),
            start: offset_or_length_to_i64(start),
            // Protocol 6: the last byte belongs to the range. An empty range cannot be written.
            end: offset_or_length_to_i64(end.saturating_sub(1)),
            diagnostics: Vec::new(),
        }
    };
    starts.map(chunk).collect()
}

/// An offset in a state. A state in memory is never longer than the type allows.
fn offset_or_length_to_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A state that arrives in chunks.
#[derive(Debug, Default)]
pub struct StateAssembly {
    bytes: Vec<u8>,
    total: Option<i64>,
    longest_chunk: usize,
}

impl StateAssembly {
    /// Adds the next chunk.
    ///
    /// # Errors
    /// When the lengths or the range of the chunk do not continue the previous chunks. The error is
    /// the end of a sentence.
    pub fn push(&mut self, chunk: &StateChunk) -> Result<(), String> {
        let StateChunk { bytes, total_length: total, start, end, .. } = chunk;
        let (total, received, length) = (
            *total,
            offset_or_length_to_i64(self.bytes.len()),
            offset_or_length_to_i64(bytes.len()),
        );
        if !(0..=MAX_STATE_SIZE).contains(&total) {
            return Err(format!(
                "a chunk announces a state of {total} bytes, and at most {MAX_STATE_SIZE} are allowed"
            ));
        }
        if let Some(announced) = self.total {
            if announced != total {
                return Err(format!(
                    "the chunks announce two lengths of the state: {announced} and {total} bytes"
                ));
            }
            if received == total {
                return Err(format!("a chunk follows the last byte of a state of {total} bytes"));
            }
        }
        self.total = Some(total);
        if length == 0 && total == 0 {
            return Ok(());
        }
        if length == 0 {
            return Err(format!("a chunk of a state of {total} bytes is empty"));
        }
        // Neither sum overflows: all three are at most the length of data in memory.
        let last_offset = received + length - 1;
        if (*start, *end) != (received, last_offset) {
            return Err(format!(
                "a chunk of {length} bytes has the range {start} to {end}, but is at {received} to {last_offset}"
            ));
        }
        if last_offset >= total {
            return Err(format!("the chunks are longer than the announced {total} bytes"));
        }
        self.longest_chunk = self.longest_chunk.max(bytes.len());
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The length of the longest chunk so far.
    #[must_use]
    pub fn longest_received_chunk_len(&self) -> usize {
        self.longest_chunk
    }

    /// Returns the state, which is empty if there was no chunk.
    ///
    /// # Errors
    /// When chunks are missing.
    pub fn finish(self) -> Result<Vec<u8>, String> {
        let (received, total) =
            (offset_or_length_to_i64(self.bytes.len()), self.total.unwrap_or(0));
        if received == total {
            return Ok(self.bytes);
        }
        Err(format!("{received} of the announced {total} bytes of the state arrived"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(chunks: &[StateChunk]) -> Result<Vec<u8>, String> {
        let mut assembly = StateAssembly::default();
        chunks.iter().try_for_each(|chunk| assembly.push(chunk))?;
        assembly.finish()
    }

    fn state(n: usize) -> Bytes {
        (0..n).map(|index| u8::try_from(index % 251).unwrap()).collect::<Vec<_>>().into()
    }

    #[test]
    fn a_state_of_any_length_is_the_same_after_division_and_assembly() {
        for n in [0, 1, 2, 3, 4, 5, 9, 10] {
            for size in [1, 2, 3, 4, 100] {
                let chunks = split_into_chunks(&state(n), size);
                assert_eq!(chunks.len(), n.div_ceil(size).max(1), "{n} bytes in {size}");
                assert!(chunks.iter().all(|chunk| chunk.bytes.len() <= size));
                assert_eq!(assembled(&chunks).unwrap(), state(n), "{n} bytes in {size}");
            }
        }
        assert_eq!(assembled(&[]).unwrap(), Vec::<u8>::new());
    }

    #[test]
    fn a_chunk_that_does_not_continue_the_others_is_refused() {
        let check = |change: &dyn Fn(&mut Vec<StateChunk>), expected: &str| {
            let mut chunks = split_into_chunks(&state(10), 4);
            change(&mut chunks);
            let error = assembled(&chunks).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(&|chunks| drop(chunks.pop()), "8 of the announced 10 bytes");
        check(&|chunks| drop(chunks.remove(1)), "range 8 to 9, but is at 4 to 5");
        check(&|chunks| chunks.swap(0, 1), "range 4 to 7, but is at 0 to 3");
        check(&|chunks| chunks.push(chunks[2].clone()), "follows the last byte");
        check(&|chunks| chunks[1].end += 1, "range 4 to 8, but is at 4 to 7");
        check(&|chunks| chunks[1].total_length = 11, "two lengths of the state: 10 and 11");
        check(&|chunks| chunks[0].total_length = -1, "a state of -1 bytes");
        check(&|chunks| chunks[0].total_length = i64::MAX, "at most 1073741824 are allowed");
        check(&|chunks| chunks[1].bytes = Bytes::new(), "is empty");
        check(&|chunks| chunks.iter_mut().for_each(|chunk| chunk.total_length = 9), "longer than");
        check(&|chunks| chunks.iter_mut().for_each(|chunk| chunk.total_length = 0), "longer than");
    }
}
