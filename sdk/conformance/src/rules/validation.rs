//! Rules of the validation (V) and configuration (C).

use super::Severity::{Must, Should};
use super::{Rule, row};

/// The rows.
pub(super) const ROWS: &[Rule] = &[
    row(
        ("V-01", Must, 0),
        "Validation answers every generated configuration",
        "generated inputs g1 to g6",
        "A typing mistake crashes the provider in the middle of a plan.",
        "Handle null, unknown and extreme values in every validator.",
    ),
    row(
        ("V-02", Must, 0),
        "An unknown value never makes a valid configuration invalid",
        "Terraform validates with unknowns first",
        "A correct configuration is refused as soon as a value comes from another resource.",
        "Skip checks of values that are unknown.",
    ),
    row(
        ("V-03", Must, 0),
        "Optional and computed attributes may be null and unknown",
        "tfplugin docs",
        "Users must set what the provider could compute.",
        "Accept null and unknown for optional and computed attributes.",
    ),
    row(
        ("V-04", Must, 0),
        "Validation is deterministic",
        "Terraform validates several times",
        "The same configuration passes and fails by turns.",
        "Validate without global state.",
    ),
    row(
        ("V-05", Should, 0),
        "Diagnostics have a summary, a known severity and a path that exists",
        "tfplugin Diagnostic",
        "Terraform cannot show the place of the mistake.",
        "Use paths of the schema, and a short summary.",
    ),
    // Not a must, because hosts refuse such a configuration themselves.
    row(
        ("V-06", Should, 0),
        "A missing required attribute is reported at its path",
        "tfplugin Diagnostic",
        "The user must guess which attribute is meant.",
        "Attach the attribute's path to the diagnostic.",
    ),
    row(
        ("V-07", Must, 0),
        "No sensitive value appears in a diagnostic of validation",
        "security",
        "Passwords end up in CI logs.",
        "Name the attribute, never its value.",
    ),
    row(
        ("V-08", Should, 0),
        "Validates 1,000 elements in less than 1 s",
        "reliability target",
        "Large configurations take minutes to validate.",
        "Avoid comparing all elements with each other.",
    ),
    row(
        ("V-09", Should, 0),
        "Handles unknown types, missing configurations and JSON values without a crash",
        "robustness",
        "A newer host crashes the provider.",
        "Return a diagnostic for requests that make no sense.",
    ),
    row(
        ("V-10", Must, 0),
        "Refuses write-only values from a host that does not support them",
        "write_only_attributes_allowed",
        "An old host stores the secret in its state.",
        "Report an error when a write-only attribute is set and the capability is absent.",
    ),
    row(
        ("V-11", Must, 2),
        "The examples of the provider validate",
        "registry layout",
        "The first thing that a user copies does not work.",
        "Test the examples.",
    ),
    row(
        ("C-01", Must, 1),
        "Answers an empty configuration with success or an error",
        "generated inputs",
        "A missing provider block crashes the provider.",
        "Check for null before use.",
    ),
    row(
        ("C-02", Must, 1),
        "Answers a configuration with unknown values",
        "Terraform configures with unknowns",
        "Planning crashes when the endpoint comes from another resource.",
        "Skip or defer when values are unknown.",
    ),
    row(
        ("C-03", Must, 0),
        "Calls before Configure are answered",
        "robustness",
        "Terraform reports a crash instead of the missing configuration.",
        "Check whether the client is there, and report an error.",
    ),
    // Not a must, because Terraform configures a process once.
    row(
        ("C-04", Should, 1),
        "A second Configure works or is refused",
        "robustness",
        "Test hosts crash the provider.",
        "Replace the client under a lock, or return an error.",
    ),
    row(
        ("C-05", Should, 1),
        "Bad endpoints fail in time and without the secret in the text",
        "reliability target",
        "Users wait, and then find their password in the log.",
        "Set a connect timeout, and leave credentials out of messages.",
    ),
    row(
        ("C-06", Should, 1),
        "Configure writes nothing to HOME and the working folder",
        "reliability target",
        "Runs in parallel overwrite each other's files.",
        "Write to a temporary folder only.",
    ),
    row(
        ("C-07", Should, 1),
        "Configure and StopProvider at once do not deadlock",
        "Terraform stops all providers",
        "Ctrl-C hangs.",
        "Do not hold one lock in both.",
    ),
];
