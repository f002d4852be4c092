//! Human-readable diagnostics: the problem, the source excerpt, the values of the references in it, and the
//! remedy.

use std::collections::HashMap;

use formwork_lang::syntax::enclosing_context;
use formwork_value::diag::{Severity, Sources};
use formwork_value::{Diagnostic, Diagnostics, Path, Span};

use super::wrap::wrap_text;
use crate::redact;
use crate::view::{Paint, Screen, sanitize};

/// Rendered diagnostics, with warnings and errors separated.
#[derive(Debug, Default)]
pub(crate) struct RenderedDiagnostics {
    /// For stdout, before the errors.
    pub(crate) warnings: String,
    /// For stderr, where they remain visible.
    pub(crate) errors: String,
}

/// Renders diagnostics. Of warnings that repeat at several positions, only the first is shown, with the
/// number of the others.
pub(crate) fn render_all_diagnostics(
    screen: &Screen,
    sources: &Sources,
    diags: &Diagnostics,
    compact_warnings: bool,
) -> RenderedDiagnostics {
    let ordered = in_display_order(sources, diags);
    let (errors, warnings): (Vec<_>, Vec<_>) = ordered.into_iter().partition(|d| d.is_error());
    let warnings = group_similar(warnings);
    if compact_warnings && errors.is_empty() && !warnings.is_empty() {
        return RenderedDiagnostics {
            warnings: render_compact_warnings(screen, sources, &warnings),
            ..RenderedDiagnostics::default()
        };
    }
    let mut rendered = render_sorted_diagnostics(screen, sources, warnings, &errors);
    if let Some(code) = errors.iter().rev().find_map(|error| error.code) {
        let hint = format!("For the cause and remedy of an error, run: formwork explain {code}");
        rendered.errors.push_str(&format!("\n{}\n", screen.paint(Paint::Dim, &hint)));
    }
    rendered
}

/// Renders diagnostics as [`render_all_diagnostics`] does, without the hint after them: others may follow.
pub(crate) fn render_without_hint(
    screen: &Screen,
    sources: &Sources,
    diags: &Diagnostics,
) -> RenderedDiagnostics {
    let ordered = in_display_order(sources, diags);
    let (errors, warnings): (Vec<_>, Vec<_>) = ordered.into_iter().partition(|d| d.is_error());
    render_sorted_diagnostics(screen, sources, group_similar(warnings), &errors)
}

fn render_sorted_diagnostics(
    screen: &Screen,
    sources: &Sources,
    warnings: Vec<SimilarWarnings<'_>>,
    errors: &[&Diagnostic],
) -> RenderedDiagnostics {
    let mut rendered = RenderedDiagnostics::default();
    for SimilarWarnings { first, n_more } in warnings {
        let more = match n_more {
            0 => {
                rendered.warnings.push_str(&render_one_diagnostic(screen, sources, first));
                continue;
            }
            1 => "(and one more similar warning elsewhere)".to_owned(),
            n => format!("(and {n} more similar warnings elsewhere)"),
        };
        let mut first = first.clone();
        let gap = if first.detail.is_empty() { "" } else { "\n\n" };
        first.detail = format!("{}{gap}{more}", first.detail);
        rendered.warnings.push_str(&render_one_diagnostic(screen, sources, &first));
    }
    for error in errors {
        rendered.errors.push_str(&render_one_diagnostic(screen, sources, error));
    }
    rendered
}

/// Diagnostics in Terraform's order: those without a source range first, then by file and position. Files
/// with fewer directories in their path come first.
pub(crate) fn in_display_order<'d>(
    sources: &Sources,
    diags: &'d Diagnostics,
) -> Vec<&'d Diagnostic> {
    let mut list: Vec<&Diagnostic> = diags.iter().collect();
    list.sort_by_cached_key(|problem| {
        problem.subject.map(|span| {
            let name = sources.name(span.source);
            (name.matches('/').count(), name.to_owned(), span.start, span.end)
        })
    });
    list
}

/// Warnings with one summary.
struct SimilarWarnings<'d> {
    first: &'d Diagnostic,
    n_more: usize,
}

