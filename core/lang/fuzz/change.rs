//! Deterministic mutations of corpus inputs. The users of this module choose the reader under test.

use std::path::Path;

/// Number of mutations tried of each example.
const ROUNDS: u64 = 150;

/// A row of numbers that is the same each time.
struct Row(u64);

impl Row {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// Strings to insert: those with a meaning in some syntax.
const PIECES: [&str; 40] = [
    "${",
    "%{",
    "}",
    "{",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "\\",
    "<<E\n",
    "\nE\n",
    "\n",
    "\r\n",
    "//",
    "/*",
    "*/",
    "#",
    "=",
    ".",
    "...",
    "*",
    "[*]",
    "for x in ",
    " : ",
    "if ",
    "endif ",
    "~",
    "null",
    "1e9",
    "::",
    "$$",
    "\u{0}",
    "\u{301}",
    "\u{feff}",
    "&a ",
    "*a",
    "<<: ",
    "- ",
    "\t",
];

fn change(row: &mut Row, text: &mut Vec<u8>, other: &[u8]) {
    let at = row.next(text.len() + 1);
    let length = row.next(12);
    let end = (at + length).min(text.len());
    match row.next(6) {
        0 => drop(text.drain(at..end)),
        1 => {
            let piece = PIECES[row.next(PIECES.len())];
            drop(text.splice(at..at, piece.bytes()));
        }
        2 => {
            let copy = text[at..end].to_vec();
            for _ in 0..row.next(40) {
                drop(text.splice(at..at, copy.iter().copied()));
            }
        }
        3 => {
            let from = row.next(other.len() + 1);
            let to = (from + row.next(60)).min(other.len());
            drop(text.splice(at..end, other[from..to].iter().copied()));
        }
        4 => {
            if let Some(byte) = text.get_mut(at) {
                *byte = row.next(256) as u8;
            }
        }
        _ => text.truncate(at),
    }
}

/// Returns the examples in a directory, sorted by name.
fn examples(directory: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .expect("examples are kept")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    // The order of directory entries differs between machines.
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("an example can be read")).collect()
}

/// Passes a target its examples and mutations of them. `HOSTILE_ROUNDS`, if set when this is built,
/// increases the number of rounds.
pub(crate) fn try_hard(directory: &Path, name: &str, target: fn(&[u8])) {
    let rounds = option_env!("HOSTILE_ROUNDS").and_then(|text| text.parse().ok());
    let examples = examples(&directory.join(name));
    assert!(!examples.is_empty(), "{name} has no examples");
    for (number, example) in examples.iter().enumerate() {
        target(example);
        // Never zero: such a row would stay zero.
        let mut row = Row(0x9e37_79b9_7f4a_7c15 ^ (number as u64 + 1));
        for _ in 0..rounds.unwrap_or(ROUNDS) {
            let mut text = example.clone();
            let other = &examples[row.next(examples.len())];
            for _ in 0..=row.next(6) {
                change(&mut row, &mut text, other);
            }
            // Copies of copies would grow, and take the time of further attempts.
            text.truncate(20_000);
            // The panic itself would not show the input that causes it.
            let tried = std::panic::catch_unwind(|| target(&text));
            assert!(tried.is_ok(), "{name}: {:?}", String::from_utf8_lossy(&text));
        }
    }
}
