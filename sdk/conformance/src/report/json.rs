//! The report as JSON. `docs/conformance.md` describes the form.

use serde_json::{Value, json};

use super::Report;
use crate::finding::{Finding, Verdict};
use crate::rules::{self, Severity};

impl Report {
    /// Returns the report as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let (must, should) = (self.score(Severity::Must), self.score(Severity::Should));
        let report = json!({
            "format": "formwork-conformance",
            "version": 1,
            "tool_version": env!("CARGO_PKG_VERSION"),
            "provider": self.provider,
            "sha256": self.hash,
            "protocol": self.protocol,
            "level": self.level,
            "seed": self.seed,
            // A `u128` is more than most readers of JSON can hold.
            "duration_ms": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "stopped": self.stopped,
            "offers": self.offers.iter().map(|(kind, number)| json!({"kind": kind, "number": number})).collect::<Vec<_>>(),
            "musts": {"held": must.held, "examined": must.examined},
            "shoulds": {"held": should.held, "examined": should.examined},
            "skipped": self.count_verdicts("skipped"),
            "rules": self.rows.iter().map(|row| json!({
                "id": row.rule.id,
                "family": rules::family_of(row.rule.id),
                "severity": row.rule.severity.word(),
                "level": row.rule.level,
                "text": row.rule.text,
                "verdict": row.verdict.word(),
                "reason": match &row.verdict {
                    Verdict::Skipped(reason) => Some(reason),
                    Verdict::Held | Verdict::Broken => None,
                },
                "cases": row.cases,
                "broken": row.broken,
            })).collect::<Vec<_>>(),
            "findings": self.findings.iter().map(finding_to_json).collect::<Vec<_>>(),
        });
        format!("{report:#}\n")
    }
}

fn finding_to_json(finding: &Finding) -> Value {
    let rule = rules::find_rule(finding.rule);
    json!({
        "rule": finding.rule,
        "severity": rule.map(|it| it.severity.word()),
        "subject": finding.subject,
        "call": finding.call,
        "path": finding.path,
        "message": finding.message,
        "expected": finding.expected,
        "found": finding.found,
        "input": finding.input,
        "text": rule.map(|it| it.text),
        "source": rule.map(|it| it.source),
        "harm": rule.map(|it| it.harm),
        "fix": rule.map(|it| it.fix),
    })
}
