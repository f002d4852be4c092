//! Random numbers from a seed: those of Go's `math/rand`, so that a seed gives the same numbers as with the
//! public provider, on every machine and in every version. Not for secrets.

use std::sync::LazyLock;

/// Number of values that the generator keeps. Each new one is the sum of the oldest and of the one
/// that is `TAP_DISTANCE` back.
const N_KEPT_VALUES: usize = 607;
const TAP_DISTANCE: usize = 273;
/// The generator of the first numbers: a product modulo a prime.
const SEED_FACTOR: u64 = 48271;
const SEED_MODULUS: u64 = (1 << 31) - 1;
/// Number of steps that Go's own table was run before it was written down.
const STEPS_TO_GO_TABLE: u64 = 7_800_000_000_000;

/// A source of numbers.
pub(super) struct SeededRandom {
    values: [u64; N_KEPT_VALUES],
    feed: usize,
}

impl SeededRandom {
    /// The source of a seed; without a seed, a random one.
    pub(super) fn new(seed: Option<&str>) -> Self {
        let feed = N_KEPT_VALUES - TAP_DISTANCE;
        let Some(seed) = seed else {
            return Self { values: std::array::from_fn(|_| rand::random()), feed };
        };
        // The remainder as Go has it: with the sign of the whole.
        let seed = crc64_iso(seed.as_bytes()).cast_signed() % SEED_MODULUS.cast_signed();
        let first = match seed {
            0 => 89_482_311,
            seed => seed.rem_euclid(SEED_MODULUS.cast_signed()).cast_unsigned(),
        };
        let mixed = initial_generator_values(first, 40, 20);
        Self { values: std::array::from_fn(|index| mixed[index] ^ GO_SEED_TABLE[index]), feed }
    }

    fn next_number(&mut self) -> u64 {
        self.feed = (self.feed + N_KEPT_VALUES - 1) % N_KEPT_VALUES;
        let tap = (self.feed + TAP_DISTANCE) % N_KEPT_VALUES;
        self.values[self.feed] = self.values[self.feed].wrapping_add(self.values[tap]);
        self.values[self.feed]
    }

    /// A number from 0 to `last`, all equally likely.
    pub(super) fn random_up_to(&mut self, last: u64) -> u64 {
        let Some(count) = last.checked_add(1) else { return self.next_number() };
        // The remainder of a number, as in Go. Go has no result for zero, so that one is ours.
        let drop = |number: u64| match count {
            0..0x8000_0000 => number << 1 >> 33,
            0x8000_0000..0x8000_0000_0000_0000 => number << 1 >> 1,
            _ => number,
        };
        let greatest = drop(u64::MAX);
        // Numbers beyond the last whole multiple of `count` would favour the small ones.
        let left_over = if count.is_power_of_two() { 0 } else { (greatest % count + 1) % count };
        loop {
            let drawn = drop(self.next_number());
            if drawn <= greatest - left_over {
                return drawn % count;
            }
        }
    }

    /// The numbers up to `count` in a random order, all orders equally likely.
    pub(super) fn random_order(&mut self, count: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(count);
        for index in 0..count {
            let other_index = usize::try_from(self.random_up_to(index as u64)).unwrap_or(index);
            order.push(index);
            order.swap(index, other_index);
        }
        order
    }
}

/// CRC-64 with the polynomial of ISO 3309.
fn crc64_iso(bytes: &[u8]) -> u64 {
    // Of short seeds only, once for each resource. No package of the tree has this polynomial.
    let shifted = |sum: u64, _| (sum >> 1) ^ if sum & 1 == 1 { 0xd8 << 56 } else { 0 };
    !bytes.iter().fold(u64::MAX, |sum, byte| (0..8).fold(sum ^ u64::from(*byte), shifted))
}

/// The numbers that a generator begins with, each mixed of three smaller ones.
fn initial_generator_values(first: u64, high: u32, middle: u32) -> [u64; N_KEPT_VALUES] {
    let mut small =
        std::iter::successors(Some(first), |last| Some(last * SEED_FACTOR % SEED_MODULUS)).skip(21);
    let mut next = || small.next().unwrap_or_default();
    std::array::from_fn(|_| (next() << high) ^ (next() << middle) ^ next())
}

