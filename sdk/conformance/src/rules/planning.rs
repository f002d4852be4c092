//! Rules of the planning (P).

use super::Severity::{Must, Should};
use super::{Rule, row};

/// The rows.
pub(super) const ROWS: &[Rule] = &[
    row(
        ("P-01", Must, 1),
        "The planned value has the type of the schema",
        "Terraform PlanResourceChange",
        "Terraform refuses the plan.",
        "Encode with the schema's type.",
    ),
    // Of a provider with `legacy_type_system`, Terraform only logs what is wrong here.
    row(
        ("P-02", Must, 1),
        "Configured values are kept, and only computed attributes are set",
        "objchange.AssertPlanValid",
        "Terraform refuses the plan, or an old SDK's change shows up as drift.",
        "Plan exactly the configured values; mark what the provider sets as computed.",
    ),
    row(
        ("P-03", Must, 1),
        "Nested blocks have the counts and keys of the configuration",
        "objchange.AssertPlanValid",
        "Terraform refuses the plan.",
        "Keep the number and order of blocks.",
    ),
    row(
        ("P-04", Must, 1),
        "Write-only attributes are null in the plan",
        "ephemeral.ValidateWriteOnlyAttributes",
        "The secret is stored in the plan file.",
        "Set write-only attributes to null.",
    ),
    row(
        ("P-05", Must, 1),
        "The same request gives the same plan, in two processes as well",
        "Terraform plans twice",
        "\"Provider produced inconsistent final plan\".",
        "Use no clock, no random numbers and no map order while planning.",
    ),
    // While applying, Terraform plans again with the values that have become known.
    row(
        ("P-06", Must, 1),
        "Learning unknown values never changes a planned value that was known",
        "Terraform checkPlannedChange",
        "\"Provider produced inconsistent final plan\" in the middle of an apply.",
        "Plan unknown for everything that depends on an unknown value.",
    ),
    row(
        ("P-07", Must, 1),
        "Planning an object's own value is a no-op",
        "Terraform plan",
        "Every plan shows a change.",
        "Compare with the prior state before marking values as unknown.",
    ),
    row(
        ("P-08", Should, 1),
        "Planning does not fail without the proposed value of computed attributes",
        "tfplugin docs",
        "A host that proposes differently crashes the provider.",
        "Use configuration and prior state.",
    ),
    row(
        ("P-09", Must, 1),
        "RequiresReplace names paths that exist and that changed",
        "Terraform getRequiredReplaces",
        "Terraform refuses the plan, or replaces objects for no reason.",
        "Name only attributes that differ.",
    ),
    row(
        ("P-10", Should, 1),
        "Attributes documented as forcing replacement do so",
        "single-attribute mutations",
        "Users lose an object that they meant to change.",
        "Let the documentation follow the schema.",
    ),
    // At level 3, because only an apply shows it.
    row(
        ("P-11", Must, 3),
        "Computed attributes that are planned as null stay null",
        "Terraform AssertObjectCompatible",
        "\"Provider produced inconsistent result after apply\".",
        "Plan unknown for values that come with the object.",
    ),
    row(
        ("P-12", Must, 1),
        "A destroy plan is null",
        "Terraform plan_destroy",
        "Terraform refuses to destroy.",
        "Return the null proposed state.",
    ),
    row(
        ("P-13", Should, 1),
        "Planned private data is at most 64 KiB",
        "reliability target",
        "States grow with every apply.",
        "Keep only what the next call needs.",
    ),
    row(
        ("P-14", Should, 1),
        "Reordering a set or map changes nothing",
        "metamorphic",
        "Every plan shows a change.",
        "Compare sets as sets.",
    ),
    row(
        ("P-15", Should, 1),
        "Null and empty collections are handled alike or distinguished consistently",
        "metamorphic",
        "Plans show changes that never end.",
        "Plan what the configuration says.",
    ),
    // At level 3, which has the recording proxy.
    row(
        ("P-16", Must, 3),
        "Planning makes no changing remote call",
        "recording proxy",
        "A plan changes the real world.",
        "Send changing requests in Apply only.",
    ),
    row(
        ("P-17", Must, 1),
        "Defers only when the host allows it, with a reason",
        "deferral_allowed",
        "Terraform refuses the answer.",
        "Check the client capability first.",
    ),
    // Not a must, because all resources with the old SDK set it, and work.
    row(
        ("P-18", Should, 1),
        "Does not set legacy_type_system",
        "tfplugin docs",
        "Terraform skips its consistency checks for the provider.",
        "Move the resource to the plugin framework or another current SDK.",
    ),
    row(
        ("P-19", Must, 1),
        "The planned identity conforms and does not change for an existing object",
        "Terraform identity checks",
        "Terraform refuses the plan.",
        "Plan the prior identity.",
    ),
    // At level 3, because only an apply shows it.
    row(
        ("P-20", Must, 3),
        "Refinements of planned unknown values hold for the applied value",
        "AssertValueCompatible",
        "Conditions that were decided during the plan turn out wrong.",
        "Promise only what always holds.",
    ),
    // Numbers of cty have 512 bits.
    row(
        ("P-21", Must, 1),
        "Numbers such as 2^53+1 and 10^40 survive planning",
        "cty numbers",
        "Large ids are rounded.",
        "Do not convert numbers to float64.",
    ),
    row(
        ("P-22", Should, 1),
        "Plans 1,000 elements in less than 2 s",
        "reliability target",
        "Large configurations take minutes to plan.",
        "Avoid comparing all elements with each other.",
    ),
];
