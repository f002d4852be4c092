//! The report as SARIF 2.1.0.

use serde_json::{Value, json};

use super::Report;
use crate::finding::Finding;
use crate::rules::{self, Severity};

impl Report {
    /// Returns the report as SARIF.
    #[must_use]
    pub fn sarif(&self) -> String {
        let rules: Vec<_> = rules::all_rules()
            .map(|rule| {
                json!({
                    "id": rule.id,
                    "name": rule.id.replace('-', ""),
                    "shortDescription": {"text": rule.text},
                    "fullDescription": {"text": format!("{} {}", rule.harm, rule.fix)},
                    "help": {"text": format!("{} Source: {}.", rule.fix, rule.source)},
                    "defaultConfiguration": {"level": level_name(rule.severity)},
                })
            })
            .collect();
        let results: Vec<_> =
            self.findings.iter().map(|finding| self.sarif_result(finding)).collect();
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
                    // Findings are a result and no failure: only a run that ended early was not
                    // successful.
                    "executionSuccessful": self.stopped.is_none(),
                    "exitCode": self.exit_code(),
                }],
                "results": results,
            }],
        });
        format!("{log:#}\n")
    }

    fn sarif_result(&self, finding: &Finding) -> Value {
        // A finding of a rule that is not in the table must not appear harmless.
        let severity = rules::find_rule(finding.rule).map_or(Severity::Must, |it| it.severity);
        // The index points into `rules` of the driver above, which has the same order.
        let index = rules::all_rules().position(|rule| rule.id == finding.rule);
        let location =
            if finding.path.is_empty() { String::new() } else { format!(" at {}", finding.path) };
        json!({
            "ruleId": finding.rule,
            "ruleIndex": index,
            "level": level_name(severity),
            "message": {"text": format!(
                "{}{location}: {} Expected: {} Found: {}",
                finding.subject, finding.message, finding.expected, finding.found
            )},
            "locations": [{
                // Code scanning of GitHub refuses a result without a physical location,
                // though the rules are broken by calls and not by lines of a file.
                "physicalLocation": {"artifactLocation": {"uri": relative_uri(&self.provider)}},
                "logicalLocations": [{
                    "fullyQualifiedName": format!("{}.{}", finding.subject, finding.path),
                }],
            }],
        })
    }
}

fn level_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "error",
        Severity::Should => "warning",
    }
}

/// The name as a relative reference of a URI.
fn relative_uri(name: &str) -> String {
    let mut uri = String::new();
    for byte in name.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            // A path may have spaces, quotes and other letters, which a URI must not.
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use crate::report::tests::report;

    /// Objects of the format that the report uses, as the published JSON schema of SARIF 2.1.0 has them:
    /// the properties that must be there, and those that may. The schema allows no other.
    const OBJECTS: [(&str, &[&str], &[&str]); 10] = [
        ("log", &["version", "runs"], &["$schema"]),
        ("run", &["tool"], &["invocations", "results"]),
        ("tool", &["driver"], &[]),
        ("driver", &["name"], &["version", "rules"]),
        (
            "rule",
            &["id"],
            &["name", "shortDescription", "fullDescription", "help", "defaultConfiguration"],
        ),
        ("message", &["text"], &[]),
        ("invocation", &["executionSuccessful"], &["exitCode"]),
        ("result", &["message"], &["ruleId", "ruleIndex", "level", "locations"]),
        ("location", &[], &["physicalLocation", "logicalLocations"]),
        ("configuration", &[], &["level"]),
    ];

    fn check<'v>(value: &'v Value, object: &str) -> &'v Value {
        let (_, required, optional) =
            OBJECTS.iter().find(|it| it.0 == object).expect("a known object");
        let properties = value.as_object().unwrap_or_else(|| panic!("{object}: {value}"));
        let names: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        assert!(required.iter().all(|it| names.contains(it)), "{object}: {names:?}");
        let is_known = |it: &&str| required.contains(it) || optional.contains(it);
        assert!(names.iter().all(is_known), "{object}: {names:?}");
        value
    }

    fn items<'v>(value: &'v Value, name: &str) -> &'v Vec<Value> {
        value[name].as_array().unwrap_or_else(|| panic!("{name} is not an array: {value}"))
    }

    fn check_level(value: &Value) {
        let level = value["level"].as_str();
        assert!(level.is_some_and(|it| ["none", "note", "warning", "error"].contains(&it)));
    }

    fn check_message(value: &Value) {
        assert!(check(value, "message")["text"].as_str().is_some_and(|it| !it.is_empty()));
    }

    #[test]
    fn the_report_has_the_objects_and_properties_of_the_schema() {
        let log: Value = serde_json::from_str(&report().sarif()).expect("it is JSON");
        assert_eq!(check(&log, "log")["version"], "2.1.0");
        let [run] = &items(&log, "runs")[..] else { panic!("one run: {log}") };
        let driver =
            check(&check(check(run, "run").get("tool").unwrap(), "tool")["driver"], "driver");
        assert!(driver["name"].is_string() && driver["version"].is_string());
        let rules = items(driver, "rules");
        let ids: BTreeSet<_> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
        // Two rules with one id would give two meanings to `ruleId`.
        assert_eq!((rules.len(), ids.len()), (175, 175));
        for rule in rules {
            check(rule, "rule");
            check_level(check(&rule["defaultConfiguration"], "configuration"));
            for text in ["shortDescription", "fullDescription", "help"] {
                check_message(&rule[text]);
            }
        }
        for invocation in items(run, "invocations") {
            assert!(check(invocation, "invocation")["executionSuccessful"].is_boolean());
            assert!(invocation["exitCode"].is_i64());
        }
        let results = items(run, "results");
        assert_eq!(results.len(), 1);
        for result in results {
            check_level(check(result, "result"));
            check_message(&result["message"]);
            // Some tools read the rule by its index and others by its id.
            let rule_index =
                usize::try_from(result["ruleIndex"].as_u64().expect("an index")).unwrap();
            assert_eq!(rules[rule_index]["id"], result["ruleId"]);
            for location in items(result, "locations") {
                let file = &check(location, "location")["physicalLocation"]["artifactLocation"];
                let uri = file["uri"].as_str().expect("a location has a URI");
                assert!(!uri.contains([' ', '<', '>', '"', '\\']), "{uri}");
                let names = items(location, "logicalLocations");
                assert!(names.iter().all(|it| it["fullyQualifiedName"].is_string()));
            }
        }
    }
}
