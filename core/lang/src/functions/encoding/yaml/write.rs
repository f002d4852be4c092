//! Writing values as YAML in Terraform's layout: keys and strings in quotes, strings of several
//! lines as literal blocks where these can hold them. Reads no YAML.

use formwork_value::{Str, Type, Value};

use crate::functions::{Args, Builtin, CallError};
use crate::stack;

/// Behind which column a quoted text continues in the next line.
const LINE_WIDTH: usize = 80;
/// Greatest length in bytes of a key that stands on one line with its value.
const SIMPLE_KEY: usize = 128;

pub(super) fn yaml_encode_builtin() -> Builtin {
    Builtin::new("yamlencode", encode)
        .with_param("value", Type::Dynamic)
        .or_null()
        .last_param_allows_unknown()
        .last_param_allows_dynamic()
        .with_return_type(Type::String)
        .described_as("Encodes a value as YAML.", ["The value."])
        .example(r#"yamlencode({b = [1, "x"]})"#, "<<EOT\n\"b\":\n- 1\n- \"x\"\n\nEOT")
}

fn encode(args: &Args<'_>) -> Result<Value, CallError> {
    let value = args.value(0);
    if !value.is_wholly_known() {
        return Ok(Value::unknown(Type::String));
    }
    let mut writer = YamlWriter { text: String::new(), column: 0 };
    writer.node(value, OutputPosition { indent: 0, of_key: false, root: true });
    // A plain scalar could go on in the next line, so libyaml ends such a document explicitly.
    if matches!(value, Value::Null(_) | Value::Bool(_) | Value::Number(_)) {
        writer.text.push_str("\n...");
    }
    writer.end_line();
    args.string(writer.text)
}

/// Position of a value in the output.
#[derive(Clone, Copy)]
struct OutputPosition {
    /// Indentation of the enclosing block.
    indent: usize,
    /// Whether it follows its key on the same line.
    of_key: bool,
    /// Whether nothing is around it.
    root: bool,
}

impl OutputPosition {
    /// Indentation of the entries of a collection here.
    fn inner(self) -> usize {
        if self.root { 0 } else { self.indent + 2 }
    }
}

struct YamlWriter {
    text: String,
    column: usize,
}

impl YamlWriter {
    fn push(&mut self, char: char) {
        self.text.push(char);
        self.column = if is_break(char) { 0 } else { self.column + 1 };
    }

    fn put(&mut self, text: &str) {
        text.chars().for_each(|char| self.push(char));
    }

    fn end_line(&mut self) {
        if self.column > 0 {
            self.push('\n');
        }
    }

    /// Goes to a column, on a line of its own unless this one is still empty.
    fn indent(&mut self, to: usize) {
        self.end_line();
        while self.column < to {
            self.push(' ');
        }
    }

    fn node(&mut self, value: &Value, place: OutputPosition) {
        stack::with_stack(|| match value {
            Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
                self.sequence(value.children(), place);
            }
            Value::Map(map) => self.mapping(map.iter(), place),
            Value::Object(object) => self.mapping(object.iter(), place),
            scalar => {
                if place.of_key {
                    self.push(' ');
                }
                self.scalar(scalar, place.indent);
            }
        });
    }

    fn scalar(&mut self, value: &Value, indent: usize) {
        match value {
            Value::String(text) if fits_block(text) => self.literal(text, indent + 2),
            Value::String(text) => self.quoted(text, Some(indent + 2)),
            Value::Number(number) => self.put(&number.to_string()),
            Value::Bool(true) => self.put("true"),
            Value::Bool(false) => self.put("false"),
            _ => self.put("null"),
        }
    }

    fn sequence(&mut self, items: &[Value], place: OutputPosition) {
        if items.is_empty() {
            return self.put(if place.of_key { " []" } else { "[]" });
        }
        // Behind a key the dashes stand below the key, not to the right of it.
        let indent = if place.of_key { place.indent } else { place.inner() };
        for (at, item) in items.iter().enumerate() {
            if at > 0 || place.of_key {
                self.indent(indent);
            }
            self.put("- ");
            self.node(item, OutputPosition { indent, of_key: false, root: false });
        }
    }

    fn mapping<'v>(
        &mut self,
        entries: impl ExactSizeIterator<Item = (&'v Str, &'v Value)>,
        place: OutputPosition,
    ) {
        if entries.len() == 0 {
            return self.put(if place.of_key { " {}" } else { "{}" });
        }
        let indent = place.inner();
        for (at, (key, value)) in entries.enumerate() {
            if at > 0 || place.of_key {
                self.indent(indent);
            }
            let key = key.as_str();
            let simple = key.len() <= SIMPLE_KEY && !key.contains(is_break);
            if simple {
                // A key before a colon must end on the line where it began.
                self.quoted(key, None);
                self.push(':');
            } else {
                self.put("? ");
                self.scalar(&Value::string(key), indent);
                self.indent(indent);
                self.put(": ");
            }
            self.node(value, OutputPosition { indent, of_key: simple, root: false });
        }
    }

    /// A text of lines as they are, below a bar that says how they begin and end.
    fn literal(&mut self, text: &str, indent: usize) {
        self.push('|');
        // A reader takes the indentation from the first line, unless it is stated.
        if text.starts_with(|char| char == ' ' || is_break(char)) {
            self.push('2');
        }
        let without_last = text.strip_suffix(is_break);
        match without_last {
            None => self.push('-'),
            // Without this sign a reader drops all line ends but one.
            Some(rest) if rest.is_empty() || rest.ends_with(is_break) => self.push('+'),
            Some(_) => {}
        }
        self.push('\n');
        for char in text.chars() {
            if self.column == 0 && !is_break(char) {
                self.indent(indent);
            }
            self.push(char);
        }
    }

    /// A text in quotes. With an indent, it may go on in the next line.
    fn quoted(&mut self, text: &str, indent: Option<usize>) {
        self.push('"');
        let mut after_space = false;
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, char)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            match (char, indent, next) {
                (' ', Some(indent), Some(next))
                    if !after_space && at > 0 && self.column > LINE_WIDTH =>
                {
                    self.indent(indent);
                    // A reader drops spaces at the start of a continued line, unless the first is
                    // escaped.
                    if next == ' ' {
                        self.push('\\');
                    }
                }
                _ if is_printable(char) && !is_break(char) && !matches!(char, '"' | '\\') => {
                    self.push(char);
                }
                _ => self.escape(char),
            }
            after_space = char == ' ';
        }
        self.push('"');
    }

    fn escape(&mut self, char: char) {
        let short = match char {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '"' | '\\' => char,
            '\u{85}' => 'N',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let code = u32::from(char);
                let digits = match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                return self.put(&digits);
            }
        };
        self.push('\\');
        self.push(short);
    }
}

/// Whether YAML sees the end of a line in it.
fn is_break(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character needs no escape. Terraform escapes everything beyond the first 65,536
/// characters.
fn is_printable(char: char) -> bool {
    matches!(char, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Whether a string has several lines, and a literal block gives all of it back.
fn fits_block(text: &str) -> bool {
    let space_before_break = || {
        let mut before = '\0';
        text.chars().any(|char| std::mem::replace(&mut before, char) == ' ' && is_break(char))
    };
    text.contains('\n')
        && !text.ends_with(' ')
        && text.chars().all(is_printable)
        && !(text.contains(' ') && space_before_break())
}
