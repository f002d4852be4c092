//! Names that were read already. They recur, and sharing their text is cheaper than making it again.

use formwork_value::Str;

/// How many names are kept; one that comes later takes the place of one before it.
const N_PLACES: usize = 1_024;

/// The names read last, each in the place its text says.
pub(super) struct Names {
    places: Vec<Option<Str>>,
}

impl Names {
    pub(super) fn new() -> Self {
        Self { places: vec![None; N_PLACES] }
    }

    /// The name of a text, shared with those before it if one is kept.
    pub(super) fn get(&mut self, text: &str) -> Str {
        let place = &mut self.places[place_of(text)];
        match place {
            Some(name) if name.as_str() == text => name.clone(),
            _ => place.insert(Str::new(text)).clone(),
        }
    }
}

/// Whoever makes many names with one place only makes them slower to read, not wrong.
fn place_of(text: &str) -> usize {
    let hash = text.bytes().take(32).fold(text.len() as u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash >> 16) as usize % N_PLACES
}
