//! Source context of a range, as printed in the header line of a diagnostic. The file is parsed again,
//! because only a diagnostic needs the context.

use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Span};

use super::{Block, Body, json, parse_file};

/// Returns the context of a problem: in the native syntax the header of the outermost enclosing block,
/// as written, and in JSON the path of the enclosing objects.
#[must_use]
pub fn enclosing_context(sources: &Sources, span: Span) -> Option<String> {
    match sources.name(span.source).ends_with(".json") {
        true => json::json_path_to(sources, span),
        false => enclosing_block_heading(sources, span),
    }
}

/// Returns the header of the outermost block that encloses a span, as written. A block does not enclose
/// the start of its own header. JSON files have no blocks.
#[must_use]
pub fn enclosing_block_heading(sources: &Sources, span: Span) -> Option<String> {
    let headings = sources.block_headings(span.source, || {
        let Body { blocks, .. } = parse_file(&mut Diagnostics::new(), sources, span.source);
        blocks.iter().map(|block| (block.span, block_heading(block))).collect()
    });
    // Blocks are in source order and do not overlap.
    let at = headings.partition_point(|(block, _)| block.end < span.start);
    headings
        .get(at)
        .filter(|(block, _)| json::contains_span(*block, span))
        .map(|(_, text)| text.clone())
}

fn block_heading(block: &Block) -> String {
    let labels = block.labels.iter().map(|label| format!(" {:?}", label.name.as_str()));
    format!("{}{}", block.kind.name, labels.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, text: &str, wanted: &str) -> Option<String> {
        let mut sources = Sources::new();
        let source = sources.add(name, text);
        let at = text.find(wanted).unwrap();
        enclosing_context(&sources, Span::new(source, at, at + wanted.len()))
    }

    #[test]
    fn a_block_is_named_as_it_is_written() {
        let text = "resource \"a\" b {\n  x {\n    y = 1\n  }\n}\nz = 2\n";
        assert_eq!(check("main.tf", text, "y = 1").unwrap(), "resource \"a\" \"b\"");
        assert_eq!(check("main.tf", text, "\"a\"").unwrap(), "resource \"a\" \"b\"");
        for outside in ["resource", "z = 2"] {
            assert_eq!(check("main.tf", text, outside), None, "{outside}");
        }
    }

    #[test]
    fn a_json_block_is_named_by_its_path() {
        let text = r#"{"r": {"a": {"b": [{"c": "here"}, 1], "d": "there"}}, "top": 1}"#;
        assert_eq!(check("main.tf.json", text, "\"here\"").unwrap(), "r.a.b[0]");
        assert_eq!(check("main.tf.json", text, "\"there\"").unwrap(), "r.a");
        assert_eq!(check("main.tf.json", text, "\"top\""), None);
        assert_eq!(check("main.tf.json", r#"[{"a": {"b": 1}}]"#, "1").unwrap(), "[0].a");
        assert_eq!(check("main.tf.json", r#"{"a": {"b": 1"#, "1"), None);
    }
}
