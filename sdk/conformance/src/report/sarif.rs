//! The report as SARIF 2.1.0.

use serde_json::json;

use super::Report;
use crate::rules::{self, Severity};

impl Report {
    /// Returns the report as SARIF.
    #[must_use]
    pub fn sarif(&self) -> String {
        let level = |severity| match severity {
            Severity::Must => "error",
            Severity::Should => "warning",
        };
        let rules: Vec<_> = rules::all()
            .map(|rule| {
                json!({
                    "id": rule.id,
                    "name": rule.id.replace('-', ""),
                    "shortDescription": {"text": rule.text},
                    "fullDescription": {"text": format!("{} {}", rule.harm, rule.fix)},
                    "help": {"text": format!("{} Source: {}.", rule.fix, rule.source)},
                    "defaultConfiguration": {"level": level(rule.severity)},
                })
            })
            .collect();
        let results: Vec<_> = self
            .findings
            .iter()
            .map(|finding| {
                let severity = rules::find(finding.rule).map_or(Severity::Must, |it| it.severity);
                let index = rules::all().position(|rule| rule.id == finding.rule);
                let place = if finding.path.is_empty() { String::new() } else { format!(" at {}", finding.path) };
                json!({
                    "ruleId": finding.rule,
                    "ruleIndex": index,
                    "level": level(severity),
                    "message": {"text": format!(
                        "{}{place}: {} Expected: {} Found: {}",
                        finding.subject, finding.message, finding.expected, finding.found
                    )},
                    "locations": [{
                        "physicalLocation": {"artifactLocation": {"uri": self.provider.replace(' ', "%20")}},
                        "logicalLocations": [{
                            "fullyQualifiedName": format!("{}.{}", finding.subject, finding.path),
                        }],
                    }],
                })
            })
            .collect();
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "formwork provider check",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "invocations": [{
                    "executionSuccessful": self.stopped.is_none(),
                    "exitCode": self.exit_code(),
                }],
                "results": results,
            }],
        });
        format!("{log:#}\n")
    }
}
