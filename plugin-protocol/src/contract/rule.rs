//! The rules for answers, each with its id, text, source and the party that it protects.
//!
//! The check of a rule with `in NAME` is the file `rule/NAME.rs`, with its cases. `check`, its neighbours and
//! `conform` report the other rules, most of them several in one pass over an object.

mod identity_known;
mod identity_offered;
mod identity_type;

use std::fmt;

use super::answer::RuleCheck;
#[cfg(test)]
use super::fixtures::Case;

/// Generates the rules, the table of their properties, and the list of the checks in files.
macro_rules! rules {
    ($(
        $(#[doc = $text:literal])+
        $rule:ident = $id:literal, $source:ident, $affected:literal $(, in $file:ident)?;
    )*) => {
        /// A rule for the answers of providers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {$(
            $(#[doc = $text])+
            $rule,
        )*}

        impl Rule {
            /// All rules, in the order of their table.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// Returns its id, which never changes.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$rule => $id,)* }
            }

            /// Returns its text.
            #[must_use]
            pub fn text(self) -> &'static str {
                // A doc comment keeps the space after its slashes.
                match self { $(Self::$rule => concat!($($text),+).trim_ascii(),)* }
            }

            /// Returns the file of Terraform 1.11 that demands it.
            #[must_use]
            pub fn terraform_file(self) -> &'static str {
                match self { $(Self::$rule => $source,)* }
            }

            /// Returns the party that is affected if the rule is broken.
            #[must_use]
            pub fn affected_party(self) -> &'static str {
                match self { $(Self::$rule => $affected,)* }
            }
        }

        /// The checks of the rules with a file of their own, in the order of the rules.
        pub(super) const CHECKS_IN_FILES: &[RuleCheck] = &[$($($file::check,)?)*];

        /// The cases of the rules with a file of their own.
        #[cfg(test)]
        pub(super) fn cases_in_files() -> Vec<Case> {
            [$($($file::cases(),)?)*].into_iter().flatten().collect()
        }
    };
}

const TERRAFORM_FILE_PROTOCOL: &str = "docs/plugin-protocol/tfplugin6.proto";
const TERRAFORM_FILE_LIFECYCLE: &str = "docs/resource-instance-change-lifecycle.md";
const TERRAFORM_FILE_PLAN_VALID: &str = "internal/plans/objchange/plan_valid.go";
const TERRAFORM_FILE_COMPATIBLE: &str = "internal/plans/objchange/compatible.go";
const TERRAFORM_FILE_RESOURCE_INSTANCE: &str =
    "internal/terraform/node_resource_abstract_instance.go";
const TERRAFORM_FILE_IMPORT: &str = "internal/terraform/node_resource_import.go";

