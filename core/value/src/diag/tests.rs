//! Collections of diagnostics, and positions in source texts.

use super::*;

#[test]
fn diagnostics_accumulate_in_order_and_only_errors_fail() {
    let mut diags = Diagnostics::new();
    diags.warn(Diagnostic::foreign(Severity::Warning, "Old syntax", ""));
    assert_eq!(diags.fail_if_errors(), Ok(()));
    let _reported =
        diags.error(Diagnostic::foreign(Severity::Error, "Wrong type", "a number is required"));
    assert!(diags.fail_if_errors().is_err());
    let summaries: Vec<&str> = diags.iter().map(|diag| diag.summary.as_str()).collect();
    assert_eq!(summaries, ["Old syntax", "Wrong type"]);

    let mut outer = Diagnostics::new();
    assert!(outer.append(diags).is_err());
    assert!(outer.has_errors());
    assert_eq!(outer.append(Diagnostics::new()), Ok(()));
    assert_eq!(outer.len(), 2);
}

#[test]
fn severity_depends_on_the_reporting_method() {
    let mut diags = Diagnostics::new();
    let _reported = diags.error(Diagnostic::foreign(Severity::Warning, "a", ""));
    diags.warn(Diagnostic::foreign(Severity::Error, "b", ""));
    assert!(diags.push(Diagnostic::foreign(Severity::Error, "c", "")).is_err());
    assert_eq!(diags.push(Diagnostic::foreign(Severity::Warning, "d", "")), Ok(()));
    diags.map_from_position(1, |diag| Diagnostic {
        severity: Severity::Error,
        ..diag.about("null_x.a")
    });
    let shown: Vec<(&str, bool, Option<&str>)> = diags
        .iter()
        .map(|diag| (diag.summary.as_str(), diag.is_error(), diag.address.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            ("a", true, None),
            ("b", false, Some("null_x.a")),
            ("c", true, Some("null_x.a")),
            ("d", false, Some("null_x.a")),
        ]
    );
}

#[test]
fn positions_count_lines_and_grapheme_clusters_from_one() {
    let mut sources = Sources::new();
    let text = "a = 1\r\nname = \"e\u{301}x\"\n\nlast";
    let id = sources.add("main.tf", text);
    let offset_of = |needle: &str| text.find(needle).unwrap();
    let position_of = |start: usize| {
        let position = sources.start_position(Span::new(id, start, start));
        (position.line, position.column)
    };
    assert_eq!(position_of(0), (1, 1));
    assert_eq!(position_of(offset_of("name")), (2, 1));
    // The letter and its accent are one column.
    assert_eq!(position_of(offset_of("x\"")), (2, 10));
    assert_eq!(position_of(offset_of("last")), (4, 1));
    assert_eq!(position_of(text.len()), (4, 5));
    assert_eq!(position_of(text.len() + 99), (4, 5));
    assert_eq!(sources.line_text(id, 2), "name = \"e\u{301}x\"");
    assert_eq!((sources.line_text(id, 3), sources.line_text(id, 9)), ("", ""));
    assert_eq!(sources.text_of_span(Span::new(id, 4, 5)), "1");
    assert_eq!(sources.text_of_span(Span::new(id, 4, 5000)), "");
    assert_eq!(sources.name(id), "main.tf");
}

const TEMPLATE: &Message = &Message {
    code: Code::new("FW0001"),
    summary: "Missing {label} for {kind}",
    cause: "A label is missing.",
    remedy: "Add the label.",
};

#[test]
fn the_variable_parts_of_a_summary_are_filled_in_order() {
    let diag = Diagnostic::error(TEMPLATE.with(&[&"name", &"a {block}"]), "");
    assert_eq!(diag.summary, "Missing name for a {block}");
    assert!(diag.is_about_message(TEMPLATE));
    let code = Diagnostic::foreign(Severity::Error, "Refused", "").code;
    assert_eq!(code, None);
}
