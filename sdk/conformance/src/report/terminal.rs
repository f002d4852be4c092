//! The report as a table for a terminal.

use super::{Report, RuleRow};
use crate::finding::{Finding, Verdict};
use crate::plugin::truncate;
use crate::rules::{self, Severity};

/// The most findings of one rule that are printed.
const MAX_PRINTED_FINDINGS: usize = 10;

impl Report {
    /// Returns the report as text of at most `width` columns.
    #[must_use]
    pub fn terminal(&self, width: usize) -> String {
        // The table needs some room, and very long lines are hard to read.
        let width = width.clamp(40, 120);
        let mut out = String::new();
        self.write_head(&mut out);
        if let Some(reason) = &self.stopped {
            out.push_str(&wrap_lines(&format!("{}: {reason}", self.end_cause()), width, ""));
            out.push('\n');
        }
        self.write_family_table(&mut out, width);
        self.write_broken_rules(&mut out, width);
        self.write_skip_reasons(&mut out, width);
        self.write_summary(&mut out, width);
        out
    }

    fn write_head(&self, out: &mut String) {
        out.push_str(&format!("Conformance of {}\n", self.provider));
        let offers: Vec<_> = self
            .offers
            .iter()
            .map(|(kind, number)| format!("{number} {kind}{}", if *number == 1 { "" } else { "s" }))
            .collect();
        out.push_str(&format!(
            "  protocol {}, level {}, seed {}\n",
            self.protocol, self.level, self.seed
        ));
        if !offers.is_empty() {
            out.push_str(&format!("  {}\n", offers.join(", ")));
        }
        out.push('\n');
    }

    /// One line for each family.
    fn write_family_table(&self, out: &mut String, width: usize) {
        let name_width = width.saturating_sub(40).clamp(16, 36);
        out.push_str(&format!(
            "{:<name_width$} {:>6} {:>7} {:>8}\n",
            "Family", "held", "broken", "skipped"
        ));
        let mut families: Vec<&str> = Vec::new();
        for row in &self.rows {
            let family = rules::family_of(row.rule.id);
            if !families.contains(&family) {
                families.push(family);
            }
        }
        for family in families {
            let family_rows: Vec<&RuleRow> =
                self.rows.iter().filter(|row| rules::family_of(row.rule.id) == family).collect();
            let count =
                |word: &str| family_rows.iter().filter(|row| row.verdict.word() == word).count();
            out.push_str(&format!(
                "{:<name_width$} {:>6} {:>7} {:>8}\n",
                truncate(family, name_width.saturating_sub(3)),
                count("held"),
                count("broken"),
                count("skipped")
            ));
        }
        out.push('\n');
    }

    fn write_broken_rules(&self, out: &mut String, width: usize) {
        for row in self.rows.iter().filter(|row| row.verdict == Verdict::Broken) {
            let rule = row.rule;
            let head = format!("{} ({}) {}", rule.id, rule.severity.word(), rule.text);
            out.push_str(&wrap_lines(&head, width, ""));
            let findings: Vec<&Finding> =
                self.findings.iter().filter(|it| it.rule == rule.id).collect();
            // A rule that every type breaks would push the others out of sight.
            for finding in findings.iter().take(MAX_PRINTED_FINDINGS) {
                write_finding(out, finding, width);
            }
            if findings.len() > MAX_PRINTED_FINDINGS {
                out.push_str(&format!(
                    "  ... and {} more; see -json\n",
                    findings.len() - MAX_PRINTED_FINDINGS
                ));
            }
            out.push_str(&wrap_lines(&format!("Harm: {}", rule.harm), width, "  "));
            out.push_str(&wrap_lines(&format!("Fix: {}", rule.fix), width, "  "));
            out.push_str(&wrap_lines(&format!("Source: {}", rule.source), width, "  "));
            out.push('\n');
        }
    }

    /// Why rules were not examined, rules with the same reason together.
    fn write_skip_reasons(&self, out: &mut String, width: usize) {
        // No map: the reasons stay in the order of the rules.
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for row in &self.rows {
            let reason = match &row.verdict {
                Verdict::Skipped(reason) => format!("Skipped, {reason}"),
                Verdict::Held | Verdict::Broken => continue,
            };
            match reasons.iter_mut().find(|(known_reason, _)| *known_reason == reason) {
                Some((_, ids)) => ids.push(row.rule.id),
                None => reasons.push((reason, vec![row.rule.id])),
            }
        }
        for (reason, ids) in &reasons {
            out.push_str(&wrap_lines(
                &format!("{}: {}", truncate(reason, 300), ids.join(" ")),
                width,
                "",
            ));
        }
        if !reasons.is_empty() {
            out.push('\n');
        }
    }

    fn write_summary(&self, out: &mut String, width: usize) {
        let (must, should) = (self.score(Severity::Must), self.score(Severity::Should));
        let text = format!(
            "Musts held: {} of {} examined. Shoulds held: {} of {} examined. {} skipped of {} rules in {:.1} s.",
            must.held,
            must.examined,
            should.held,
            should.examined,
            self.count_verdicts("skipped"),
            self.rows.len(),
            self.took.as_secs_f64()
        );
        out.push_str(&wrap_lines(&text, width, ""));
    }
}

fn write_finding(out: &mut String, finding: &Finding, width: usize) {
    let location =
        if finding.path.is_empty() { String::new() } else { format!(" at {}", finding.path) };
    let call = if finding.call.is_empty() { String::new() } else { format!(" ({})", finding.call) };
    let head = format!("- {}{location}: {}{call}", finding.subject, finding.message);
    out.push_str(&wrap_lines(&head, width, "  "));
    for (label, text) in
        [("expected", &finding.expected), ("found", &finding.found), ("input", &finding.input)]
    {
        if !text.is_empty() {
            // An input may be a whole object with long strings.
            out.push_str(&wrap_lines(&format!("{label}: {}", truncate(text, 400)), width, "    "));
        }
    }
}

/// The text in lines of at most `width` columns, each after `indent`.
fn wrap_lines(text: &str, width: usize, indent: &str) -> String {
    // With no room at all, the loop over a long word below would not end.
    let room = width.saturating_sub(indent.len()).max(20);
    let mut out = String::new();
    for line in text.lines() {
        let mut current = String::new();
        for word in line.split(' ') {
            let mut word = word.to_owned();
            // Texts of providers need not be ASCII: by bytes, lines would end too early.
            let length = |text: &str| text.chars().count();
            if !current.is_empty() && length(&current) + 1 + length(&word) > room {
                out.push_str(&format!("{indent}{current}\n"));
                current.clear();
            }
            // A hash or a path may be longer than a line.
            while length(&word) > room {
                let rest: String = word.chars().skip(room).collect();
                let first: String = word.chars().take(room).collect();
                out.push_str(&format!("{indent}{first}\n"));
                word = rest;
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(&word);
        }
        out.push_str(&format!("{indent}{current}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_exceeds_the_configured_width() {
        let text = format!("some words and {} and more", "x".repeat(100));
        for line in wrap_lines(&text, 30, "  ").lines() {
            assert!(line.chars().count() <= 30, "{line}");
        }
    }
}