rules! {
    /// A call is not deferred, unless the host allowed it.
    NotDeferred = "not-deferred", TERRAFORM_FILE_PROTOCOL,
        "the user: nothing was done, and the run cannot continue";
    /// The answer has an object, if only a null one.
    ObjectPresent = "object-present", TERRAFORM_FILE_PROTOCOL,
        "the user: a real object that exists would be forgotten";
    /// The object is not null.
    ObjectNotNull = "object-not-null", TERRAFORM_FILE_RESOURCE_INSTANCE,
        "the user: the run cannot continue without an object";
    /// The object is wholly known.
    ObjectKnown = "object-known", TERRAFORM_FILE_LIFECYCLE,
        "the state: unknown values cannot be stored";
    /// The object has the type that the schema implies.
    ObjectType = "object-type", TERRAFORM_FILE_RESOURCE_INSTANCE,
        "the host: expressions cannot use the object";
    /// A write-only attribute is null in every answer.
    WriteOnlyNull = "write-only-null", TERRAFORM_FILE_RESOURCE_INSTANCE,
        "the user: a secret would be stored";
    /// The resource type of an identity has identities.
    IdentityOffered = "identity-offered", TERRAFORM_FILE_PROTOCOL,
        "the state: the identity cannot be read again", in identity_offered;
    /// An identity has the form of its schema.
    IdentityType = "identity-type", TERRAFORM_FILE_PROTOCOL,
        "the state: the identity cannot be read again", in identity_type;
    /// An identity is wholly known.
    IdentityKnown = "identity-known", TERRAFORM_FILE_LIFECYCLE,
        "the user: the object cannot be found by it", in identity_known;
    /// An imported object has the requested resource type.
    ImportType = "import-type", TERRAFORM_FILE_IMPORT,
        "the user: the object would be managed as another kind";
    /// The plan to destroy an object is null.
    DestroyPlanNull = "destroy-plan-null", TERRAFORM_FILE_RESOURCE_INSTANCE,
        "the user: the object would not be destroyed";
    /// A destroyed object is null.
    DestroyedNull = "destroyed-null", TERRAFORM_FILE_RESOURCE_INSTANCE,
        "the user: an object that costs money may still exist";
    /// A path that forces replacement exists before or after the change.
    ReplacePathExists = "replace-path-exists", TERRAFORM_FILE_RESOURCE_INSTANCE,
        "the user: an object is replaced for no visible reason";
    /// Planned objects and blocks exist exactly where the configuration has them.
    PlanExistence = "plan-existence", TERRAFORM_FILE_PLAN_VALID,
        "the author: what is written does not happen";
    /// A planned value is the configured one, or the prior one if the two mean the same.
    PlanConfigKept = "plan-config-kept", TERRAFORM_FILE_PLAN_VALID,
        "the author: what is written does not happen";
    /// The provider chooses only values of computed attributes.
    PlanComputedOnly = "plan-computed-only", TERRAFORM_FILE_PLAN_VALID,
        "the author: the object gets values that the configuration does not explain";
    /// A configured nested attribute is not planned as unknown.
    PlanNestedKnown = "plan-nested-known", TERRAFORM_FILE_PLAN_VALID,
        "the author: the plan does not show what is written";
    /// Nested attributes and blocks are planned as many, and under the keys, as configured.
    PlanElements = "plan-elements", TERRAFORM_FILE_PLAN_VALID,
        "the author: elements are lost or made up";
    /// Absent nested blocks are planned as an empty collection, not as null.
    PlanBlocksNotNull = "plan-blocks-not-null", TERRAFORM_FILE_PLAN_VALID,
        "the host: expressions over the blocks fail";
    /// Nested blocks are planned as known objects, with unknown attributes where needed.
    PlanBlocksKnown = "plan-blocks-known", TERRAFORM_FILE_PLAN_VALID,
        "the host: expressions over the blocks fail";
    /// The blocks of a `dynamic` block over an unknown value are planned as unknown.
    PlanDynamicKept = "plan-dynamic-kept", TERRAFORM_FILE_PLAN_VALID,
        "the author: blocks are guessed before they are known";
    /// An object or block exists afterwards if and only if it was planned to.
    ResultExistence = "result-existence", TERRAFORM_FILE_COMPATIBLE,
        "the user: something else happens than was approved";
    /// A planned value is the value afterwards.
    ResultValue = "result-value", TERRAFORM_FILE_COMPATIBLE,
        "the user: something else happens than was approved";
    /// A value that was planned as known is known afterwards.
    ResultKnown = "result-known", TERRAFORM_FILE_COMPATIBLE,
        "the host: what was evaluated with the value is void";
    /// A value has the type with which it was planned.
    ResultType = "result-type", TERRAFORM_FILE_COMPATIBLE,
        "the host: what was evaluated with the value is void";
    /// A value that was planned as unknown fits the refinements of the plan.
    ResultPlaceholder = "result-placeholder", TERRAFORM_FILE_COMPATIBLE,
        "the host: what was evaluated with the value is void";
    /// Collections and blocks have the planned elements afterwards.
    ResultElements = "result-elements", TERRAFORM_FILE_COMPATIBLE,
        "the user: something else happens than was approved";
    /// Computed blocks are not null afterwards.
    ResultBlocksNotNull = "result-blocks-not-null", TERRAFORM_FILE_COMPATIBLE,
        "the host: expressions over the blocks fail";
    /// A change that was shown as an update stays one while applying.
    FinalPlanInPlace = "final-plan-in-place", TERRAFORM_FILE_RESOURCE_INSTANCE,
        "the user: an object would be destroyed without approval";
    /// The result of a function has its return type.
    FunctionType = "function-type", TERRAFORM_FILE_PROTOCOL,
        "the host: expressions cannot use the result";
    /// The result of a function is known if all arguments are.
    FunctionKnown = "function-known", TERRAFORM_FILE_PROTOCOL,
        "the author: a plan does not show what is written";
    /// A state store chooses a size of chunks that is possible.
    ChunkSize = "chunk-size", TERRAFORM_FILE_PROTOCOL,
        "the host: a state cannot be sent";
    /// The lock of a state has an ID.
    LockId = "lock-id", TERRAFORM_FILE_PROTOCOL,
        "the user: the lock could not be released";
    /// Listed states have distinct IDs.
    StateIds = "state-ids", TERRAFORM_FILE_PROTOCOL,
        "the user: a workspace could not be selected";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
