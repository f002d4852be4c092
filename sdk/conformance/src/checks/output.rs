//! Checks of all output and diagnostics of the run (H-21, Z-10, Z-12).

use crate::finding::Finding;
use crate::plugin::truncate;
use crate::suite::Suite;

/// Checks the collected output. Ends the running plugin.
pub(super) async fn run(suite: &mut Suite) {
    if suite.is_rule_wanted("Z-10") {
        // In a run of only this rule, no other check requests answers.
        for (rpc, request) in super::robustness::valid_requests(suite) {
            suite.call(rpc, &request).await;
        }
    }
    // First, so that everything the process has printed has arrived.
    suite.end_plugin();
    if suite.program_path().is_some() {
        check_printed_output(suite);
    }
    check_diagnostic_texts(suite);
    check_answer_size(suite);
}

fn check_printed_output(suite: &mut Suite) {
    let stdout = String::from_utf8_lossy(&suite.past.stdout).trim().to_owned();
    suite.record_case("H-21", stdout.is_empty(), || {
        Finding::new("H-21", "process", "it prints to stdout after the handshake")
            .with_expected_and_found("nothing", truncate(&stdout, 200))
    });
    // A log of the long strings that the suite itself sends is expected.
    let long_line = "x".repeat(1024);
    let is_foreign = |line: &&[u8]| {
        line.len() > 64 * 1024 && !String::from_utf8_lossy(line).contains(&long_line)
    };
    let lines = suite.past.stderr.split(|byte| *byte == b'\n').filter(is_foreign);
    // The buffer of go-plugin: of a longer line, only pieces reach the log.
    let longest = lines.map(<[u8]>::len).max().unwrap_or(0);
    suite.record_case("H-21", longest <= 64 * 1024, || {
        Finding::new("H-21", "process", "a line on stderr is too long")
            .with_expected_and_found("at most 65536 bytes", format!("{longest} bytes"))
    });
}

/// Signs of stack traces and of the machine on which the provider was built.
const STACK_TRACE_SIGNS: [&str; 5] = [
    "goroutine ",
    "stack backtrace:",
    "Traceback (most recent call last)",
    "/go/pkg/mod/",
    "/.cargo/registry/",
];

fn check_diagnostic_texts(suite: &mut Suite) {
    if !suite.is_rule_wanted("Z-12") {
        return;
    }
    for (rpc, diag) in std::mem::take(&mut suite.past.diagnostics) {
        let text = format!("{}\n{}", diag.summary, diag.detail);
        let control = text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'));
        let internals = STACK_TRACE_SIGNS.iter().find(|sign| text.contains(**sign));
        let problem = if !diag.is_text {
            Some("a diagnostic is not valid UTF-8".to_owned())
        } else if control {
            Some("a diagnostic has control characters".to_owned())
        } else {
            internals.map(|sign| format!("a diagnostic has internals: {sign:?}"))
        };
        let message = problem.clone().unwrap_or_default();
        suite.record_case("Z-12", problem.is_none(), || {
            let mut finding = Finding::new("Z-12", "diagnostics", message)
                .with_expected_and_found("plain text", truncate(&diag.one_line(), 300));
            finding.call = rpc.name();
            finding
        });
    }
}

fn check_answer_size(suite: &mut Suite) {
    let (size, rpc) = suite.past.largest;
    let Some(rpc) = rpc else { return };
    // The usual limit of gRPC libraries. Terraform has raised it, but other programs may not have.
    suite.record_case("Z-10", size <= 4 << 20, || {
        let mut finding = Finding::new("Z-10", "answers", "an answer is larger than 4 MiB")
            .with_expected_and_found("at most 4194304 bytes", format!("{size} bytes"));
        finding.call = rpc.name();
        finding
    });
}