/// Groups warnings with the same summary at the position of the first. Warnings without a source range are
/// not grouped, because the group would not show the positions of the others. Neither are the results of
/// `check` blocks, whose messages are individual.
fn group_similar(warnings: Vec<&Diagnostic>) -> Vec<SimilarWarnings<'_>> {
    let mut groups: Vec<SimilarWarnings<'_>> = Vec::new();
    let mut group_indices: HashMap<&str, usize> = HashMap::new();
    for warning in warnings {
        let alone = groups.len();
        let index = match warning.subject {
            Some(_) if !warning.of_check => *group_indices.entry(&warning.summary).or_insert(alone),
            _ => alone,
        };
        match groups.get_mut(index) {
            Some(group) => group.n_more += 1,
            None => groups.push(SimilarWarnings { first: warning, n_more: 0 }),
        }
    }
    groups
}

/// Renders only the summaries of warnings.
fn render_compact_warnings(
    screen: &Screen,
    sources: &Sources,
    warnings: &[SimilarWarnings<'_>],
) -> String {
    let mut text = format!("\n{}\n\n", screen.paint(Paint::BoldYellow, "Warnings:"));
    for SimilarWarnings { first, n_more } in warnings {
        text.push_str(&format!("- {}\n", sanitize::sanitize_line(&first.summary)));
        if let Some(span) = first.subject {
            let name = sanitize::sanitize_line(sources.name(span.source));
            let line = sources.start_position(span).line;
            let more = if *n_more > 0 { format!(" (and {n_more} more)") } else { String::new() };
            text.push_str(&format!("  on {name} line {line}{more}\n"));
        }
    }
    text + "\nTo see the full warning notes, run Formwork without -compact-warnings.\n"
}

/// Renders a diagnostic.
pub(crate) fn render_one_diagnostic(
    screen: &Screen,
    sources: &Sources,
    diagnostic: &Diagnostic,
) -> String {
    let (label, paint) = match diagnostic.severity {
        Severity::Error => ("Error: ", Paint::BoldRed),
        Severity::Warning => ("Warning: ", Paint::BoldYellow),
    };
    let bar_paint = if paint == Paint::BoldRed { Paint::Red } else { Paint::Yellow };
    let mut lines = vec![format!(
        "{}{}",
        screen.paint(paint, label),
        screen.paint(
            Paint::Bold,
            &sanitize::sanitize_line(&redact::redact_text(&diagnostic.summary))
        )
    )];
    let excerpt = render_source_excerpt(screen, sources, diagnostic);
    if !excerpt.is_empty() {
        lines.push(String::new());
        lines.extend(excerpt);
    }
    if !diagnostic.detail.is_empty() {
        lines.push(String::new());
        // The last column stays empty, and each coloured line begins with a bar and a space.
        let margin = if screen.color { 3 } else { 1 };
        let detail = sanitize::sanitize_text(&redact::redact_text(&diagnostic.detail));
        lines.extend(wrap_text(&detail, screen.width.saturating_sub(margin)));
    }
    if let Some(code) = diagnostic.code {
        lines.push(String::new());
        lines.push(screen.paint(Paint::Dim, &format!("Code: {code}")));
    }
    let mut text = String::new();
    if screen.color {
        text.push_str(&format!("{}\n", screen.paint(bar_paint, "╷")));
        for line in lines {
            text.push_str(&format!("{} {line}\n", screen.paint(bar_paint, "│")));
        }
        text.push_str(&format!("{}\n", screen.paint(bar_paint, "╵")));
    } else {
        text.push('\n');
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

/// Renders the address and the source excerpt.
fn render_source_excerpt(
    screen: &Screen,
    sources: &Sources,
    diagnostic: &Diagnostic,
) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(address) = &diagnostic.address {
        lines.push(format!("  with {},", sanitize::sanitize_line(address)));
    }
    let Some(span) = diagnostic.subject else {
        if let Some(path) = nonempty_path(diagnostic) {
            lines.push(format!("  at {},", display_inner_path(path)));
        }
        // No source excerpt follows.
        if let Some(last) = lines.last_mut() {
            last.truncate(last.trim_end_matches(',').len());
        }
        return lines;
    };
    let (start, end) = (sources.start_position(span), sources.end_position(span));
    if sources.is_secret(span.source) {
        let name = sanitize::sanitize_line(sources.name(span.source));
        lines.push(format!("  on {name} line {}:", start.line));
        lines.push("  (a secret, which is not shown)".to_owned());
        return lines;
    }
    let context_phrase = enclosing_context(sources, span)
        .map_or_else(String::new, |context| format!(", in {}", sanitize::sanitize_line(&context)));
    let name = sanitize::sanitize_line(sources.name(span.source));
    lines.push(format!("  on {name} line {}{context_phrase}:", start.line));
    let last = end.line.min(start.line + 4).max(start.line);
    for number in start.line..=last {
        let line = excerpt_around_span(sources, span, sources.line_text(span.source, number));
        lines.push(format!("{number:>4}: {}", underline_span(screen, sources, span, line)));
    }
    if let Some(path) = nonempty_path(diagnostic) {
        lines.push(format!("     (at {})", display_inner_path(path)));
    }
    lines.extend(render_call_and_values(screen, diagnostic));
    lines
}

/// Renders the signature of the failed function, and the values of the references.
fn render_call_and_values(screen: &Screen, diagnostic: &Diagnostic) -> Vec<String> {
    let mut lines = Vec::new();
    if diagnostic.function.is_some() || !diagnostic.referenced.is_empty() {
        lines.push(format!("    {}", screen.paint(Paint::Dim, "├────────────────")));
        if let Some(called) = &diagnostic.function {
            lines.push(format!(
                "    {} while calling {}({})",
                screen.paint(Paint::Dim, "│"),
                screen.paint(Paint::Bold, &sanitize::sanitize_line(&called.name)),
                sanitize::sanitize_line(&called.parameter_names())
            ));
        }
        for reference in &diagnostic.referenced {
            lines.push(format!(
                "    {} {} {}",
                screen.paint(Paint::Dim, "│"),
                screen.paint(Paint::Bold, &sanitize::sanitize_line(&reference.traversal)),
                sanitize::sanitize_line(&reference.statement)
            ));
        }
    }
    lines
}

/// The path of the part that a diagnostic is about, unless it is the whole value.
fn nonempty_path(diagnostic: &Diagnostic) -> Option<&Path> {
    diagnostic.path.as_ref().filter(|path| !path.0.is_empty())
}

/// Path inside a value.
fn display_inner_path(path: &Path) -> String {
    sanitize::sanitize_line(path.to_string().trim_start_matches('.'))
}

/// Maximum length in bytes that is shown of a line.
const MAX_EXCERPT_LENGTH: usize = 240;

/// The part of a line around a span. A line can be as long as the file.
fn excerpt_around_span<'s>(sources: &'s Sources, span: Span, line: &'s str) -> &'s str {
    if line.len() <= MAX_EXCERPT_LENGTH {
        return line;
    }
    let offset = line.as_ptr() as usize - sources.source_text(span.source).as_ptr() as usize;
    let position = (span.start as usize).saturating_sub(offset).min(line.len());
    let mut from = position.saturating_sub(MAX_EXCERPT_LENGTH / 3);
    let mut to = (from + MAX_EXCERPT_LENGTH).min(line.len());
    while !line.is_char_boundary(from) {
        from -= 1;
    }
    while !line.is_char_boundary(to) {
        to -= 1;
    }
    line.get(from..to).unwrap_or(line)
}

/// Underlines the part of a line that a span covers.
fn underline_span(screen: &Screen, sources: &Sources, span: Span, line: &str) -> String {
    let text = sources.source_text(span.source);
    let offset = line.as_ptr() as usize - text.as_ptr() as usize;
    let line = &*redact::redact_source(line);
    if !screen.color {
        return sanitize::sanitize_line(line);
    }
    let clamp = |index: u32| (index as usize).clamp(offset, offset + line.len()) - offset;
    let (from, to) = (clamp(span.start), clamp(span.end));
    match (line.get(..from), line.get(from..to), line.get(to..)) {
        (Some(before), Some(covered), Some(after)) if !covered.is_empty() => {
            let covered = screen.paint(Paint::Underline, &sanitize::sanitize_line(covered));
            format!(
                "{}{covered}{}",
                sanitize::sanitize_line(before),
                sanitize::sanitize_line(after)
            )
        }
        _ => sanitize::sanitize_line(line),
    }
}

#[cfg(test)]
mod tests {
    use formwork_value::Type;
    use formwork_value::diag::{CalledFunction, CalledFunctionParam};

    use super::*;
    use crate::messages;

    const SCREEN: Screen = Screen { color: false, width: 78, erases: false };

    #[test]
    fn repeated_warnings_are_shown_once() {
        let mut sources = Sources::new();
        let source = sources.add("main.tf", "one\ntwo\nthree\n");
        let mut diags = Diagnostics::new();
        let warning =
            |summary: &str| Diagnostic::foreign(Severity::Warning, summary, "Do it otherwise.");
        for start in [0, 4, 8] {
            diags.warn(warning("Old").at(Span::new(source, start, start + 3)));
            diags.warn(warning("Nowhere"));
        }
        diags.warn(warning("Other").at(Span::new(source, 0, 3)));
        let compact = render_all_diagnostics(&SCREEN, &sources, &diags, true);
        expect_test::expect![[r#"

            Warnings:

            - Nowhere
            - Nowhere
            - Nowhere
            - Old
              on main.tf line 1 (and 2 more)
            - Other
              on main.tf line 1

            To see the full warning notes, run Formwork without -compact-warnings.
        "#]]
        .assert_eq(&compact.warnings);
        let rendered = render_all_diagnostics(&SCREEN, &sources, &diags, false);
        assert_eq!(rendered.warnings.matches("Warning: Old").count(), 1);
        assert!(
            rendered.warnings.contains("(and 2 more similar warnings elsewhere)"),
            "{rendered:?}"
        );
        let _ = diags.error(Diagnostic::foreign(Severity::Error, "Wrong", ""));
        let beside_errors = render_all_diagnostics(&SCREEN, &sources, &diags, true);
        assert!(beside_errors.warnings.contains("Do it otherwise."), "{beside_errors:?}");
        assert_eq!(beside_errors.errors, "\nError: Wrong\n");
    }

    #[test]
    fn diagnostics_are_sorted_by_file_and_position() {
        let mut sources = Sources::new();
        let below = sources.add("modules/a/main.tf", "one\ntwo\n");
        let root = sources.add("main.tf", "one\ntwo\n");
        let mut diags = Diagnostics::new();
        for (summary, source, start) in
            [("fourth", below, 0), ("third", root, 4), ("second", root, 0)]
        {
            let _ = diags.error(Diagnostic::foreign(Severity::Error, summary, "").at(Span::new(
                source,
                start,
                start + 3,
            )));
        }
        let _ = diags.error(Diagnostic::foreign(Severity::Error, "first", ""));
        let rendered = render_all_diagnostics(&SCREEN, &sources, &diags, false).errors;
        let start = |summary: &str| rendered.find(&format!("Error: {summary}")).unwrap();
        let starts = ["first", "second", "third", "fourth"].map(start);
        assert!(starts.is_sorted(), "{rendered}");
    }

    #[test]
    fn check_warnings_are_not_grouped() {
        let mut sources = Sources::new();
        let source = sources.add("main.tf", "one\ntwo\n");
        let mut diags = Diagnostics::new();
        for (start, message) in [(0, "The disk is full."), (4, "The house is on fire.")] {
            let failed =
                Diagnostic::foreign(Severity::Warning, "Check block assertion failed", message);
            diags.warn(failed.at(Span::new(source, start, start + 3)).of_check_block());
        }
        let rendered = render_all_diagnostics(&SCREEN, &sources, &diags, false).warnings;
        assert!(rendered.contains("full.") && rendered.contains("fire."), "{rendered}");
    }

    fn check(text: &str, marked: &str) -> String {
        check_in("main.tf", text, marked)
    }

    fn check_in(name: &str, text: &str, marked: &str) -> String {
        let mut sources = Sources::new();
        let source = sources.add(name, text);
        let start = text.find(marked).unwrap();
        let problem = Diagnostic::foreign(Severity::Error, "Wrong", "").at(Span::new(
            source,
            start,
            start + marked.len(),
        ));
        render_one_diagnostic(&SCREEN, &sources, &problem)
    }

    #[test]
    fn the_signature_of_the_failed_function_is_shown_below_the_source() {
        let mut sources = Sources::new();
        let source = sources.add("main.tf.json", r#"{"output": {"o": {"value": "${f()}"}}}"#);
        let param = |name: &str| CalledFunctionParam { name: name.to_owned(), ty: Type::Dynamic };
        let called = CalledFunction {
            name: "provider::p::f".to_owned(),
            params: vec![param("a")],
            variadic: Some(param("more")),
            returns: Type::String,
        };
        let mut problem =
            Diagnostic::foreign(Severity::Error, "Wrong", "").at(Span::new(source, 30, 31));
        problem.function = Some(Box::new(called));
        expect_test::expect![[r#"

            Error: Wrong

              on main.tf.json line 1, in output.o:
               1: {"output": {"o": {"value": "${f()}"}}}
                ├────────────────
                │ while calling provider::p::f(a, more...)
        "#]]
        .assert_eq(&render_one_diagnostic(&SCREEN, &sources, &problem));
        let programs =
            crate::view::json::diagnostic::diagnostic_to_json(&sources, &problem).to_compact();
        let call = r#""function_call":{"called_as":"provider::p::f","signature":{"name":"f","params":[{"name":"a","type":"dynamic"}],"variadic_param":{"name":"more","type":"dynamic"},"return_type":"string"}}"#;
        assert!(programs.contains(call), "{programs}");
    }

    #[test]
    fn own_diagnostics_end_with_their_code_and_those_of_providers_have_none() {
        let mut diags = Diagnostics::new();
        let _ = diags.error(Diagnostic::foreign(Severity::Error, "Refused", "By a provider."));
        let _ = diags.error(Diagnostic::error(messages::NO_SUCH_CODE, "Nothing was changed."));
        let code = messages::NO_SUCH_CODE.code;
        expect_test::expect![[r#"

            Error: Refused

            By a provider.

            Error: No such code

            Nothing was changed.

            Code: CODE

            For the cause and remedy of an error, run: formwork explain CODE
        "#]]
        .assert_eq(
            &render_all_diagnostics(&SCREEN, &Sources::new(), &diags, false)
                .errors
                .replace(code.as_str(), "CODE"),
        );
        let programs: Vec<_> = diags
            .iter()
            .map(|diagnostic| {
                crate::view::json::diagnostic::diagnostic_to_json(&Sources::new(), diagnostic)
                    .to_compact()
            })
            .collect();
        assert!(!programs[0].contains("\"code\""), "{}", programs[0]);
        assert!(programs[1].contains(&format!("\"code\":\"{code}\"")), "{}", programs[1]);
    }

    #[test]
    fn only_the_position_in_a_secret_source_is_shown() {
        let mut sources = Sources::new();
        let source = sources.add_secret("<value for var.o>", "{a=\"hunter2\" x}");
        let problem =
            Diagnostic::foreign(Severity::Error, "Wrong", "").at(Span::new(source, 13, 14));
        let rendered = render_one_diagnostic(&SCREEN, &sources, &problem);
        assert!(rendered.contains("on <value for var.o> line 1:"), "{rendered}");
        let programs =
            crate::view::json::diagnostic::diagnostic_to_json(&sources, &problem).to_compact();
        assert!(
            !rendered.contains("hunter2") && !programs.contains("hunter2"),
            "{rendered}{programs}"
        );
    }

    #[test]
    fn a_very_long_line_is_shown_only_around_the_problem() {
        let text = format!("a = [{}oops{}]", "é, ".repeat(5_000), "x, ".repeat(5_000));
        let rendered = check(&text, "oops");
        assert!(rendered.contains("oops") && rendered.len() < 500, "{}", rendered.len());
    }

    #[test]
    fn a_source_cannot_control_the_terminal() {
        let rendered = check_in("\u{1b}[31mm.tf", "a = \u{1b}[31m\u{202e}red", "red");
        assert!(!rendered.contains(['\u{1b}', '\u{202e}']), "{rendered}");
    }
}
