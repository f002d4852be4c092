//! Conversion of YAML events to values. Supports anchors, aliases and `<<`. `read_scalar` determines the
//! value of a scalar.
//!
//! An alias costs as much as its target, so that a few lines of nested aliases do not exceed the
//! budget of an evaluation unnoticed.

use std::collections::{BTreeMap, HashMap};

use formwork_value::{Str, Type, Value, convert};
use libyaml_safer::{Event, EventData, Mark, Parser, ScalarStyle};

use super::commas_after_tags::TextWithMovedCommas;
use super::read_scalar;
use crate::functions::{Args, Builtin, CallError};
use crate::limits::ExceededLimit;
use crate::stack;

pub(super) fn yaml_decode_builtin() -> Builtin {
    Builtin::new("yamldecode", yaml_decode)
        .with_param("src", Type::String)
        .may_return_null()
        .described_as("Decodes a value from YAML.", ["The document, without aliases to itself."])
        .with_example(
            r#"yamldecode("a: &x [1, yes]\nb: *x")"#,
            "{\n  \"a\" = [\n    1,\n    true,\n  ]\n  \"b\" = [\n    1,\n    true,\n  ]\n}",
        )
        .with_example(r#"yamldecode("<<: {a: 1}\nb: 017")"#, "{\n  \"a\" = 1\n  \"b\" = 17\n}")
}

fn yaml_decode(args: &Args<'_>) -> Result<Value, CallError> {
    let text = args.text(0)?;
    args.charge_bytes(text.len())?;
    // The parser reads beyond the end of a document without a final line end.
    let cut_off = text.rsplit('\n').next().filter(|line| !line.is_empty());
    let document = match cut_off {
        Some(_) => format!("{text}\n"),
        None => text.to_string(),
    };
    let parted = TextWithMovedCommas::new(&document);
    let mut bytes = parted.text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut bytes);
    let (anchors, open) = (HashMap::new(), Vec::new());
    YamlReader { parser, parted: &parted, args, cut_off, anchors, open }.read_document()
}

/// A value, and the number of values that it contains, including itself.
#[derive(Clone)]
struct SizedValue {
    value: Value,
    size: usize,
}

struct YamlReader<'a, 'r> {
    parser: Parser<&'r mut &'a [u8]>,
    parted: &'r TextWithMovedCommas<'a>,
    args: &'r Args<'r>,
    /// The last line of the document, if it has no line end.
    cut_off: Option<&'r str>,
    anchors: HashMap<String, SizedValue>,
    /// The anchors of the collections that are not complete yet.
    open: Vec<String>,
}

impl YamlReader<'_, '_> {
    fn next_event(&mut self) -> Result<Event, CallError> {
        // Every event is charged, because a collection of empty parts has few bytes and many values.
        self.args.charge_elements(1)?;
        self.parser.parse().map_err(|error| {
            let problem = match error.context() {
                Some(context) if !context.is_empty() => format!("{} {context}", error.problem()),
                _ => error.problem().to_owned(),
            };
            match error.problem_mark() {
                Some(mark) => yaml_error(&mark, &problem),
                None => CallError::new(problem),
            }
        })
    }

    /// Reads the single document that the string must contain.
    fn read_document(&mut self) -> Result<Value, CallError> {
        let mut event = self.next_event()?;
        if matches!(event.data, EventData::StreamStart { .. }) {
            event = self.next_event()?;
        }
        match &event.data {
            EventData::DocumentStart { version_directive: Some(version), .. }
                if (version.major, version.minor) != (1, 1) =>
            {
                let version = format!("{}.{}", version.major, version.minor);
                let reason = format!("it declares YAML {version}, but only 1.1 is supported");
                return Err(yaml_error(&event.start_mark, &reason));
            }
            EventData::DocumentStart { .. } => {}
            _ => return Err(yaml_error(&event.start_mark, "the string contains no YAML document")),
        }
        let first = self.next_event()?;
        let node = self.read_node(first, 0)?;
        let mut after = self.next_event()?;
        while matches!(after.data, EventData::DocumentEnd { .. }) {
            after = self.next_event()?;
        }
        match after.data {
            EventData::StreamEnd => Ok(node.value),
            _ => {
                Err(yaml_error(&after.start_mark, "a second document follows; only one is allowed"))
            }
        }
    }

