//! Rules of the robustness (Z) and secrets (K).

use super::Severity::{Must, Should};
use super::{Rule, row};

/// The rows.
pub(super) const ROWS: &[Rule] = &[
    row(
        ("Z-01", Must, 0),
        "Malformed requests get an error, and the process lives on",
        "structure-aware mutation",
        "A newer or faulty host crashes the provider.",
        "Return decoding errors as diagnostics.",
    ),
    row(
        ("Z-02", Must, 0),
        "Deep nesting and false lengths do not exhaust memory",
        "structure-aware mutation",
        "One value takes the machine down.",
        "Limit depth; allocate by bytes received.",
    ),
    row(
        ("Z-03", Must, 0),
        "Unknown protobuf fields are ignored",
        "protobuf",
        "The provider stops working with the next Terraform.",
        "Use a standard protobuf library.",
    ),
    row(
        ("Z-04", Must, 0),
        "Absent optional fields of older hosts are tolerated",
        "protobuf",
        "The provider stops working with an older Terraform.",
        "Check messages for null.",
    ),
    row(
        ("Z-05", Must, 0),
        "Concurrent calls get the answers of serial ones",
        "Terraform parallelism",
        "Results mix at random.",
        "Protect shared state.",
    ),
    row(
        ("Z-06", Should, 0),
        "A cancelled call does not disturb the provider",
        "gRPC",
        "Ctrl-C breaks the calls that follow.",
        "Stop work when the context ends.",
    ),
    row(
        ("Z-07", Must, 0),
        "StopProvider answers within 1 s, before Configure and twice as well",
        "StopProvider",
        "Ctrl-C hangs.",
        "Only signal in StopProvider; do not wait.",
    ),
    row(
        ("Z-08", Should, 3),
        "Running calls end within 30 s after StopProvider",
        "StopProvider",
        "Ctrl-C hangs.",
        "Pass the stop signal to every waiter.",
    ),
    row(
        ("Z-09", Should, 0),
        "Memory, files and threads stay stable over many calls",
        "soak",
        "Long applies run out of memory.",
        "Close what each call opens.",
    ),
    // Not a must, because Terraform has raised the limit.
    row(
        ("Z-10", Should, 0),
        "Answers for normal objects stay below 4 MiB",
        "gRPC default limit",
        "Other hosts refuse the answer.",
        "Return references instead of contents.",
    ),
    // Not a must, because the client of go-plugin keeps its one connection.
    row(
        ("Z-11", Should, 0),
        "Serves again after a connection is dropped",
        "go-plugin",
        "A hiccup ends the run.",
        "Accept more than one connection.",
    ),
    row(
        ("Z-12", Should, 0),
        "Diagnostics are few, plain text, and free of stack traces and build paths",
        "tfplugin Diagnostic",
        "The terminal is garbled, and internals leak.",
        "Write messages for people.",
    ),
    row(
        ("Z-13", Should, 0),
        "A panic becomes an error, and the process survives",
        "robustness",
        "All other calls in flight are lost.",
        "Recover in an interceptor.",
    ),
    row(
        ("Z-14", Should, 0),
        "Survives clock jumps and a full disk",
        "environment",
        "Rare, unexplained failures.",
        "Check the results of writes.",
    ),
    row(
        ("K-01", Must, 0),
        "Secrets do not appear in logs and diagnostics",
        "security",
        "Passwords end up in CI logs.",
        "Redact configuration in logs, at TRACE as well.",
    ),
    row(
        ("K-02", Must, 1),
        "Values that come from sensitive attributes stay in sensitive attributes",
        "taint by value",
        "The secret is printed in plans.",
        "Mark the computed attribute as sensitive.",
    ),
    row(
        ("K-03", Should, 0),
        "Only documented environment variables change an answer",
        "comparison of processes",
        "Settings of other programs change the result.",
        "Name each variable in a description of the provider's schema.",
    ),
    row(
        ("K-04", Must, 3),
        "TLS certificates are verified",
        "recording proxy",
        "Anybody on the network reads the credentials.",
        "Use the default verifier.",
    ),
    // Not a must, because providers for local files write elsewhere by design.
    row(
        ("K-05", Should, 0),
        "Files are written only below TMPDIR",
        "strace",
        "The provider overwrites files of the user.",
        "Write to a temporary folder only.",
    ),
    row(
        ("K-06", Should, 0),
        "Only declared programs are started",
        "strace",
        "Code of others runs unnoticed.",
        "Declare and pin helpers.",
    ),
    row(
        ("K-07", Should, 0),
        "Hashes and signatures of the release are valid",
        "registry packages",
        "`terraform init` refuses the release.",
        "Sign SHA256SUMS with the published key.",
    ),
];
