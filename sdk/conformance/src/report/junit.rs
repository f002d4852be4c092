//! The report as JUnit XML: a suite for each family, a case for each rule.

use super::{Report, RuleRow};
use crate::finding::Verdict;
use crate::rules;

impl Report {
    /// Returns the report as JUnit XML.
    #[must_use]
    pub fn junit(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let failures = self.count_verdicts("broken");
        out.push_str(&format!(
            "<testsuites name=\"conformance of {}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" time=\"{:.3}\">\n",
            escape_xml(&self.provider),
            self.rows.len(),
            self.took.as_secs_f64()
        ));
        let mut rest = &self.rows[..];
        // Rows are in the order of the families, so each family is one run of them.
        while let Some(first) = rest.first() {
            let family = rules::family_of(first.rule.id);
            let end = rest
                .iter()
                .position(|row| rules::family_of(row.rule.id) != family)
                .unwrap_or(rest.len());
            let (family_rows, other_rows) = rest.split_at(end);
            rest = other_rows;
            let count =
                |word: &str| family_rows.iter().filter(|row| row.verdict.word() == word).count();
            out.push_str(&format!(
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
                escape_xml(family),
                family_rows.len(),
                count("broken"),
                count("skipped")
            ));
            for row in family_rows {
                self.write_test_case(&mut out, row, family);
            }
            out.push_str("  </testsuite>\n");
        }
        out.push_str("</testsuites>\n");
        out
    }

    fn write_test_case(&self, out: &mut String, row: &RuleRow, family: &str) {
        let name = escape_xml(&format!("{} {}", row.rule.id, row.rule.text));
        out.push_str(&format!(
            "    <testcase classname=\"{}\" name=\"{name}\"",
            escape_xml(family)
        ));
        match &row.verdict {
            Verdict::Held => out.push_str("/>\n"),
            Verdict::Skipped(reason) => {
                let message = escape_xml(&format!("{}: {reason}", row.verdict.word()));
                out.push_str(&format!("><skipped message=\"{message}\"/></testcase>\n"));
            }
            Verdict::Broken => {
                let findings = self.findings.iter().filter(|it| it.rule == row.rule.id);
                let lines: Vec<String> = findings
                    .map(|it| {
                        format!(
                            "{} {}: {}\n  expected: {}\n  found: {}\n  input: {}",
                            it.subject, it.path, it.message, it.expected, it.found, it.input
                        )
                    })
                    .collect();
                let first = lines.first().and_then(|it| it.lines().next()).unwrap_or_default();
                out.push_str(&format!(
                    "><failure type=\"{}\" message=\"{}\">{}</failure></testcase>\n",
                    row.rule.severity.word(),
                    escape_xml(first),
                    escape_xml(&lines.join("\n"))
                ));
            }
        }
    }
}

/// The text as XML has it; characters that XML cannot hold are left out.
pub(super) fn escape_xml(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            // XML has no form for these, not even an escaped one.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::report::tests::report;

    /// The elements of the format as the schema `junit-10.xsd` of Jenkins has them: the parent, the
    /// attributes that must be there, and those that may.
    const ELEMENTS: [(&str, &str, &[&str], &[&str]); 5] = [
        ("testsuites", "", &[], &["name", "time", "tests", "failures", "errors"]),
        ("testsuite", "testsuites", &["name", "tests", "failures", "errors"], &["skipped", "time"]),
        ("testcase", "testsuite", &["name"], &["classname", "time"]),
        ("failure", "testcase", &[], &["type", "message"]),
        ("skipped", "testcase", &[], &["type", "message"]),
    ];

    /// An opening tag: its name, its attributes, and whether it is self-closing.
    fn opening(tag: &str) -> (&str, BTreeMap<&str, &str>, bool) {
        let is_closed = tag.ends_with('/');
        let (name, mut rest) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
        let mut attributes = BTreeMap::new();
        while let Some((key, after)) = rest.trim_start().split_once("=\"") {
            let (value, after) = after.split_once('"').expect("an attribute has an end");
            assert!(attributes.insert(key, value).is_none(), "{key} occurs twice");
            rest = after;
        }
        assert_eq!(rest.trim(), "", "{tag}");
        (name, attributes, is_closed)
    }

    fn is_text(text: &str) -> bool {
        let entities = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        !text.contains(['<', '>'])
            && text
                .split('&')
                .skip(1)
                .all(|it| entities.iter().any(|entity| it.starts_with(entity)))
            && !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
    }

    #[test]
    fn the_report_has_the_elements_and_attributes_of_the_schema() {
        let text = report().junit();
        let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let mut rest = body.expect("the declaration is first");
        let mut open: Vec<&str> = Vec::new();
        let mut counts = BTreeMap::<&str, usize>::new();
        while let Some((before, after)) = rest.split_once('<') {
            assert!(is_text(before), "{before}");
            let (tag, next) = after.split_once('>').expect("a tag has an end");
            rest = next;
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
                continue;
            }
            let (name, attributes, is_closed) = opening(tag);
            let (_, parent, required, optional) =
                ELEMENTS.iter().find(|it| it.0 == name).expect("a known element");
            assert_eq!(open.last().copied().unwrap_or_default(), *parent, "{name}");
            assert!(required.iter().all(|it| attributes.contains_key(it)), "{tag}");
            let is_known = |it: &&str| required.contains(it) || optional.contains(it);
            assert!(attributes.keys().all(is_known), "{tag}");
            assert!(attributes.values().all(|it| is_text(it)), "{tag}");
            *counts.entry(name).or_default() += 1;
            if !is_closed {
                open.push(name);
            }
        }
        assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
        assert_eq!((counts["testcase"], counts["failure"], counts["skipped"]), (175, 1, 173));
    }
}
