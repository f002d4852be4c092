//! Messages of a plan: its graph, its steps and its file.

use formwork_value::messages;

messages! {
    "Planning"
    PLANNING

    FW4001 FAILED_TO_WRITE_PLAN_FILE = "Failed to write plan file",
        "The plan could not be written to its file.",
        "Check the path of `-out`, the permissions of its directory and the free space.";

    FW4002 RESOURCE_ALREADY_MANAGED_BY_FORMWORK = "Resource already managed by Formwork",
        "The target of an import already has an object in the state.",
        "Import to another address, or remove the object from the state first.";

    FW4003 PROVIDER_PRODUCED_INVALID_PLAN = "Provider produced invalid plan",
        "The provider planned a value that contradicts the configuration or its schema. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW4004 CYCLE = "Cycle",
        "The steps of the run depend on each other in a cycle.",
        "Report it with the configuration.";

    FW4005 CYCLE_OF_VALUES = "Cycle: {objects}",
        "The named objects depend on each other in a cycle, so that none can be first. The cause can be references, `create_before_destroy` or the state.",
        "Follow the end of the detail, which shows the reason for each step.";

    FW4006 EPHEMERAL_RESOURCE_NOT_RENEWED = "Ephemeral resource not renewed",
        "The provider failed to renew an ephemeral resource, so its values may expire during the run.",
        "Run the command again if calls fail that use the values.";

    FW4007 INVALID_USE_EPHEMERAL_VALUE = "Invalid use of ephemeral value",
        "An argument that is stored is set to an ephemeral value.",
        "Use a write-only argument, or a value that is not ephemeral.";

    FW4008 PROVIDER_META_UNSUPPORTED = "Provider {provider} doesn't support provider_meta",
        "A `provider_meta` block is set for a provider that takes none.",
        "Remove the block.";

    FW4009 OBJECT_CANNOT_BE_STORED = "Object cannot be stored",
        "An object contains a value that a state cannot hold, such as an infinite number.",
        "Change the expression that the value results from.";

    FW4010 INVALID_PROVIDER_CONFIGURATION = "Invalid provider configuration",
        "A `provider` block is missing or incomplete, and the provider refuses to work without it.",
        "Add the `provider` block with the required arguments.";

    FW4011 PROVIDER_NOT_CONFIGURED = "Provider not configured",
        "A provider was needed before it was configured. This is a bug in Formwork, or follows from an earlier error.",
        "Correct the other errors first. Report it if there are none.";

    FW4012 PROVIDER_NOT_LOADED = "Provider not loaded",
        "A provider was needed before it was loaded. This is a bug in Formwork, or follows from an earlier error.",
        "Correct the other errors first. Report it if there are none.";

    FW4013 MISSING_REQUIRED_PROVISIONER_PLUGIN = "Missing required provisioner plugin",
        "A provisioner of this type does not exist.",
        "Use `local-exec`, `remote-exec` or `file`.";

    FW4014 FAILED_TO_LOAD_AS_PLAN_FILE = "Failed to load {file} as a plan file",
        "The file is damaged, too large, or not a saved plan.",
        "Check the path, or create a new plan.";

    FW4015 FAILED_TO_READ_PLAN_FROM_PLAN_FILE = "Failed to read plan from plan file",
        "Another version of Formwork or Terraform created the saved plan.",
        "Plan again with this version.";

    FW4016 NO_CHANGE_FOUND = "no change found for {name}{key} in {module}",
        "`replace_triggered_by` names an instance that does not exist.",
        "Name an instance that the `count` or `for_each` of the resource creates.";

    FW4017 INTERRUPTED_OPERATION_COULD_NOT_BE_RESOLVED = "An interrupted operation could not be resolved",
        "An earlier run was interrupted while it created an object, and the provider cannot determine whether the object exists.",
        "Look for the object, then decide with `formwork recover`.";

    FW4018 OBJECTS_NO_LONGER_MANAGED = "Some objects will no longer be managed by Terraform",
        "`removed` blocks make the apply forget objects without destroying them.",
        "No action is needed if the objects are to stay. Otherwise destroy them by other means.";

    FW4019 REMOVED_STILL_EXISTS = "Removed {object} still exists",
        "A `removed` block names a resource or module that the configuration still has.",
        "Remove the `removed` block, or the block that it names.";

    FW4020 CANNOT_INDEX_SET_VALUE = "Cannot index a set value",
        "A nested block that forms a set is used with an index.",
        "Use a `for` expression over the set, or `one` if it has one element.";

    FW4021 DEPRECATED_ATTRIBUTE = "Deprecated attribute",
        "The configuration uses an attribute that the provider marks as deprecated.",
        "Use the replacement that the provider documents.";

    FW4022 INVALID_INDEX_OPERATION = "Invalid index operation",
        "An index is applied to something that has no elements.",
        "Remove the index, or use an attribute that is a collection.";

    FW4023 INVALID_OPERATION = "Invalid operation",
        "A nested block that forms a list or map is used like a single one.",
        "Name an element with an index, or all of them with `[*]`.";

    FW4024 INVALID_RESOURCE_COUNT_ATTRIBUTE = "Invalid resource count attribute",
        "The attribute `count` is read from a resource, as in old configurations.",
        "Use `length(RESOURCE)`.";

    FW4025 REDUNDANT_IGNORE_CHANGES_ELEMENT = "Redundant ignore_changes element",
        "`ignore_changes` names an attribute that only the provider sets, so it has no effect.",
        "Remove the element.";

    FW4026 CANNOT_IMPORT_NON_EXISTENT_REMOTE_OBJECT = "Cannot import non-existent remote object",
        "The provider found no object under the id that is imported.",
        "Check the id and the account or region of the provider.";

    FW4027 INSTANCE_CANNOT_BE_DESTROYED = "Instance cannot be destroyed",
        "The plan would destroy an object with `prevent_destroy`.",
        "Remove `prevent_destroy`, or avoid the change that destroys the object, for example with `-target`.";

    FW4028 INCOMPLETELY_MATCHED_FORCE_REPLACE_RESOURCE_INSTANCE = "Incompletely-matched force-replace resource instance",
        "`-replace` names a resource with several instances without an index.",
        "Add the index of the instance, and repeat the option for others.";

    FW4029 TOO_MANY_CALLS_PROVIDER_FUNCTIONS = "Too many calls of provider functions",
        "The configuration calls functions of providers more often than Formwork records for one run.",
        "Reduce the calls, for example with a local value for repeated results.";
}
