//! Writes tokens as blocks of the deflate format, in the shortest of its three forms: stored, with the
//! fixed codes, or with dynamic codes.

use super::huffman::HuffmanCodes;

/// A byte or a back reference: a symbol with extra bits, and for a reference the same for its distance.
#[derive(Clone, Copy)]
pub(super) enum DeflateToken {
    Byte(u8),
    Back { length: u16, distance: u16 },
}

impl DeflateToken {
    pub(super) fn byte(byte: u8) -> Self {
        Self::Byte(byte)
    }

    /// A reference to 4 to 258 bytes at a distance of 1 to 32768 bytes.
    pub(super) fn back_reference(length: usize, distance: usize) -> Self {
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        Self::Back { length: short(length), distance: short(distance) }
    }
}

const END_OF_BLOCK_SYMBOL: usize = 256;
const N_LITERAL_SYMBOLS: usize = 286;
const N_DISTANCE_SYMBOLS: usize = 30;
/// The greatest length of a stored block.
const MAX_STORED_BLOCK_BYTES: usize = 65_535;
/// The order in which the lengths of the code length codes are written.
const CODE_LENGTH_ORDER: [usize; 19] =
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// A symbol, its number of extra bits, and these bits.
type SymbolWithExtraBits = (usize, u32, u32);

/// The symbol for a length.
fn length_symbol(length: u16) -> SymbolWithExtraBits {
    // The format gives the longest match a symbol of its own, outside of the regular groups.
    if length == 258 {
        return (285, 0, 0);
    }
    let (symbol, n, bits) = symbol_in_doubling_groups(u32::from(length) - 3, 4);
    (257 + symbol, n, bits)
}

/// The symbol for a distance.
fn distance_symbol(distance: u16) -> SymbolWithExtraBits {
    symbol_in_doubling_groups(u32::from(distance) - 1, 2)
}

/// Returns the symbol of a number in groups that double in size after every `each` groups.
fn symbol_in_doubling_groups(number: u32, each: u32) -> SymbolWithExtraBits {
    if number < 2 * each {
        return (number as usize, 0, 0);
    }
    let n = number.ilog2() - each.ilog2();
    let group = number >> n;
    ((n * each + group) as usize, n, number & ((1 << n) - 1))
}

/// A writer of bits to bytes, lowest bit first.
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    buffer: u64,
    n: u32,
}

impl BitWriter {
    /// Creates a writer that appends to bytes.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, buffer: 0, n: 0 }
    }

    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.pad_to_byte();
        self.bytes
    }

    fn put_bits(&mut self, bits: u32, n: u32) {
        self.buffer |= u64::from(bits) << self.n;
        self.n += n;
        while self.n >= 8 {
            // The lowest byte is complete.
            self.bytes.push(self.buffer as u8);
            self.buffer >>= 8;
            self.n -= 8;
        }
    }

    fn pad_to_byte(&mut self) {
        if self.n > 0 {
            self.put_bits(0, 8 - self.n);
        }
    }

    /// Writes an empty block.
    pub(super) fn write_empty_block(&mut self, last: bool) {
        self.put_bits(u32::from(last), 3);
        self.write_stored_data(&[]);
    }

    fn write_stored_data(&mut self, data: &[u8]) {
        self.pad_to_byte();
        // Callers give at most 65,535 bytes, which 16 bits can count.
        let length = u16::try_from(data.len()).unwrap_or(u16::MAX);
        self.put_bits(u32::from(length), 16);
        // The format repeats the length with all bits inverted, as a check.
        self.put_bits(u32::from(!length), 16);
        self.bytes.extend_from_slice(data);
    }

    /// Writes tokens, or instead the bytes `covered`, if these are shorter and represent all tokens.
    pub(super) fn write_block(&mut self, tokens: &[DeflateToken], covered: Option<&[u8]>) {
        let counts = SymbolCounts::of(tokens);
        let covered = covered.filter(|data| data.len() <= MAX_STORED_BLOCK_BYTES);
        // The extra bits are the same in both coded forms, so they only matter in the comparison with
        // the stored form.
        let extra = if covered.is_some() { counts.n_extra_bits() } else { 0 };
        let codes = DynamicCodes::of(&counts);
        let fixed = [HuffmanCodes::fixed_literal_codes(), HuffmanCodes::fixed_distance_codes()];
        let fixed_size = 3 + counts.coded_size_in_bits(&fixed) + extra;
        let own_size =
            codes.header_size_in_bits() + counts.coded_size_in_bits(&codes.codes) + extra;
        let size = fixed_size.min(own_size);
        if let Some(data) = covered
            // Go's encoder stores only what is strictly smaller, with five bytes for the header.
            && (data.len() + 5) * 8 < size
        {
            self.put_bits(0, 3);
            self.write_stored_data(data);
        } else if own_size < fixed_size {
            self.write_dynamic_header(&codes);
            self.write_tokens(tokens, &codes.codes);
        } else {
            self.put_bits(0b010, 3);
            self.write_tokens(tokens, &fixed);
        }
    }

    fn write_dynamic_header(&mut self, codes: &DynamicCodes) {
        // Dynamic codes, and not the last block, which is the empty block at the end.
        self.put_bits(0b100, 3);
        self.put_bits((codes.n_literals - 257) as u32, 5);
        self.put_bits((codes.n_distances - 1) as u32, 5);
        self.put_bits((codes.n_lengths - 4) as u32, 4);
        for symbol in CODE_LENGTH_ORDER.iter().take(codes.n_lengths) {
            self.put_bits(codes.of_lengths.code_length(*symbol), 3);
        }
        for &(symbol, n, bits) in &codes.lengths {
            self.write_code(&codes.of_lengths, symbol);
            self.put_bits(bits, n);
        }
    }

    fn write_tokens(&mut self, tokens: &[DeflateToken], [literals, distances]: &[HuffmanCodes; 2]) {
        for token in tokens {
            match *token {
                DeflateToken::Byte(byte) => self.write_code(literals, usize::from(byte)),
                DeflateToken::Back { length, distance } => {
                    for (codes, (symbol, n, bits)) in
                        [(literals, length_symbol(length)), (distances, distance_symbol(distance))]
                    {
                        self.write_code(codes, symbol);
                        self.put_bits(bits, n);
                    }
                }
            }
        }
        self.write_code(literals, END_OF_BLOCK_SYMBOL);
    }

    fn write_code(&mut self, codes: &HuffmanCodes, symbol: usize) {
        let (bits, n) = codes.code(symbol);
        self.put_bits(bits, n);
    }
}

