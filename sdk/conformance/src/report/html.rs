//! The report as one self-contained HTML page: overview, findings by rule and by type, all rules.

use std::collections::BTreeMap;

use super::junit::escape_xml;
use super::{Report, Score};
use crate::finding::{Finding, Verdict};
use crate::plugin::{Call, truncate};
use crate::rules::{self, Severity};

// The page must work as a single file, as artifacts of CI are opened.
const PAGE_STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --bad: #b3261e; --good: #1b7f3b; --dim: #777; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } h3 { font-size: 1rem; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
td, th { border-bottom: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; } code, pre { font: 13px/1.4 ui-monospace, monospace; }
pre { background: #8881; overflow-x: auto; padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; }
code, td:last-child { overflow-wrap: anywhere; } .broken { color: var(--bad); font-weight: 600; } .held { color: var(--good); }
.skipped, .not { color: var(--dim); } .cards { display: flex; flex-wrap: wrap; gap: .7rem; }
.card { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem 1rem; }
.card b { display: block; font-size: 1.4rem; } details { border-left: 3px solid var(--line); margin: .6rem 0; padding: 0 .8rem; }
dt { color: var(--dim); } dd { margin: 0 0 .4rem 0; }
";

impl Report {
    /// Returns the report as an HTML page.
    #[must_use]
    pub fn html(&self) -> String {
        let title = escape_xml(&format!("Conformance of {}", self.provider));
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{PAGE_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        );
        self.write_overview(&mut out);
        self.write_findings_by_type(&mut out);
        self.write_findings_by_rule(&mut out);
        self.write_all_rules(&mut out);
        out.push_str("</body>\n</html>\n");
        out
    }

    fn write_overview(&self, out: &mut String) {
        // Otherwise a page without findings would look like a success.
        if let Some(reason) = &self.stopped {
            let (cause, reason) = (self.end_cause(), escape_xml(reason));
            out.push_str(&format!("<p class=\"broken\">{cause}: {reason}</p>\n"));
        }
        let card =
            |label: &str, text: String| format!("<div class=\"card\"><b>{text}</b>{label}</div>\n");
        let of = |score: Score| format!("{}/{}", score.held, score.examined);
        out.push_str("<div class=\"cards\">\n");
        out.push_str(&card("musts held", of(self.score(Severity::Must))));
        out.push_str(&card("shoulds held", of(self.score(Severity::Should))));
        out.push_str(&card("findings", self.findings.len().to_string()));
        out.push_str(&card("rules skipped", self.count_verdicts("skipped").to_string()));
        out.push_str("</div>\n");
        let offers: Vec<String> =
            self.offers.iter().map(|(kind, number)| format!("{kind}: {number}")).collect();
        out.push_str(&format!("<p>Offers {}.</p>\n", escape_xml(&offers.join(", "))));
        out.push_str(&format!("<p><code>{}</code></p>\n", escape_xml(&self.badge_line())));
    }

    fn write_findings_by_type(&self, out: &mut String) {
        // Sorted by name, so that the pages of two runs can be compared.
        let mut subjects = BTreeMap::<&str, Vec<&Finding>>::new();
        for finding in &self.findings {
            subjects.entry(&finding.subject).or_default().push(finding);
        }
        if subjects.is_empty() {
            return;
        }
        out.push_str("<h2>By type</h2>\n<div class=\"wide\"><table><tr><th>Type</th><th class=\"n\">Findings</th><th>Rules</th></tr>\n");
        for (subject, findings) in subjects {
            let mut ids: Vec<&str> = findings.iter().map(|it| it.rule).collect();
            // Findings are in the order of the rules, so equal ids are neighbours.
            ids.dedup();
            let links: Vec<String> =
                ids.iter().map(|id| format!("<a href=\"#{id}\">{id}</a>")).collect();
            out.push_str(&format!(
                "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
                escape_xml(subject),
                findings.len(),
                links.join(" ")
            ));
        }
        out.push_str("</table></div>\n");
    }

    fn write_findings_by_rule(&self, out: &mut String) {
        out.push_str("<h2>Findings</h2>\n");
        if self.findings.is_empty() {
            out.push_str("<p>None.</p>\n");
        }
        for row in self.rows.iter().filter(|row| row.verdict == Verdict::Broken) {
            let rule = row.rule;
            out.push_str(&format!(
                "<h3 id=\"{id}\">{id} ({severity}): {text}</h3>\n<p>{harm} <b>Correction:</b> {fix} <span class=\"not\">Source: {source}. {broken} of {cases} cases.</span></p>\n",
                id = rule.id,
                severity = rule.severity.word(),
                text = escape_xml(rule.text),
                harm = escape_xml(rule.harm),
                fix = escape_xml(rule.fix),
                source = escape_xml(rule.source),
                broken = row.broken,
                cases = row.cases
            ));
            for finding in self.findings.iter().filter(|it| it.rule == rule.id) {
                write_finding(out, finding);
            }
        }
    }

    fn write_all_rules(&self, out: &mut String) {
        out.push_str("<h2>All rules</h2>\n<div class=\"wide\"><table><tr><th>Rule</th><th>Verdict</th><th class=\"n\">Cases</th><th>Text</th></tr>\n");
        // Rows are in the order of the rules, in which families are contiguous.
        let mut family = "";
        for row in &self.rows {
            let family_of_rule = rules::family_of(row.rule.id);
            if family_of_rule != family {
                family = family_of_rule;
                out.push_str(&format!(
                    "<tr><th colspan=\"4\">{}</th></tr>\n",
                    escape_xml(family_of_rule)
                ));
            }
            let word = row.verdict.word();
            let reason = match &row.verdict {
                Verdict::Skipped(reason) => {
                    format!("<br><span class=\"skipped\">{}</span>", escape_xml(reason))
                }
                Verdict::Held | Verdict::Broken => String::new(),
            };
            let class = word.split(' ').next().unwrap_or(word);
            out.push_str(&format!(
                "<tr><td>{}</td><td class=\"{class}\">{word}</td><td class=\"n\">{}</td><td>{}{reason}</td></tr>\n",
                row.rule.id,
                row.cases,
                escape_xml(row.rule.text)
            ));
        }
        out.push_str("</table></div>\n");
    }
}

fn write_finding(out: &mut String, finding: &Finding) {
    let location = if finding.path.is_empty() {
        String::new()
    } else {
        format!(" at <code>{}</code>", escape_xml(&finding.path))
    };
    out.push_str(&format!(
        "<details open><summary>{}{location}: {}</summary>\n<dl>\n",
        escape_xml(&finding.subject),
        escape_xml(&finding.message)
    ));
    for (label, text) in [
        ("Call", &finding.call),
        ("Expected", &finding.expected),
        ("Found", &finding.found),
        ("Input", &finding.input),
    ] {
        if !text.is_empty() {
            out.push_str(&format!("<dt>{label}</dt><dd><code>{}</code></dd>\n", escape_xml(text)));
        }
    }
    out.push_str("</dl>\n");
    if !finding.calls.is_empty() {
        let lines: Vec<String> = finding.calls.iter().map(describe_call).collect();
        out.push_str(&format!("<pre>{}</pre>\n", escape_xml(&lines.join("\n"))));
    }
    out.push_str("</details>\n");
}

fn describe_call(call: &Call) -> String {
    let size = |messages: &[bytes::Bytes]| messages.iter().map(bytes::Bytes::len).sum::<usize>();
    format!(
        "{} sent {} bytes, received {} bytes in {} ms: {}",
        call.rpc.name(),
        size(&call.recorded.requests),
        size(&call.recorded.answers),
        call.recorded.duration.as_millis(),
        // A provider may put the whole answer of a service into its error.
        truncate(&call.describe_outcome(), 400)
    )
}