/// The table of 607 numbers in Go's source: those of this generator after `STEPS_TO_GO_TABLE`
/// steps.
///
/// A step is linear, so that many of them are the remainder of x^STEPS_TO_GO_TABLE divided by x^607
/// - x^334 - 1, which repeated squaring finds quickly.
static GO_SEED_TABLE: LazyLock<[u64; N_KEPT_VALUES]> = LazyLock::new(|| {
    let mut power = vec![0_u64; N_KEPT_VALUES];
    power[0] = 1;
    for bit in (0..STEPS_TO_GO_TABLE.ilog2() + 1).rev() {
        let mut product = vec![0_u64; 2 * N_KEPT_VALUES];
        for (one, left) in power.iter().enumerate() {
            // One more where this bit of the number of steps is set.
            let row = &mut product[one + usize::from(STEPS_TO_GO_TABLE >> bit & 1 == 1)..];
            for (place, right) in row.iter_mut().zip(&power) {
                *place = place.wrapping_add(left.wrapping_mul(*right));
            }
        }
        for at in (N_KEPT_VALUES..2 * N_KEPT_VALUES).rev() {
            let high = std::mem::take(&mut product[at]);
            for lower in [at - N_KEPT_VALUES, at - TAP_DISTANCE] {
                product[lower] = product[lower].wrapping_add(high);
            }
        }
        product.truncate(N_KEPT_VALUES);
        power = product;
    }
    // In the order in which they were generated, which is not that of their indices.
    let begin = initial_generator_values(1, 20, 10);
    let place = |step: u64| {
        (N_KEPT_VALUES - TAP_DISTANCE + N_KEPT_VALUES - (step % N_KEPT_VALUES as u64) as usize)
            % N_KEPT_VALUES
    };
    let mut made: Vec<u64> = (1..=N_KEPT_VALUES as u64).map(|step| begin[place(step)]).collect();
    for at in N_KEPT_VALUES..2 * N_KEPT_VALUES {
        made.push(made[at - N_KEPT_VALUES].wrapping_add(made[at - TAP_DISTANCE]));
    }
    let mut table = [0; N_KEPT_VALUES];
    for ahead in 0..N_KEPT_VALUES {
        let terms = power.iter().zip(&made[ahead..]);
        let sum = terms.fold(0_u64, |sum, (one, other)| sum.wrapping_add(one.wrapping_mul(*other)));
        table[place(STEPS_TO_GO_TABLE + 1 + ahead as u64)] = sum;
    }
    table
});

#[cfg(test)]
mod tests {
    use super::*;

    /// The source with a number for a seed, as in Go.
    fn numbered(first: u64) -> SeededRandom {
        let mixed = initial_generator_values(first, 40, 20);
        let values = std::array::from_fn(|index| mixed[index] ^ GO_SEED_TABLE[index]);
        SeededRandom { values, feed: N_KEPT_VALUES - TAP_DISTANCE }
    }

    #[test]
    fn the_numbers_are_those_of_go() {
        let mut generator = numbered(1);
        let drawn: Vec<_> = (0..10).map(|_| generator.random_up_to(99)).collect();
        assert_eq!(drawn, [81, 87, 47, 59, 81, 18, 25, 40, 56, 0]);
    }

    #[test]
    fn a_seed_produces_the_values_of_the_public_provider() {
        // The values that Go's own tests expect.
        assert_eq!(SeededRandom::new(Some("12345")).random_up_to(2) + 1, 3);
        assert_eq!(SeededRandom::new(Some("123456")).random_up_to(2) + 1, 2);
        let mut dash = SeededRandom::new(Some("-"));
        assert_eq!(dash.random_order(5), [0, 2, 1, 4, 3]);
        assert_eq!(dash.random_order(5), [0, 4, 3, 2, 1]);
        assert_eq!(dash.random_order(5)[..2], [0, 1]);
    }

    #[test]
    fn numbers_stay_within_their_range_and_reach_its_ends() {
        let mut seeded = SeededRandom::new(Some("range"));
        let numbers: Vec<u64> = (0..200).map(|_| seeded.random_up_to(2)).collect();
        assert!((0..=2).all(|number| numbers.contains(&number)));
        assert!(numbers.iter().all(|number| *number <= 2));
        assert_eq!(seeded.random_up_to(0), 0);
        for last in [1 << 31, 1 << 40, u64::MAX >> 1, 1 << 63, u64::MAX - 1, u64::MAX] {
            assert!(
                (0..50).map(|_| seeded.random_up_to(last)).all(|drawn| drawn <= last),
                "{last}"
            );
        }
    }

    #[test]
    fn without_a_seed_the_numbers_differ_each_time() {
        assert_ne!(
            SeededRandom::new(None).random_up_to(u64::MAX),
            SeededRandom::new(None).random_up_to(u64::MAX)
        );
        let mut order = SeededRandom::new(None).random_order(50);
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
    }
}
