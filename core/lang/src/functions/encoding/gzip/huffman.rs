//! Huffman codes: of all optimal codes, the one that Terraform selects.

/// A code for each symbol: its bits, lowest first, and their number, which is zero for a symbol that
/// does not occur.
pub(super) struct HuffmanCodes(Vec<(u16, u8)>);

impl HuffmanCodes {
    /// Creates codes of at most `longest` bits for symbols with the given frequencies.
    pub(super) fn of(counts: &[u32], longest: usize) -> Self {
        let mut codes = Self(vec![(0, 0); counts.len()]);
        let mut used: Vec<(u32, usize)> = counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count != 0)
            .map(|(symbol, count)| (*count, symbol))
            .collect();
        // Go's encoder gives up to two symbols one bit each, in the order of the symbols.
        if used.len() <= 2 {
            for (bits, (_, symbol)) in (0..).zip(&used) {
                codes.0[*symbol] = (bits, 1);
            }
            return codes;
        }
        used.sort_unstable();
        let counts: Vec<u32> = used.iter().map(|(count, _)| *count).collect();
        let mut code = 0_u16;
        for (n, n_symbols) in (1_u8..).zip(count_symbols_by_code_length(&counts, longest)) {
            code <<= 1;
            // The most frequent symbols get the shortest codes; those of one length go by symbol.
            let mut of_length = used.split_off(used.len() - n_symbols);
            of_length.sort_unstable_by_key(|(_, symbol)| *symbol);
            for (_, symbol) in of_length {
                // Deflate packs codes from their highest bit, and `Bits` packs from the lowest.
                codes.0[symbol] = (code.reverse_bits() >> (16 - n), n);
                code += 1;
            }
        }
        codes
    }

    /// The fixed code of bytes and lengths.
    pub(super) fn fixed_literal_codes() -> Self {
        let code = |symbol: u16| match symbol {
            0..144 => (symbol + 48, 8),
            144..256 => (symbol + 400 - 144, 9),
            256..280 => (symbol - 256, 7),
            _ => (symbol + 192 - 280, 8),
        };
        Self::with_reversed_bits((0..288).map(code))
    }

    /// The fixed code of distances.
    pub(super) fn fixed_distance_codes() -> Self {
        Self::with_reversed_bits((0..30).map(|symbol| (symbol, 5)))
    }

    fn with_reversed_bits(codes: impl Iterator<Item = (u16, u8)>) -> Self {
        Self(codes.map(|(bits, n)| (bits.reverse_bits() >> (16 - n), n)).collect())
    }

    /// The code of a symbol, and how many bits it has.
    pub(super) fn code(&self, symbol: usize) -> (u32, u32) {
        let (bits, n) = self.0[symbol];
        (bits.into(), n.into())
    }

    /// Length of a symbol's code in bits.
    pub(super) fn code_length(&self, symbol: usize) -> u32 {
        self.0[symbol].1.into()
    }

    /// Size in bits of symbols with these frequencies.
    pub(super) fn coded_size_in_bits(&self, counts: &[u32]) -> usize {
        self.0.iter().zip(counts).map(|((_, n), count)| usize::from(*n) * *count as usize).sum()
    }
}

/// A row of the package-merge algorithm: items of a certain number of bits, each a symbol or a pair of
/// items of the row below.
#[derive(Clone, Copy)]
struct PackageMergeRow {
    last: u64,
    next_symbol: u64,
    next_pair: u64,
    needed: usize,
}

const INFINITE_COUNT: u64 = u64::MAX;

/// Number of symbols with a code of one bit, of two, and so on. The counts ascend, and there are
/// more than two.
///
/// Package-merge: each row takes the cheaper of the next symbol and the next pair from the row below,
/// and only as many as the row above needs. Every row records the number of symbols in it and in the
/// rows below, to the left of its last item.
fn count_symbols_by_code_length(counts: &[u32], longest: usize) -> Vec<usize> {
    let n = counts.len();
    // No optimal code for n symbols is longer than n - 1 bits.
    let top = longest.min(n - 1);
    let count = |at: usize| counts.get(at).map_or(INFINITE_COUNT, |count| u64::from(*count));
    let first = PackageMergeRow {
        last: count(1),
        next_symbol: count(2),
        next_pair: count(0) + count(1),
        needed: 0,
    };
    let mut rows = vec![first; top + 2];
    let mut symbols = vec![vec![0_usize; top + 1]; top + 1];
    for (level, symbols) in symbols.iter_mut().enumerate().skip(1) {
        symbols[level] = 2;
    }
    rows[1].next_pair = INFINITE_COUNT;
    // The best code takes 2n - 2 items of the top row, and two are in it already.
    rows[top].needed = 2 * n - 4;
    let mut level = top;
    loop {
        let row = rows[level];
        if row.next_pair == INFINITE_COUNT && row.next_symbol == INFINITE_COUNT {
            // No items are left here, and none will be added.
            rows[level].needed = 0;
            rows[level + 1].next_pair = INFINITE_COUNT;
            level += 1;
            continue;
        }
        if row.next_symbol < row.next_pair {
            let n_symbols = symbols[level][level] + 1;
            symbols[level][level] = n_symbols;
            rows[level].last = row.next_symbol;
            rows[level].next_symbol = count(n_symbols);
        } else {
            rows[level].last = row.next_pair;
            let (below, here) = symbols.split_at_mut(level);
            here[0][..level].copy_from_slice(&below[level - 1][..level]);
            rows[level - 1].needed = 2;
        }
        rows[level].needed -= 1;
        if rows[level].needed == 0 {
            if level == top {
                break;
            }
            rows[level + 1].next_pair = row.last + rows[level].last;
            level += 1;
        } else {
            // A pair was taken from the row below, which must first make the next one.
            while rows[level - 1].needed > 0 {
                level -= 1;
            }
        }
    }
    let symbols = &symbols[top];
    (1..=top).rev().map(|level| symbols[level] - symbols[level - 1]).collect()
}
