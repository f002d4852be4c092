//! Cache of names and short strings. They recur, and sharing them is cheaper than allocating them again.

use formwork_value::Str;

/// Number of names that are kept, a power of two. A later name replaces an earlier one.
const MAX_CACHED_NAMES: usize = 1_024;

/// Longer strings seldom recur.
const MAX_CACHED_NAME_LENGTH: usize = 32;

/// The last names, each in the slot of its hash.
pub(super) struct NameCache {
    slots: Vec<Option<Str>>,
}

impl NameCache {
    /// Creates a cache with capacity for the names of a source text.
    pub(super) fn with_capacity_for(text: &str) -> Self {
        Self { slots: vec![None; MAX_CACHED_NAMES.min((text.len() / 8 + 1).next_power_of_two())] }
    }

    /// Returns the name of a piece of text, shared with a cached one if it exists.
    pub(super) fn intern(&mut self, text: &str) -> Str {
        if text.len() > MAX_CACHED_NAME_LENGTH {
            return Str::new(text);
        }
        let last_place = self.slots.len() - 1;
        let slot = &mut self.slots[hash_text(text.as_bytes()) as usize & last_place];
        match slot {
            Some(name) if name.as_str() == text => name.clone(),
            _ => slot.insert(Str::new(text)).clone(),
        }
    }
}

/// Hash of the length, the beginning and the end. Hash collisions only slow down parsing.
fn hash_text(text: &[u8]) -> u64 {
    let mix = |hash: u64, more: u64| (hash ^ more).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => {
            mix(mix(text.len() as u64, u64::from_le_bytes(*first)), u64::from_le_bytes(*last))
        }
        _ => text.iter().fold(text.len() as u64, |hash, byte| mix(hash, u64::from(*byte))),
    };
    hash >> 32
}