    fn read_node(&mut self, event: Event, depth: usize) -> Result<SizedValue, CallError> {
        // Checked before the recursion, because the document determines its depth.
        if depth > usize::from(Value::MAX_DEPTH) {
            return Err(ExceededLimit::ValueDepth.into());
        }
        let mark = event.start_mark;
        match event.data {
            EventData::Alias { anchor } => self.resolve_alias(&anchor, &mark),
            EventData::Scalar { anchor, tag, value, style, .. } => {
                let nothing = value.is_empty() && style == ScalarStyle::Plain;
                if let Some(tag) = tag.as_deref().filter(|_| nothing)
                    && self.parted.had_comma_at(event.end_mark.index)
                {
                    return Err(yaml_error(&mark, &format!("the tag {tag} is not supported")));
                }
                let at_end = event.end_mark.index + 1 >= self.parted.text.len() as u64;
                let value = self.parted.restore_commas(value);
                let value = match style {
                    ScalarStyle::Literal | ScalarStyle::Folded if at_end => {
                        self.strip_added_line_end(value)
                    }
                    _ => value,
                };
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let value = if is_block && value.is_empty() {
                    Value::null(Type::String)
                } else {
                    let plain = style == ScalarStyle::Plain;
                    read_scalar::read_scalar(tag.as_deref(), &value, plain)
                        .map_err(|reason| yaml_error(&mark, &reason))?
                };
                self.register_anchor(anchor, SizedValue { value, size: 1 })
            }
            EventData::SequenceStart { anchor, tag, .. } => {
                read_scalar::check_collection_tag(tag.as_deref(), "seq")
                    .map_err(|reason| yaml_error(&mark, &reason))?;
                self.open.extend(anchor.clone());
                let node = stack::with_stack(|| self.read_sequence(depth + 1))?;
                self.close_collection(anchor, node)
            }
            EventData::MappingStart { anchor, tag, .. } => {
                read_scalar::check_collection_tag(tag.as_deref(), "map")
                    .map_err(|reason| yaml_error(&mark, &reason))?;
                self.open.extend(anchor.clone());
                let node = stack::with_stack(|| self.read_mapping(depth + 1))?;
                self.close_collection(anchor, node)
            }
            _ => Err(yaml_error(&mark, "expected a value")),
        }
    }

    /// Returns a block scalar at the end, without the line end that the document does not have.
    fn strip_added_line_end(&self, mut block: String) -> String {
        let Some(line) = self.cut_off else { return block };
        let Some(content) = block.strip_suffix('\n') else { return block };
        let last = content.rsplit('\n').next().unwrap_or("");
        let words = line.trim_start();
        let reaches =
            if words.is_empty() { line.ends_with(last) } else { content.ends_with(words) };
        if reaches {
            block.pop();
        }
        block
    }

    fn close_collection(
        &mut self,
        anchor: Option<String>,
        node: SizedValue,
    ) -> Result<SizedValue, CallError> {
        if anchor.is_some() {
            self.open.pop();
        }
        self.register_anchor(anchor, node)
    }

    fn register_anchor(
        &mut self,
        anchor: Option<String>,
        node: SizedValue,
    ) -> Result<SizedValue, CallError> {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn resolve_alias(&self, anchor: &str, mark: &Mark) -> Result<SizedValue, CallError> {
        // Such a value would have no end.
        if self.open.iter().any(|open| open == anchor) {
            let reason = format!("*{anchor} is used inside the node that &{anchor} names");
            return Err(yaml_error(mark, &reason));
        }
        let Some(node) = self.anchors.get(anchor) else {
            return Err(yaml_error(
                mark,
                &format!("the anchor &{anchor} is not defined before this alias"),
            ));
        };
        self.args.charge_elements(node.size)?;
        Ok(node.clone())
    }

    fn read_sequence(&mut self, depth: usize) -> Result<SizedValue, CallError> {
        let mut items = Vec::new();
        let mut size = 1_usize;
        loop {
            let event = self.next_event()?;
            if event.data == EventData::SequenceEnd {
                return Ok(SizedValue { value: Value::tuple(items), size });
            }
            let node = self.read_node(event, depth)?;
            size = size.saturating_add(node.size);
            items.push(node.value);
        }
    }

    /// Entries in their order: later ones replace earlier ones, merged entries included.
    fn read_mapping(&mut self, depth: usize) -> Result<SizedValue, CallError> {
        let mut entries: BTreeMap<Str, Value> = BTreeMap::new();
        let mut size = 1_usize;
        loop {
            let event = self.next_event()?;
            if event.data == EventData::MappingEnd {
                return Ok(SizedValue { value: Value::object(entries), size });
            }
            let mark = event.start_mark;
            // A `<<` with a tag, such as `!!str`, is an ordinary key.
            let merges = is_merge_key(&event.data);
            let key = if merges { None } else { Some(self.read_key(event)?) };
            let event = self.next_event()?;
            let node = self.read_node(event, depth)?;
            size = size.saturating_add(node.size);
            match (key, node.value) {
                (Some(key), value) => {
                    entries.insert(key, value);
                }
                (None, Value::Object(object)) => {
                    entries
                        .extend(object.iter().map(|(name, value)| (name.clone(), value.clone())));
                }
                (None, other) => {
                    let actual = other.ty().friendly_name();
                    let reason = format!("<< requires a mapping, but this is a {actual}");
                    return Err(yaml_error(&mark, &reason));
                }
            }
        }
    }

    fn read_key(&mut self, event: Event) -> Result<Str, CallError> {
        let mark = event.start_mark;
        if !matches!(event.data, EventData::Scalar { .. }) {
            return Err(yaml_error(&mark, "a key must be a string, not a collection"));
        }
        // A scalar has no parts, so its depth does not matter.
        let value = self.read_node(event, 0)?.value;
        match convert::convert(&value, &Type::String) {
            Ok(Value::String(key)) => Ok(key),
            Ok(_) => Err(yaml_error(&mark, "a key must not be null")),
            Err(_) => Err(yaml_error(&mark, "a key must be a string, not a collection")),
        }
    }
}

fn is_merge_key(event: &EventData) -> bool {
    match event {
        EventData::Scalar { tag, value, .. } => {
            value == "<<" && tag.as_deref().is_none_or(str::is_empty)
        }
        _ => false,
    }
}

fn yaml_error(mark: &Mark, reason: &str) -> CallError {
    CallError::new(format!("{reason} (line {}, column {})", mark.line + 1, mark.column + 1))
}
