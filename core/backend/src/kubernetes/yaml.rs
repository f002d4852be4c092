//! The subset of YAML that kubeconfig files use, as JSON: maps, lists and scalars without tags.

use libyaml_safer::{Event, EventData, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Maximum nesting depth.
const MAX_YAML_DEPTH: usize = 32;

/// Parses the first document in a string.
///
/// # Errors
/// Returns the problem and its line if the string is not such a document.
pub(super) fn parse_yaml(text: &str) -> Result<Value, String> {
    // The last line may have no line break.
    let text = format!("{text}\n");
    let mut bytes = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut bytes);
    let mut reader = YamlReader { parser };
    let mut event = reader.next_event()?;
    while matches!(event.data, EventData::StreamStart { .. } | EventData::DocumentStart { .. }) {
        event = reader.next_event()?;
    }
    match event.data {
        EventData::StreamEnd => Ok(Value::Null),
        _ => reader.read_value(event, 0),
    }
}

struct YamlReader<'r, 'b> {
    parser: Parser<&'r mut &'b [u8]>,
}

impl YamlReader<'_, '_> {
    fn next_event(&mut self) -> Result<Event, String> {
        self.parser.parse().map_err(|error| match error.problem_mark() {
            Some(mark) => format!("line {}: {}", mark.line + 1, error.problem()),
            None => error.problem().to_owned(),
        })
    }

    fn read_value(&mut self, event: Event, depth: usize) -> Result<Value, String> {
        let line = event.start_mark.line + 1;
        // The parser recurses once for each level, and deep nesting would overflow the stack.
        if depth > MAX_YAML_DEPTH {
            return Err(format!("line {line}: it is nested too deeply"));
        }
        match event.data {
            EventData::Scalar { value, style, .. } => Ok(convert_scalar(value, style)),
            EventData::SequenceStart { .. } => {
                let mut list = Vec::new();
                loop {
                    let next_event = self.next_event()?;
                    if next_event.data == EventData::SequenceEnd {
                        return Ok(Value::Array(list));
                    }
                    list.push(self.read_value(next_event, depth + 1)?);
                }
            }
            EventData::MappingStart { .. } => {
                let mut map = Map::new();
                loop {
                    let name = match self.next_event()?.data {
                        EventData::MappingEnd => return Ok(Value::Object(map)),
                        EventData::Scalar { value, .. } => value,
                        _ => return Err(format!("line {line}: a key is not a string")),
                    };
                    let next_event = self.next_event()?;
                    let value = self.read_value(next_event, depth + 1)?;
                    map.insert(name, value);
                }
            }
            // Aliases of aliases expand a short document without limit.
            _ => Err(format!("line {line}: aliases are not supported")),
        }
    }
}

fn convert_scalar(text: String, style: ScalarStyle) -> Value {
    match text.as_str() {
        _ if style != ScalarStyle::Plain => Value::String(text),
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        // A name or password that consists of digits is still a string.
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_lists_and_scalars_are_parsed_and_other_yaml_is_refused() {
        let value =
            parse_yaml("a:\n- b: true\n  c: 'true'\n- {d: [1, ~]}\ne: |\n  x\n  y").unwrap();
        let expected = serde_json::json!({
            "a": [{"b": true, "c": "true"}, {"d": ["1", null]}],
            "e": "x\ny\n",
        });
        assert_eq!(value, expected);
        assert_eq!(parse_yaml("").unwrap(), Value::Null);
        assert_eq!(parse_yaml("{\"a\": \"b\"}").unwrap(), serde_json::json!({"a": "b"}));
        assert!(parse_yaml("a: &x 1\nb: *x").unwrap_err().contains("line 2: aliases"));
        assert!(parse_yaml("a: [").unwrap_err().starts_with("line"));
        assert!(parse_yaml(&"[".repeat(100)).is_err());
    }
}
