//! Random numbers from a seed: the same seed gives the same numbers, on every machine and in every
//! version. Not for secrets.

use sha2::{Digest as _, Sha256};

/// A source of numbers: SplitMix64, whose every step is a sum and a few shifts and products.
pub(super) struct Seeded(u64);

impl Seeded {
    /// The source that a seed stands for; without one, any.
    pub(super) fn new(seed: Option<&str>) -> Self {
        let Some(seed) = seed else { return Self(rand::random()) };
        let digest = Sha256::digest(seed.as_bytes());
        let first = digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        Self(first)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `last`, all equally likely.
    pub(super) fn up_to(&mut self, last: u64) -> u64 {
        let Some(count) = last.checked_add(1) else { return self.next() };
        // Numbers beyond the last whole multiple of `count` would favour the small ones.
        let fair = u64::MAX - u64::MAX % count;
        loop {
            let drawn = self.next();
            if drawn < fair {
                return drawn % count;
            }
        }
    }

    /// Puts the items into a random order, all orders equally likely.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.up_to(last as u64);
            items.swap(last, usize::try_from(other).unwrap_or(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut seeded = Seeded::new(Some("formwork"));
        let numbers: Vec<u64> = (0..4).map(|_| seeded.up_to(999)).collect();
        expect_test::expect!["[995, 415, 667, 654]"].assert_eq(&format!("{numbers:?}"));
    }

    #[test]
    fn numbers_stay_within_their_range_and_reach_its_ends() {
        let mut seeded = Seeded::new(Some("range"));
        let numbers: Vec<u64> = (0..200).map(|_| seeded.up_to(2)).collect();
        assert!((0..=2).all(|number| numbers.contains(&number)));
        assert!(numbers.iter().all(|number| *number <= 2));
        assert_eq!(seeded.up_to(0), 0);
        let _any = seeded.up_to(u64::MAX);
    }

    #[test]
    fn a_shuffled_list_has_the_same_items() {
        let mut items: Vec<u32> = (0..50).collect();
        Seeded::new(Some("order")).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
