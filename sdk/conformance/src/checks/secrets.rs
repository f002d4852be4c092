//! Checks of secrets in everything that was printed (K-01). Ends the running plugin.

use crate::finding::Finding;
use crate::offer::{Kind, OfferedType};
use crate::suite::Suite;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.is_rule_wanted("K-01") {
        return;
    }
    let types: Vec<OfferedType> =
        suite.offer.types.iter().filter(|it| it.is_whole).cloned().collect();
    let mut planted = 0;
    for offered in &types {
        let base = suite.generate_config(offered, crate::generate::ConfigExtent::All, 0);
        let (config, paths) = suite.secrets.plant_canary(offered.block(), &base);
        if paths.is_empty() || suite.is_run_over() {
            continue;
        }
        planted += 1;
        suite.call_validate(offered, &config).await;
        if offered.kind == Kind::Resource && suite.configured {
            let input = super::plan::plan_input(offered, super::null_object(&offered.ty()), config);
            super::plan::plan_or_none(suite, offered, &input).await;
        }
    }
    // Ends the process, so that all of its log has arrived.
    suite.end_plugin();
    let is_configured = suite.secrets.holds_configured_secret(&suite.past.stderr);
    if planted == 0 && suite.options.config.is_none() {
        return suite.note_skipped_rules(
            &["K-01"],
            "no type has a sensitive or write-only text that can be set",
        );
    }
    let leaks = suite.secrets.holds_canary(&suite.past.stderr) || is_configured;
    suite.record_case("K-01", !leaks, || {
        Finding::new("K-01", "log", "a sensitive value is in the log at TRACE")
    });
    let reported: Vec<String> =
        suite.past.diagnostics.iter().map(|(_, it)| it.one_line()).collect();
    let leak = reported.iter().find(|it| suite.secrets.holds_canary(it.as_bytes()));
    let leak = leak.cloned();
    suite.record_case("K-01", leak.is_none(), || {
        Finding::new("K-01", "diagnostics", "a sensitive value is in a diagnostic")
            .with_expected_and_found("no value", leak.unwrap_or_default())
    });
}
