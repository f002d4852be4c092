//! Rules of the reading (R), upgrading (U) and moving (M).

use super::Severity::{Must, Should};
use super::{Rule, row};

/// The rows.
pub(super) const ROWS: &[Rule] = &[
    row(
        ("R-01", Must, 1),
        "Read returns a conforming, wholly known object with null write-only attributes",
        "Terraform ReadResource",
        "Terraform refuses the object.",
        "Set every attribute.",
    ),
    row(
        ("R-02", Must, 1),
        "Reading twice gives the same object",
        "Terraform refresh",
        "Every plan shows drift.",
        "Normalize values.",
    ),
    // At level 3, because a state that the suite made up has no configuration.
    row(
        ("R-03", Must, 3),
        "Read returns configured values as they were written",
        "Terraform plan",
        "Every plan shows a change.",
        "Keep the prior value when it is only spelled differently.",
    ),
    row(
        ("R-04", Should, 3),
        "Real drift is reported",
        "Terraform refresh",
        "Changes outside are never repaired.",
        "Read every attribute from the service.",
    ),
    row(
        ("R-05", Must, 1),
        "The new state is always present in an answer without errors",
        "tfplugin ReadResource",
        "Terraform plans a second object.",
        "Set new_state, and return errors as errors.",
    ),
    row(
        ("R-06", Must, 1),
        "The identity of a read object conforms and is stable",
        "Terraform identity checks",
        "Terraform refuses the object.",
        "Return the same identity every time.",
    ),
    row(
        ("R-07", Must, 1),
        "Reading a state that has only an id does not crash",
        "Terraform import",
        "Import crashes the provider.",
        "Expect null in every attribute but the id.",
    ),
    row(
        ("R-08", Must, 3),
        "Reading makes no changing remote call",
        "recording proxy",
        "A refresh changes the real world.",
        "Send changing requests in Apply only.",
    ),
    row(
        ("R-09", Should, 1),
        "Foreign private data does not crash Read",
        "robustness",
        "A provider upgrade crashes on old states.",
        "Ignore private data that cannot be read.",
    ),
    row(
        ("U-01", Must, 0),
        "Upgrading a state of the current version returns it unchanged",
        "Terraform UpgradeResourceState",
        "Every plan shows a change, or data is lost.",
        "Return the state as it is.",
    ),
    row(
        ("U-02", Must, 0),
        "Every stored version is accepted or refused with an error",
        "Terraform UpgradeResourceState",
        "Old states crash the provider.",
        "Write an upgrader per version, or return an error.",
    ),
    // Not a must, because hosts refuse such a state themselves.
    row(
        ("U-03", Should, 0),
        "A version above the current one is refused",
        "Terraform UpgradeResourceState",
        "A downgrade corrupts the state.",
        "Return an error for newer versions.",
    ),
    row(
        ("U-04", Must, 0),
        "Unknown attributes in a stored state do not crash",
        "Terraform UpgradeResourceState",
        "A downgrade crashes the provider.",
        "Ignore or report unknown attributes.",
    ),
    row(
        ("U-05", Must, 0),
        "Broken JSON and wrong types are errors, not crashes",
        "Terraform UpgradeResourceState",
        "A damaged state crashes the provider.",
        "Return the decoder's error as a diagnostic.",
    ),
    row(
        ("U-06", Must, 0),
        "Upgrading is idempotent and works before Configure",
        "Terraform UpgradeResourceState",
        "States cannot be read without credentials.",
        "Use no client in upgraders.",
    ),
    row(
        ("U-07", Must, 0),
        "Never returns null or nothing for a stored object",
        "Terraform UpgradeResourceState",
        "The object is forgotten.",
        "Return the upgraded object, or an error.",
    ),
    // Not a must, because only states from before Terraform 0.12 have this form.
    row(
        ("U-08", Should, 0),
        "A flatmap state is upgraded or refused with an error",
        "Terraform 0.11 states",
        "Old states crash the provider.",
        "Return an error when flatmap is not supported.",
    ),
    row(
        ("U-09", Must, 0),
        "Upgrading an identity of the current version returns it unchanged",
        "UpgradeResourceIdentity",
        "The identity is lost.",
        "Return the identity as it is.",
    ),
    row(
        ("U-10", Must, 0),
        "Number precision and Unicode survive upgrading",
        "cty JSON",
        "Large ids are rounded.",
        "Decode numbers without float64.",
    ),
    row(
        ("M-01", Must, 0),
        "A move from an unsupported source is an error, not a crash or a made-up object",
        "MoveResourceState",
        "`moved` blocks lose objects.",
        "Return an error that names the source.",
    ),
];