/// Frequency of each symbol in a block.
struct SymbolCounts {
    literals: Vec<u32>,
    distances: Vec<u32>,
}

impl SymbolCounts {
    fn of(tokens: &[DeflateToken]) -> Self {
        let (mut literals, mut distances) =
            (vec![0; N_LITERAL_SYMBOLS], vec![0; N_DISTANCE_SYMBOLS]);
        for token in tokens {
            match *token {
                DeflateToken::Byte(byte) => literals[usize::from(byte)] += 1,
                DeflateToken::Back { length, distance } => {
                    literals[length_symbol(length).0] += 1;
                    distances[distance_symbol(distance).0] += 1;
                }
            }
        }
        literals[END_OF_BLOCK_SYMBOL] += 1;
        // A code of distances is required, even without distances.
        if distances.iter().all(|count| *count == 0) {
            distances[0] = 1;
        }
        Self { literals, distances }
    }

    fn coded_size_in_bits(&self, [literals, distances]: &[HuffmanCodes; 2]) -> usize {
        literals.coded_size_in_bits(&self.literals) + distances.coded_size_in_bits(&self.distances)
    }

    fn n_extra_bits(&self) -> usize {
        // RFC 1951: from these symbols on, each group of four lengths or two distances has one more
        // bit.
        let lengths = (265..285).map(|symbol| (self.literals[symbol], (symbol - 261) / 4));
        let distances =
            (4..N_DISTANCE_SYMBOLS).map(|symbol| (self.distances[symbol], (symbol - 2) / 2));
        lengths.chain(distances).map(|(count, n)| count as usize * n).sum()
    }
}

/// The dynamic codes of a block, and their encoded lengths, which precede the block.
struct DynamicCodes {
    codes: [HuffmanCodes; 2],
    n_literals: usize,
    n_distances: usize,
    lengths: Vec<SymbolWithExtraBits>,
    length_counts: Vec<u32>,
    of_lengths: HuffmanCodes,
    n_lengths: usize,
}

impl DynamicCodes {
    fn of(counts: &SymbolCounts) -> Self {
        let codes =
            [HuffmanCodes::of(&counts.literals, 15), HuffmanCodes::of(&counts.distances, 15)];
        let used =
            |counts: &[u32]| counts.iter().rposition(|count| *count != 0).map_or(0, |at| at + 1);
        let (n_literals, n_distances) = (used(&counts.literals), used(&counts.distances));
        let all: Vec<u32> = (0..n_literals)
            .map(|symbol| codes[0].code_length(symbol))
            .chain((0..n_distances).map(|symbol| codes[1].code_length(symbol)))
            .collect();
        let lengths = run_length_encode(&all);
        let mut length_counts = vec![0; CODE_LENGTH_ORDER.len()];
        for (symbol, ..) in &lengths {
            length_counts[*symbol] += 1;
        }
        let of_lengths = HuffmanCodes::of(&length_counts, 7);
        let last = CODE_LENGTH_ORDER.iter().rposition(|symbol| length_counts[*symbol] != 0);
        let n_lengths = last.map_or(4, |at| (at + 1).max(4));
        Self { codes, n_literals, n_distances, lengths, length_counts, of_lengths, n_lengths }
    }

    fn header_size_in_bits(&self) -> usize {
        let extra_bits: u32 = self.lengths.iter().map(|(_, n, _)| n).sum();
        3 + 5
            + 5
            + 4
            + 3 * self.n_lengths
            + self.of_lengths.coded_size_in_bits(&self.length_counts)
            + extra_bits as usize
    }
}

/// Writes equal lengths that follow each other as runs.
fn run_length_encode(lengths: &[u32]) -> Vec<SymbolWithExtraBits> {
    let mut symbols = Vec::new();
    for run in lengths.chunk_by(|left, right| left == right) {
        let length = run.first().copied().unwrap_or(0);
        let mut remaining = run.len();
        let single = (length as usize, 0, 0);
        // Runs of zeros have two separate symbols, without a first zero before the run.
        if length == 0 {
            while remaining >= 11 {
                let n = remaining.min(138);
                symbols.push((18, 7, (n - 11) as u32));
                remaining -= n;
            }
            if remaining >= 3 {
                symbols.push((17, 3, (remaining - 3) as u32));
                remaining = 0;
            }
        } else {
            // The symbol repeats the length before it, so one has to be written first.
            symbols.push(single);
            remaining -= 1;
            while remaining >= 3 {
                let n = remaining.min(6);
                symbols.push((16, 2, (n - 3) as u32));
                remaining -= n;
            }
        }
        symbols.extend(std::iter::repeat_n(single, remaining));
    }
    symbols
}
