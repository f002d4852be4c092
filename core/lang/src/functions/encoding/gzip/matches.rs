//! Match search of the compression: bytes become tokens, each a byte or a reference to earlier bytes
//! within a window. The search is lazy: a match is dropped if a longer one starts at the next byte.
//!
//! The order of candidates and the limits are Terraform's. Any other choice would compress as well but
//! produce different bytes.

use super::write_block::{BitWriter, DeflateToken};

const WINDOW_SIZE: usize = 1 << 15;
const MAX_MATCH_LENGTH: usize = 258;
const MIN_MATCH_LENGTH: usize = 4;
/// Number of tokens in a block.
const MAX_BLOCK_TOKENS: usize = 1 << 14;
const MATCH_HASH_BITS: u32 = 17;
/// A match of this length is good enough to stop looking.
const NICE_MATCH_LENGTH: usize = 128;
/// A match of this length is taken without a search for a better one at the next byte.
const MAX_LAZY_MATCH_LENGTH: usize = 16;
/// Number of candidates that are tried.
const MAX_MATCH_CANDIDATES: usize = 128;
/// Matches this short must not reach further back than `MAX_SHORT_MATCH_DISTANCE`: Terraform's encoding would cost
/// more.
const SHORT_MATCH_LENGTH: usize = 4;
const MAX_SHORT_MATCH_DISTANCE: usize = 4_096;

/// Compresses data into blocks, none of them the last.
pub(super) fn compress_into_blocks(data: &[u8], bits: &mut BitWriter) {
    let mut finder = MatchFinder {
        data,
        base: 0,
        heads: vec![0; 1 << MATCH_HASH_BITS],
        previous: vec![0; WINDOW_SIZE],
        tokens: Vec::new(),
        block_start: Some(0),
    };
    finder.find_all_matches(bits);
}

struct MatchFinder<'d> {
    data: &'d [u8],
    /// Start of the window buffer. It contains two windows, and is shifted by one when it is full.
    base: usize,
    /// For each hash, one more than its last position, or 0.
    heads: Vec<usize>,
    /// For each position in a window, the previous entry of `heads`.
    previous: Vec<usize>,
    tokens: Vec<DeflateToken>,
    /// Start of the block, unless it has left the buffer.
    block_start: Option<usize>,
}

/// A match: length and distance.
#[derive(Clone, Copy)]
struct Match {
    length: usize,
    distance: usize,
}

impl MatchFinder<'_> {
    fn find_all_matches(&mut self, bits: &mut BitWriter) {
        const NO_MATCH: Match = Match { length: MIN_MATCH_LENGTH - 1, distance: 0 };
        let (mut at, mut longest) = (0, NO_MATCH);
        // Whether the byte before `at` is not in a token yet.
        let mut pending = false;
        while at < self.data.len() {
            self.move_window(at);
            let candidate = self.insert_position(at);
            let before = std::mem::replace(&mut longest, NO_MATCH);
            let lookahead = self.data.len() - at;
            if let Some(candidate) = candidate
                && candidate >= at.saturating_sub(WINDOW_SIZE).max(self.base)
                && lookahead > before.length
                && before.length < MAX_LAZY_MATCH_LENGTH
                && let Some(better) = self.find_longest_match(at, candidate)
            {
                longest = better;
            }
            if before.length >= MIN_MATCH_LENGTH && longest.length <= before.length {
                self.tokens.push(DeflateToken::back_reference(before.length, before.distance));
                let end = at + before.length - 1;
                at += 1;
                // Every position inside a match is added, so that later matches can start there.
                while at < end {
                    self.insert_position(at);
                    at += 1;
                }
                (pending, longest) = (false, NO_MATCH);
                self.end_block_if_full(at, bits);
            } else {
                if pending {
                    self.tokens.push(DeflateToken::byte(self.data[at - 1]));
                    self.end_block_if_full(at, bits);
                }
                at += 1;
                pending = true;
            }
        }
        if pending && let Some(last) = self.data.last() {
            self.tokens.push(DeflateToken::byte(*last));
        }
        if !self.tokens.is_empty() {
            self.end_block(self.data.len(), bits);
        }
    }

    /// Shifts the buffer when its rest is too short for the longest match.
    fn move_window(&mut self, at: usize) {
        let end = self.base + 2 * WINDOW_SIZE;
        if end < self.data.len() && end - at < MIN_MATCH_LENGTH + MAX_MATCH_LENGTH {
            self.base += WINDOW_SIZE;
            // A block whose start left the buffer cannot be stored uncompressed, because Go's encoder no
            // longer has the bytes.
            self.block_start = self.block_start.filter(|start| *start >= self.base);
        }
    }

    /// Adds a position to the table. Returns the previous position with the same hash.
    fn insert_position(&mut self, at: usize) -> Option<usize> {
        let bytes = self.data.get(at..at + MIN_MATCH_LENGTH)?;
        let word = bytes.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
        let hash = word.wrapping_mul(0x1e35_a7bd) >> (32 - MATCH_HASH_BITS);
        let head = &mut self.heads[hash as usize];
        let last = std::mem::replace(head, at + 1);
        self.previous[at % WINDOW_SIZE] = last;
        last.checked_sub(1)
    }

    /// Searches for the longest match, from the nearest candidate on.
    fn find_longest_match(&self, at: usize, candidate: usize) -> Option<Match> {
        let longest = MAX_MATCH_LENGTH.min(self.data.len() - at);
        let nice = NICE_MATCH_LENGTH.min(longest);
        let oldest = at.saturating_sub(WINDOW_SIZE).max(self.base);
        let text = &self.data[at..at + longest];
        let (mut length, mut best) = (MIN_MATCH_LENGTH - 1, None);
        let mut candidate = candidate;
        // Go's encoder tries fewer candidates after a good match, but not at this level: it passes the
        // shortest length as that of the match before.
        for _ in 0..MAX_MATCH_CANDIDATES {
            if text.get(length)? == &self.data[candidate + length] {
                let n = common_prefix_length(text, &self.data[candidate..]);
                let distance = at - candidate;
                if n > length && (n > SHORT_MATCH_LENGTH || distance <= MAX_SHORT_MATCH_DISTANCE) {
                    length = n;
                    best = Some(Match { length, distance });
                    if n >= nice {
                        break;
                    }
                }
            }
            if at.checked_sub(WINDOW_SIZE) == Some(candidate) {
                break;
            }
            match self.previous[candidate % WINDOW_SIZE].checked_sub(1) {
                Some(before) if before >= oldest => candidate = before,
                _ => break,
            }
        }
        best
    }

    fn end_block_if_full(&mut self, at: usize, bits: &mut BitWriter) {
        if self.tokens.len() == MAX_BLOCK_TOKENS {
            self.end_block(at, bits);
        }
    }

    fn end_block(&mut self, at: usize, bits: &mut BitWriter) {
        let covered = self.block_start.and_then(|start| self.data.get(start..at));
        bits.write_block(&self.tokens, covered);
        self.tokens.clear();
        self.block_start = Some(at);
    }
}

/// Length of the common prefix.
fn common_prefix_length(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}
