//! Visits the strings, numbers and other scalars of a JSON text, in its order and without recursion.

use std::cell::OnceCell;

use super::paths::{add_pointer_step, begins_with_typed_value};

/// The position of a scalar: the objects and arrays around it, the outermost first.
pub(super) struct ScalarPath<'p, 't>(&'p [NestingLevel<'t>]);

/// An object or an array that is being visited.
struct NestingLevel<'t> {
    start: usize,
    is_object: bool,
    /// The name of the current member, as JSON.
    name: Option<&'t str>,
    /// The current element.
    index: usize,
    /// Whether it is a value beside its type. It is read at most once for all that is below it.
    is_typed: OnceCell<bool>,
}

impl ScalarPath<'_, '_> {
    /// The JSON pointer.
    pub(super) fn json_pointer(&self) -> String {
        let mut pointer = String::new();
        for level in self.0 {
            match level.name {
                Some(name) => add_pointer_step(&mut pointer, &decode_name(name)),
                None => add_pointer_step(&mut pointer, &level.index.to_string()),
            }
        }
        pointer
    }

    /// Whether it is within a type that is stored with its value.
    fn is_within_type(&self, text: &str, root_has_type: bool) -> bool {
        let levels = self.0.iter().skip(usize::from(!root_has_type));
        let mut types = levels.filter(|level| level.name == Some("\"type\""));
        types.any(|level| {
            *level.is_typed.get_or_init(|| begins_with_typed_value(&text[level.start..]))
        })
    }
}

/// Visits each scalar of valid JSON, except null and types that are stored with their values.
/// `root_has_type`: the root may itself be a value that is stored with its type.
pub(super) fn visit_scalars<'t>(
    text: &'t str,
    root_has_type: bool,
    visit: &mut dyn FnMut(&ScalarPath<'_, 't>, &'t str),
) {
    let bytes = text.as_bytes();
    let mut levels: Vec<NestingLevel<'t>> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => {
                let (is_object, is_typed) = (byte == b'{', OnceCell::new());
                levels.push(NestingLevel { start, is_object, name: None, index: 0, is_typed });
            }
            b'}' | b']' => drop(levels.pop()),
            b',' => {
                if let Some(level) = levels.last_mut() {
                    (level.name, level.index) = (None, level.index + 1);
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' | b':' => {}
            _ => {
                at = end_of_scalar(bytes, start);
                let leaf = &text[start..at];
                match levels.last_mut() {
                    Some(level) if level.is_object && level.name.is_none() => {
                        level.name = Some(leaf);
                    }
                    _ if leaf == "null" => {}
                    _ => {
                        let path = ScalarPath(&levels);
                        if !path.is_within_type(text, root_has_type) {
                            visit(&path, leaf);
                        }
                    }
                }
            }
        }
    }
}

/// The end of a string, a number or a word.
fn end_of_scalar(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    if bytes.get(start) != Some(&b'"') {
        let is_end = |byte: &u8| b",]} \t\n\r".contains(byte);
        return at + bytes[at..].iter().position(is_end).unwrap_or(bytes.len() - at);
    }
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn decode_name(name: &str) -> String {
    serde_json::from_str(name).unwrap_or_else(|_| name.to_owned())
}
