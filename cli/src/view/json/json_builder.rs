//! Builds JSON. Preserves the order of keys, and numbers as they are written.

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    /// Encoded JSON.
    Written(String),
    /// Keys and values in order.
    Object(Vec<(String, Self)>),
    /// Elements.
    Array(Vec<Self>),
    /// A string.
    Text(String),
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Null.
    Null,
}

impl Json {
    /// A string.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An object with these members.
    pub(crate) fn object(members: impl IntoIterator<Item = (&'static str, Self)>) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// An object with these members, omitting those that are `None`.
    pub(crate) fn object_of_some(
        members: impl IntoIterator<Item = (&'static str, Option<Self>)>,
    ) -> Self {
        Self::object(members.into_iter().filter_map(|(key, value)| Some((key, value?))))
    }

    /// Whether the value is an empty object or array.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Object(members) => members.is_empty(),
            Self::Array(items) => items.is_empty(),
            _ => false,
        }
    }

    /// Returns the value, unless it is empty.
    pub(crate) fn none_if_empty(self) -> Option<Self> {
        (!self.is_empty()).then_some(self)
    }

    /// Encodes the value without spaces.
    pub(crate) fn to_compact(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, None);
        text
    }

    /// Encodes the value on several lines, with an indent of two.
    pub(crate) fn to_pretty(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, Some(0));
        text
    }

    fn write(&self, text: &mut String, indent: Option<usize>) {
        match self {
            Self::Written(json) => match indent {
                None => text.push_str(json),
                Some(columns) => reindent_json(text, json, columns),
            },
            Self::Text(string) => text.push_str(&quote_json(string)),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Int(number) => text.push_str(&number.to_string()),
            Self::Null => text.push_str("null"),
            Self::Object(members) => {
                let parts = members.iter().map(|(key, value)| (Some(key.as_str()), value));
                write_enclosed(text, indent, ['{', '}'], parts);
            }
            Self::Array(items) => {
                write_enclosed(text, indent, ['[', ']'], items.iter().map(|i| (None, i)));
            }
        }
    }
}

fn write_enclosed<'j>(
    text: &mut String,
    indent: Option<usize>,
    [open, close]: [char; 2],
    parts: impl Iterator<Item = (Option<&'j str>, &'j Json)>,
) {
    text.push(open);
    let inner = indent.map(|columns| columns + 2);
    let mut empty = true;
    for (key, value) in parts {
        if !empty {
            text.push(',');
        }
        empty = false;
        write_line_break(text, inner);
        if let Some(key) = key {
            text.push_str(&quote_json(key));
            text.push_str(if indent.is_some() { ": " } else { ":" });
        }
        value.write(text, inner);
    }
    if !empty {
        write_line_break(text, indent);
    }
    text.push(close);
}

/// Reformats compact JSON on several lines. The input has spaces only in strings.
fn reindent_json(text: &mut String, json: &str, indent: usize) {
    let mut indent = indent;
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                text.push(letter);
                let mut escaped = false;
                for letter in letters.by_ref() {
                    text.push(letter);
                    if letter == '"' && !escaped {
                        break;
                    }
                    escaped = letter == '\\' && !escaped;
                }
            }
            '{' | '[' => {
                text.push(letter);
                match letters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(close) => text.push(close),
                    None => {
                        indent += 2;
                        write_line_break(text, Some(indent));
                    }
                }
            }
            '}' | ']' => {
                indent = indent.saturating_sub(2);
                write_line_break(text, Some(indent));
                text.push(letter);
            }
            ',' => {
                text.push(letter);
                write_line_break(text, Some(indent));
            }
            ':' => text.push_str(": "),
            _ => text.push(letter),
        }
    }
}

fn write_line_break(text: &mut String, indent: Option<usize>) {
    if let Some(columns) = indent {
        text.push('\n');
        text.push_str(&" ".repeat(columns));
    }
}

/// A quoted string, escaped as Terraform does.
fn quote_json(text: &str) -> String {
    let value = formwork_value::Value::string(text);
    // A string can always be encoded.
    formwork_value::codec::json::encode_untyped(&value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_and_writes_both_forms() {
        let json = Json::object_of_some([
            ("b", Some(Json::Int(1))),
            ("a", Some(Json::Array(vec![Json::Null, Json::text("<x>")]))),
            ("c", None),
            ("d", Some(Json::Object(Vec::new()))),
        ]);
        assert_eq!(json.to_compact(), r#"{"b":1,"a":[null,"\u003cx\u003e"],"d":{}}"#);
        assert_eq!(
            json.to_pretty(),
            "{\n  \"b\": 1,\n  \"a\": [\n    null,\n    \"\\u003cx\\u003e\"\n  ],\n  \"d\": {}\n}"
        );
    }

    #[test]
    fn compact_json_is_reindented() {
        let written = r#"{"a":[1,{}],"b:,":"x\\\"{","c":[]}"#;
        let json = Json::object([("v", Json::Written(written.to_owned()))]);
        let spread = [
            "{",
            "  \"v\": {",
            "    \"a\": [",
            "      1,",
            "      {}",
            "    ],",
            "    \"b:,\": \"x\\\\\\\"{\",",
            "    \"c\": []",
            "  }",
            "}",
        ];
        assert_eq!(json.to_pretty(), spread.join("\n"));
        assert_eq!(json.to_compact(), format!("{{\"v\":{written}}}"));
    }
}
