//! Parser for comma-separated values by RFC 4180: quotes must enclose a whole field, empty lines are
//! ignored, and every line must have as many fields as the header line.

use std::sync::Arc;

use formwork_value::value::Object;
use formwork_value::{Str, Type, Value};

use crate::functions::{Args, Builtin, CallError};

pub(super) fn csv_decode_builtin() -> Builtin {
    Builtin::new("csvdecode", csv_decode)
        .with_param("str", Type::String)
        .with_return_type_fn(|args| match args.first() {
            Some(Value::String(text)) => {
                read_header_line(text).map(|(names, _)| Type::list(row_type(&names)))
            }
            _ => Ok(Type::Dynamic),
        })
        .described_as(
            "Decodes comma-separated values to objects, with the names in the first row.",
            ["The rows."],
        )
        .with_example(
            r#"csvdecode("a,b\n1,\"x\"\"y\"")"#,
            "tolist([\n  {\n    \"a\" = \"1\"\n    \"b\" = \"x\\\"y\"\n  },\n])",
        )
}

fn row_type(names: &[Str]) -> Type {
    Type::object(names.iter().map(|name| (name.clone(), Type::String)))
}

/// Reads the header line. Returns the names, and the reader after it.
fn read_header_line(text: &str) -> Result<(Vec<Str>, CsvReader<'_>), CallError> {
    let mut reader = CsvReader { rest: text, line: 1 };
    let fields =
        reader.read_record()?.ok_or_else(|| CallError::new("the header line is missing"))?;
    let names: Vec<Str> = fields.iter().map(Str::from).collect();
    let mut sorted: Vec<&Str> = names.iter().collect();
    sorted.sort();
    if let Some([name, _]) = sorted.array_windows().find(|[a, b]| a == b) {
        return Err(CallError::new(format!("duplicate column name {:?}", name.as_str())));
    }
    Ok((names, reader))
}

fn csv_decode(args: &Args<'_>) -> Result<Value, CallError> {
    let (names, mut reader) = read_header_line(args.text(0)?)?;
    // Objects keep their attributes sorted by name, so the fields are put in that order once.
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| names.get(*a).cmp(&names.get(*b)));
    let sorted: Arc<[Str]> = order.iter().filter_map(|at| names.get(*at).cloned()).collect();
    let mut rows = Vec::new();
    loop {
        // Taken before the row is read, because a field in quotes may span lines.
        let line = reader.line;
        let Some(fields) = reader.read_record()? else { break };
        if fields.len() != names.len() {
            return Err(csv_error(
                line,
                &format!("wrong number of fields: {} instead of {}", fields.len(), names.len()),
            ));
        }
        // One element more, for the object of the row.
        args.charge_elements(fields.len() + 1)?;
        let values = order
            .iter()
            .map(|at| Value::string(fields.get(*at).map_or("", String::as_str)))
            .collect();
        rows.push(Value::Object(Object::with_names(sorted.clone(), values)));
    }
    Ok(Value::list(row_type(&names), rows))
}

fn csv_error(line: usize, problem: &str) -> CallError {
    CallError::new(format!("CSV parse error on line {line}: {problem}"))
}

struct CsvReader<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> CsvReader<'t> {
    /// Returns the fields of the next line that is not empty.
    fn read_record(&mut self) -> Result<Option<Vec<String>>, CallError> {
        while let Some(rest) =
            self.rest.strip_prefix("\r\n").or_else(|| self.rest.strip_prefix('\n'))
        {
            self.advance_line(rest);
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let mut fields = Vec::new();
        loop {
            let field = match self.rest.strip_prefix('"') {
                Some(rest) => self.read_quoted_field(rest)?,
                None => self.read_plain_field()?,
            };
            fields.push(field);
            match self.rest.strip_prefix(',') {
                Some(rest) => self.rest = rest,
                None => break,
            }
        }
        if let Some(rest) = self.rest.strip_prefix("\r\n").or_else(|| self.rest.strip_prefix('\n'))
        {
            self.advance_line(rest);
        }
        Ok(Some(fields))
    }

    /// Skips one line end.
    fn advance_line(&mut self, rest: &'t str) {
        self.line += 1;
        self.rest = rest;
    }

    fn read_plain_field(&mut self) -> Result<String, CallError> {
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at(end);
        // A carriage return belongs to the line end only right before it.
        let (field, rest) = match field.strip_suffix('\r') {
            Some(before) if rest.starts_with('\n') || rest.is_empty() => (before, rest),
            _ => (field, rest),
        };
        if field.contains('"') {
            return Err(csv_error(
                self.line,
                "a field that does not begin with a quote contains one",
            ));
        }
        self.rest = rest;
        Ok(field.to_owned())
    }

    fn read_quoted_field(&mut self, behind_quote: &'t str) -> Result<String, CallError> {
        // A field may span lines, and an error is reported where its quote was opened.
        let first_line = self.line;
        let mut field = String::new();
        let mut rest = behind_quote;
        loop {
            let Some((part, after_quote)) = rest.split_once('"') else {
                return Err(csv_error(first_line, "a quote is not closed"));
            };
            self.line += part.matches('\n').count();
            // Line ends inside quotes lose their carriage return.
            field.push_str(&part.replace("\r\n", "\n"));
            rest = after_quote;
            match rest.strip_prefix('"') {
                Some(after_quote) => {
                    field.push('"');
                    rest = after_quote;
                }
                None => break,
            }
        }
        let at_end = rest.is_empty()
            || rest.starts_with([',', '\n'])
            || rest.starts_with("\r\n")
            || rest == "\r";
        if !at_end {
            return Err(csv_error(first_line, "a closing quote is not followed by a comma"));
        }
        self.rest = rest
            .strip_prefix('\r')
            .filter(|rest| rest.is_empty() || rest.starts_with('\n'))
            .unwrap_or(rest);
        Ok(field)
    }
}
