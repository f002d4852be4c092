//! Finds the id of the real object in an answer that could not be decoded. Only a hint for the user,
//! never stored in a state.

use crate::state::journal::ProviderAnswer;

/// The longest name that is worth showing.
const MAX_SHOWN_ID_LEN: usize = 512;

/// The attribute `id` of the answer, even if the rest of the answer is invalid.
pub(super) fn find_id_in_answer(answer: &ProviderAnswer) -> Option<String> {
    // A key of two letters, as MessagePack has it; a string follows it.
    const MSGPACK_ID_KEY: &[u8] = b"\xa2id";
    let bytes = &answer.state;
    let keys = bytes
        .windows(MSGPACK_ID_KEY.len())
        .enumerate()
        .filter(|(_, window)| *window == MSGPACK_ID_KEY);
    let mut values =
        keys.filter_map(|(at, _)| read_printable_string(&bytes[at + MSGPACK_ID_KEY.len()..]));
    // A match of the key may be the value before it.
    values.find(|value| value != "id")
}

/// The string at the beginning, if it is complete and printable.
fn read_printable_string(bytes: &[u8]) -> Option<String> {
    let (length, rest) = match *bytes {
        [head @ 0xa0..=0xbf, ref rest @ ..] => (usize::from(head & 0x1f), rest),
        [0xd9, length, ref rest @ ..] => (usize::from(length), rest),
        [0xda, high, low, ref rest @ ..] => (usize::from(u16::from_be_bytes([high, low])), rest),
        _ => return None,
    };
    let text = std::str::from_utf8(rest.get(..length)?).ok()?;
    let readable =
        !text.is_empty() && text.len() <= MAX_SHOWN_ID_LEN && !text.contains(char::is_control);
    readable.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_id(state: &[u8]) -> Option<String> {
        find_id_in_answer(&ProviderAnswer { state: state.to_vec(), ..ProviderAnswer::default() })
    }

    #[test]
    fn the_id_is_found_despite_other_damage() {
        for (state, want) in [
            // No value of MessagePack begins with `\xc1`.
            (&b"\x82\xa2id\xa3a-1\xa4size\xc1"[..], Some("a-1")),
            (b"\x81\xa2id\xd9\x03a-1", Some("a-1")),
            (b"\x81\xa2id\xda\x00\x03a-1", Some("a-1")),
            // The value of another attribute may look like the key.
            (b"\x82\xa4name\xa2id\xa2id\xa3a-1", Some("a-1")),
            (b"\x81\xa2id\xa3a-", None),
            (b"\x81\xa2id\xc0", None),
            // An escape sequence would end up on the terminal.
            (b"\x81\xa2id\xa2\x1b[", None),
            (b"junk", None),
            (b"", None),
        ] {
            assert_eq!(find_id(state).as_deref(), want, "{state:?}");
        }
    }
}
