//! Writing values as YAML in Terraform's layout: keys and strings in quotes, strings of several lines as
//! literal blocks where these can hold them. The parser is in `read_yaml`.

use formwork_value::{Str, Type, Value};

use crate::functions::{Args, Builtin, CallError};
use crate::stack;

/// Column after which a quoted string continues on the next line.
const LINE_WIDTH: usize = 80;
/// Greatest length in bytes of a key on one line with its value.
const MAX_SIMPLE_KEY_BYTES: usize = 128;

pub(super) fn yaml_encode_builtin() -> Builtin {
    Builtin::new("yamlencode", yaml_encode)
        .with_param("value", Type::Dynamic)
        .last_param_allows_null()
        .last_param_allows_unknown()
        .last_param_allows_dynamic()
        .with_return_type(Type::String)
        .described_as("Encodes a value as YAML.", ["The value."])
        .with_example(r#"yamlencode({b = [1, "x"]})"#, "<<EOT\n\"b\":\n- 1\n- \"x\"\n\nEOT")
}

fn yaml_encode(args: &Args<'_>) -> Result<Value, CallError> {
    let value = args.value(0);
    if !value.is_wholly_known() {
        return Ok(Value::unknown(Type::String));
    }
    let mut writer = YamlWriter { text: String::new(), column: 0 };
    writer.write_node(value, OutputPosition { indent: 0, of_key: false, root: true });
    // A plain scalar could continue on the next line, so libyaml ends such a document explicitly.
    if matches!(value, Value::Null(_) | Value::Bool(_) | Value::Number(_)) {
        writer.text.push_str("\n...");
    }
    writer.end_line();
    args.string_result(writer.text)
}

/// Position of a value in the output.
#[derive(Clone, Copy)]
struct OutputPosition {
    /// Indentation of the enclosing block.
    indent: usize,
    /// Whether it follows its key on the same line.
    of_key: bool,
    /// Whether this is the outermost value.
    root: bool,
}

impl OutputPosition {
    /// Indentation of the entries of a collection here.
    fn inner_indent(self) -> usize {
        if self.root { 0 } else { self.indent + 2 }
    }
}

struct YamlWriter {
    text: String,
    column: usize,
}

impl YamlWriter {
    fn push_char(&mut self, char: char) {
        self.text.push(char);
        self.column = if is_line_break(char) { 0 } else { self.column + 1 };
    }

    fn push_text(&mut self, text: &str) {
        text.chars().for_each(|char| self.push_char(char));
    }

    fn end_line(&mut self) {
        if self.column > 0 {
            self.push_char('\n');
        }
    }

    /// Moves to a column, on a new line unless the current one is empty.
    fn go_to_column(&mut self, to: usize) {
        self.end_line();
        while self.column < to {
            self.push_char(' ');
        }
    }

    fn write_node(&mut self, value: &Value, position: OutputPosition) {
        stack::with_stack(|| match value {
            Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
                self.write_sequence(value.children(), position);
            }
            Value::Map(map) => self.write_mapping(map.iter(), position),
            Value::Object(object) => self.write_mapping(object.iter(), position),
            scalar => {
                if position.of_key {
                    self.push_char(' ');
                }
                self.write_scalar(scalar, position.indent);
            }
        });
    }

    fn write_scalar(&mut self, value: &Value, indent: usize) {
        match value {
            Value::String(text) if fits_literal_block(text) => {
                self.write_literal_block(text, indent + 2);
            }
            Value::String(text) => self.write_quoted(text, Some(indent + 2)),
            Value::Number(number) => self.push_text(&number.to_string()),
            Value::Bool(true) => self.push_text("true"),
            Value::Bool(false) => self.push_text("false"),
            _ => self.push_text("null"),
        }
    }

    fn write_sequence(&mut self, items: &[Value], position: OutputPosition) {
        if items.is_empty() {
            return self.push_text(if position.of_key { " []" } else { "[]" });
        }
        // After a key, the dashes are below the key, not to the right of it.
        let indent = if position.of_key { position.indent } else { position.inner_indent() };
        for (at, item) in items.iter().enumerate() {
            if at > 0 || position.of_key {
                self.go_to_column(indent);
            }
            self.push_text("- ");
            self.write_node(item, OutputPosition { indent, of_key: false, root: false });
        }
    }

    fn write_mapping<'v>(
        &mut self,
        entries: impl ExactSizeIterator<Item = (&'v Str, &'v Value)>,
        position: OutputPosition,
    ) {
        if entries.len() == 0 {
            return self.push_text(if position.of_key { " {}" } else { "{}" });
        }
        let indent = position.inner_indent();
        for (at, (key, value)) in entries.enumerate() {
            if at > 0 || position.of_key {
                self.go_to_column(indent);
            }
            let key = key.as_str();
            let simple = key.len() <= MAX_SIMPLE_KEY_BYTES && !key.contains(is_line_break);
            if simple {
                // A key before a colon must end on the line where it began.
                self.write_quoted(key, None);
                self.push_char(':');
            } else {
                self.push_text("? ");
                self.write_scalar(&Value::string(key), indent);
                self.go_to_column(indent);
                self.push_text(": ");
            }
            self.write_node(value, OutputPosition { indent, of_key: simple, root: false });
        }
    }

    /// Writes a literal block, after a header that specifies its indentation and line ends.
    fn write_literal_block(&mut self, text: &str, indent: usize) {
        self.push_char('|');
        // A reader takes the indentation from the first line, unless it is stated.
        if text.starts_with(|char| char == ' ' || is_line_break(char)) {
            self.push_char('2');
        }
        let without_last = text.strip_suffix(is_line_break);
        match without_last {
            None => self.push_char('-'),
            // Without this sign a reader drops all line ends but one.
            Some(rest) if rest.is_empty() || rest.ends_with(is_line_break) => self.push_char('+'),
            Some(_) => {}
        }
        self.push_char('\n');
        for char in text.chars() {
            if self.column == 0 && !is_line_break(char) {
                self.go_to_column(indent);
            }
            self.push_char(char);
        }
    }

    /// Writes a quoted string. With an indent, it may continue on the next line.
    fn write_quoted(&mut self, text: &str, indent: Option<usize>) {
        self.push_char('"');
        let mut after_space = false;
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, char)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            match (char, indent, next) {
                (' ', Some(indent), Some(next))
                    if !after_space && at > 0 && self.column > LINE_WIDTH =>
                {
                    self.go_to_column(indent);
                    // A reader drops spaces at the start of a continued line, unless the first is
                    // escaped.
                    if next == ' ' {
                        self.push_char('\\');
                    }
                }
                _ if is_printable(char) && !is_line_break(char) && !matches!(char, '"' | '\\') => {
                    self.push_char(char);
                }
                _ => self.write_escape(char),
            }
            after_space = char == ' ';
        }
        self.push_char('"');
    }

    fn write_escape(&mut self, char: char) {
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
                return self.push_text(&digits);
            }
        };
        self.push_char('\\');
        self.push_char(short);
    }
}

/// Returns whether a character is a line break in YAML.
fn is_line_break(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character needs no escape. Terraform escapes everything beyond the first 65,536
/// characters.
fn is_printable(char: char) -> bool {
    matches!(char, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Returns whether a string has several lines and can be represented as a literal block.
fn fits_literal_block(text: &str) -> bool {
    let space_before_break = || {
        let mut before = '\0';
        text.chars().any(|char| std::mem::replace(&mut before, char) == ' ' && is_line_break(char))
    };
    text.contains('\n')
        && !text.ends_with(' ')
        && text.chars().all(is_printable)
        && !(text.contains(' ') && space_before_break())
}
