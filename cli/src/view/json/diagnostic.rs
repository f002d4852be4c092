//! Machine-readable diagnostics, with the exact range and the source excerpt.

use formwork_lang::syntax::enclosing_context;
use formwork_value::diag::{CalledFunction, CalledFunctionParam, Position, Severity, Sources};
use formwork_value::{Diagnostic, Span};

use super::json_builder::Json;
use super::value::type_to_json;
use crate::redact;

/// Converts a diagnostic.
pub(crate) fn diagnostic_to_json(sources: &Sources, diagnostic: &Diagnostic) -> Json {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    Json::object_of_some([
        ("severity", Some(Json::text(severity))),
        ("summary", Some(Json::text(redact::redact_text(&diagnostic.summary)))),
        ("detail", Some(Json::text(redact::redact_text(&diagnostic.detail)))),
        ("code", diagnostic.code.map(|code| Json::text(code.as_str()))),
        ("address", diagnostic.address.as_ref().map(Json::text)),
        ("range", diagnostic.subject.map(|span| range_to_json(sources, span))),
        ("snippet", diagnostic.subject.and_then(|span| snippet_to_json(sources, diagnostic, span))),
    ])
}

fn range_to_json(sources: &Sources, span: Span) -> Json {
    let position = |position: Position| {
        Json::object([
            ("line", Json::Int(position.line.into())),
            ("column", Json::Int(position.column.into())),
            ("byte", Json::Int(position.byte.into())),
        ])
    };
    let (start, mut end) = (sources.start_position(span), sources.end_position(span));
    // The highlighted range has at least one character, as consumers of this format expect.
    if start.byte == end.byte {
        end.byte += 1;
        end.column += 1;
    }
    Json::object([
        ("filename", Json::text(sources.name(span.source))),
        ("start", position(start)),
        ("end", position(end)),
    ])
}

/// The source lines of a diagnostic. Offsets are in bytes from the start of the excerpt.
fn snippet_to_json(sources: &Sources, diagnostic: &Diagnostic, span: Span) -> Option<Json> {
    if sources.is_secret(span.source) {
        return None;
    }
    let snippet_span = diagnostic.context.map_or(span, |context| context.to(span));
    let (first, last) =
        (sources.start_position(snippet_span).line, sources.end_position(snippet_span).line);
    let lines: Vec<&str> =
        (first..=last).map(|line| sources.line_text(span.source, line)).collect();
    let code = lines.join("\n");
    let text = sources.source_text(span.source);
    let base = lines.first()?.as_ptr() as usize - text.as_ptr() as usize;
    let offset = |position: u32| {
        Json::Int(
            i64::try_from((position as usize).saturating_sub(base).min(code.len())).unwrap_or(0),
        )
    };
    let values = diagnostic.referenced.iter().map(|reference| {
        Json::object([
            ("traversal", Json::text(&reference.traversal)),
            ("statement", Json::text(&reference.statement)),
        ])
    });
    Some(Json::object_of_some([
        ("context", Some(enclosing_context(sources, span).map_or(Json::Null, Json::text))),
        ("code", Some(Json::text(redact::redact_source(&code)))),
        ("start_line", Some(Json::Int(first.into()))),
        ("highlight_start_offset", Some(offset(span.start))),
        ("highlight_end_offset", Some(offset(span.end))),
        ("values", Some(Json::Array(values.collect()))),
        ("function_call", diagnostic.function.as_deref().map(called_function_to_json)),
    ]))
}

/// The function whose call failed.
fn called_function_to_json(called: &CalledFunction) -> Json {
    let param = |param: &CalledFunctionParam| {
        Json::object([("name", Json::text(&param.name)), ("type", type_to_json(&param.ty))])
    };
    let signature = Json::object_of_some([
        ("name", Some(Json::text(called.base_name()))),
        ("params", Some(Json::Array(called.params.iter().map(param).collect()))),
        ("variadic_param", called.variadic.as_ref().map(param)),
        ("return_type", Some(type_to_json(&called.returns))),
    ]);
    Json::object([("called_as", Json::text(&called.name)), ("signature", signature)])
}
