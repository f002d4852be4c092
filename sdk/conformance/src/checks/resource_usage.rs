//! Checks of the resources of a process over many calls (Z-09) and of new connections (Z-11).

use std::time::Duration;

use crate::finding::Finding;
use crate::message::Msg;
use crate::rpc::Rpc;
use crate::suite::Suite;

/// The number of calls between two measurements.
const CALLS_PER_ROUND: usize = 600;
/// The most measurements.
const MAX_ROUNDS: usize = 7;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    check_resource_growth(suite).await;
    check_serves_after_reconnect(suite).await;
}

/// Memory of a process in KiB; zero if it is not known.
pub(super) fn resident_kib(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    proc_status_number(&status, "VmRSS:")
}

fn proc_status_number(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|it| it.split_whitespace().next()).and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn measure_process(pid: i32) -> [u64; 3] {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    [proc_status_number(&status, "VmRSS:"), files as u64, proc_status_number(&status, "Threads:")]
}

async fn check_resource_growth(suite: &mut Suite) {
    if !suite.is_rule_wanted("Z-09") {
        return;
    }
    let requests = super::robustness::valid_requests(suite);
    let requests: Vec<_> = requests
        .into_iter()
        // There are thousands of calls, so none may reach a service.
        .filter(|(rpc, _)| !matches!(rpc, Rpc::ReadResource | Rpc::ImportResourceState))
        .collect();
    if requests.is_empty() {
        return;
    }
    let Ok(plugin) = suite.start_another_process().await else { return };
    let Some(pid) = plugin.started.as_ref().map(|it| it.child.pid()) else {
        return suite.note_skipped_rules(
            &["Z-09"],
            "the provider runs already, and its process is not known",
        );
    };
    let mut measured: Vec<[u64; 3]> = Vec::new();
    // A heap may grow for a while; only what never stops growing is a leak.
    while measured.len() < MAX_ROUNDS
        && (measured.len() < 3 || find_growing_series(&measured).is_some())
    {
        for index in 0..CALLS_PER_ROUND {
            let (rpc, request) = &requests[index % requests.len()];
            if suite.is_run_over() {
                return;
            }
            if plugin.call(*rpc, request, Duration::from_secs(20)).await.is_crash_or_hang() {
                return suite.note_skipped_rules(
                    &["Z-09"],
                    "the provider does not survive many valid calls",
                );
            }
        }
        measured.push(measure_process(pid));
    }
    let grows = find_growing_series(&measured);
    suite.record_case("Z-09", grows.is_none(), || {
        let (resource, series) = grows.unwrap_or_default();
        let series: Vec<String> = series.iter().map(u64::to_string).collect();
        Finding::new("Z-09", "process", format!("{resource} grow with every call"))
            .with_expected_and_found("a limit", series.join(", "))
    });
}

/// A series that grows from each measurement to the next, with its name.
fn find_growing_series(measured: &[[u64; 3]]) -> Option<(&'static str, Vec<u64>)> {
    // Less than that is noise of allocators and runtimes.
    let steps = [("memory in KiB", 8 * 1024), ("open files", 8), ("threads", 8)];
    steps.into_iter().enumerate().find_map(|(index, (resource, step))| {
        let series: Vec<u64> = measured.iter().map(|it| it[index]).collect();
        let grows = series.len() > 1 && series.windows(2).all(|it| it[1] > it[0] + step);
        grows.then_some((resource, series))
    })
}

async fn check_serves_after_reconnect(suite: &mut Suite) {
    if !suite.is_rule_wanted("Z-11") || suite.ensure_running().await.is_err() {
        return;
    }
    let Some(started) = suite.plugin().and_then(|it| it.started.as_ref()) else {
        return suite.note_skipped_rules(&["Z-11"], "the provider runs already");
    };
    let mut problem = None;
    for _ in 0..3 {
        // Each connection is dropped before the next.
        if let Err(reason) = crate::plugin::connect_provider(started, Duration::from_secs(5)).await
        {
            problem = Some(reason);
        }
    }
    let call = suite.call(Rpc::GetProviderSchema, &Msg::new()).await;
    let held = problem.is_none() && call.has_reply();
    suite.record_case("Z-11", held, || {
        Finding::new("Z-11", "process", "another connection is not served")
            .with_call(&call)
            .with_expected_and_found("an answer", problem.unwrap_or_default())
    });
}
