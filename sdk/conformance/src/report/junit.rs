//! The report as JUnit XML: a suite for each family, a case for each rule.

use super::{Report, Row};
use crate::finding::Verdict;
use crate::rules;

impl Report {
    /// Returns the report as JUnit XML.
    #[must_use]
    pub fn junit(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let failures = self.count("broken");
        let skipped = self.count("skipped");
        out.push_str(&format!(
            "<testsuites name=\"conformance of {}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\" time=\"{:.3}\">\n",
            escape(&self.provider),
            self.rows.len(),
            self.took.as_secs_f64()
        ));
        let mut rest = &self.rows[..];
        while let Some(first) = rest.first() {
            let family = rules::family_of(first.rule.id);
            let end = rest
                .iter()
                .position(|row| rules::family_of(row.rule.id) != family)
                .unwrap_or(rest.len());
            let (own, others) = rest.split_at(end);
            rest = others;
            let count = |word: &str| own.iter().filter(|row| row.verdict.word() == word).count();
            out.push_str(&format!(
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
                escape(family),
                own.len(),
                count("broken"),
                count("skipped")
            ));
            for row in own {
                self.case(&mut out, row, family);
            }
            out.push_str("  </testsuite>\n");
        }
        out.push_str("</testsuites>\n");
        out
    }

    fn case(&self, out: &mut String, row: &Row, family: &str) {
        let name = escape(&format!("{} {}", row.rule.id, row.rule.text));
        out.push_str(&format!("    <testcase classname=\"{}\" name=\"{name}\"", escape(family)));
        match &row.verdict {
            Verdict::Held => out.push_str("/>\n"),
            Verdict::Skipped(reason) => {
                let message = escape(&format!("{}: {reason}", row.verdict.word()));
                out.push_str(&format!("><skipped message=\"{message}\"/></testcase>\n"));
            }
            Verdict::Broken => {
                let own = self.findings.iter().filter(|it| it.rule == row.rule.id);
                let lines: Vec<String> = own
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
                    escape(first),
                    escape(&lines.join("\n"))
                ));
            }
        }
    }
}

/// The text as XML has it; characters that XML cannot hold are left out.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
