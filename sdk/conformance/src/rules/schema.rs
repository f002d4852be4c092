//! Rules of the schema and metadata (S).

use super::Severity::{Must, Should};
use super::{Rule, row};

/// The rows.
pub(super) const ROWS: &[Rule] = &[
    row(
        ("S-01", Must, 0),
        "Returns the schema without Configure, within 10 s and 64 MiB",
        "Terraform GetProviderSchema",
        "Every command fails.",
        "Build the schema without a client.",
    ),
    row(
        ("S-02", Must, 0),
        "Returns the same schema on every call and in every process",
        "Terraform caches schemas",
        "Values are read with another schema than they were written with.",
        "Do not build schemas from maps in random order or from remote data.",
    ),
    row(
        ("S-03", Must, 0),
        "Has a provider schema, and every schema has a block",
        "Terraform convert.ProtoToConfigSchema",
        "Terraform crashes.",
        "Return an empty block when there are no arguments.",
    ),
    row(
        ("S-04", Must, 0),
        "Every type expression can be read, at most 64 levels deep",
        "cty JSON types",
        "Terraform crashes.",
        "Use the type encoder of the SDK.",
    ),
    row(
        ("S-05", Must, 0),
        "Each attribute has one allowed combination of required, optional, computed and write-only",
        "configschema.InternalValidate",
        "Terraform refuses the provider.",
        "Set exactly one of required, optional, computed, or optional with computed.",
    ),
    row(
        ("S-06", Must, 0),
        "Nesting modes and item bounds are valid, and sets hold no dynamic or write-only values",
        "configschema.InternalValidate",
        "Terraform refuses the provider.",
        "Correct the bounds, or use a list.",
    ),
    row(
        ("S-07", Must, 0),
        "Names are valid, unique and not reserved",
        "Terraform language",
        "The attribute can never be set.",
        "Use lower-case letters, digits and underscores; avoid names of meta-arguments.",
    ),
    row(
        ("S-08", Should, 0),
        "Names of types carry the provider's prefix",
        "Terraform provider addressing",
        "Users must write `provider = ` in every block.",
        "Begin every type name with the provider's name and an underscore.",
    ),
    row(
        ("S-09", Must, 0),
        "GetMetadata lists exactly the types and capabilities of the schema",
        "tfplugin GetMetadata",
        "Newer hosts do not see some of the types.",
        "Build both answers from one table.",
    ),
    row(
        ("S-10", Must, 0),
        "Works in a process that never served its schema when it says that this is optional",
        "get_provider_schema_optional",
        "Calls fail as soon as the host caches schemas.",
        "Build the tables of types at start, not in GetProviderSchema.",
    ),
    row(
        ("S-11", Must, 1),
        "The capability plan_destroy matches the answers to destroy plans",
        "ServerCapabilities",
        "Destruction is refused, or its checks are skipped.",
        "Set the capability only with a handler for null proposed states.",
    ),
    row(
        ("S-12", Must, 0),
        "No schema version is lower than in the previous release",
        "Terraform state upgrade",
        "States written by the previous release can no longer be read.",
        "Never lower a schema version.",
    ),
    row(
        ("S-13", Must, 0),
        "No attribute was removed or retyped without a new schema version",
        "Terraform state upgrade",
        "Stored states fail to decode after the provider's upgrade.",
        "Raise the schema version and write an upgrader.",
    ),
    row(
        ("S-14", Should, 0),
        "Everything is described, and deprecations say what to use instead",
        "registry documentation",
        "Users cannot find out what an attribute does.",
        "Write a description for each type and attribute.",
    ),
    // Not a must, because a name is only a sign.
    row(
        ("S-15", Should, 0),
        "Attributes whose names smell of secrets are sensitive or write-only",
        "heuristic on names",
        "The secret is printed in plans and logs.",
        "Mark the attribute as sensitive.",
    ),
    row(
        ("S-16", Must, 0),
        "Identity schemas have primitive types and something to import by",
        "Terraform identity schemas",
        "Import by identity is refused.",
        "Use primitives or lists of primitives; mark one as required for import.",
    ),
    row(
        ("S-17", Must, 0),
        "Functions have unique, named parameters and readable types",
        "Terraform functions",
        "The function cannot be called.",
        "Give each parameter a name and a type of its own.",
    ),
    row(
        ("S-18", Should, 0),
        "Attributes that are optional and computed say what they default to",
        "registry documentation",
        "Users do not know what they get when they leave it out.",
        "Describe the default.",
    ),
];
