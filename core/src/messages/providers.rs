//! Messages of providers: their processes, and answers that break the contract.

use formwork_value::messages;

messages! {
    "Providers"
    PROVIDERS

    FW3001 INVALID_IMPORT_IDENTITY_ARGUMENT = "Invalid import identity argument",
        "The identity in an `import` block does not fit the schema of the resource type.",
        "Set the attributes that the provider documents for the identity. Use `id` if the type has no identity.";

    FW3002 PROVIDER_DEFERRED_CHANGES = "Provider deferred changes when deferrals are not allowed",
        "The provider put a change off although this run does not allow it. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW3003 PROVIDER_PRODUCED_NULL_OBJECT = "Provider produced null object",
        "The provider returned no object for a data source. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW3004 FAILED_TO_START_PROVIDER = "Failed to start provider {provider}",
        "The program of the provider could not be started, or ended before it was ready.",
        "Read the output in the detail. `formwork init` installs the program again if it is damaged.";

    FW3005 INCOMPATIBLE_PROVIDER = "Incompatible provider {provider}",
        "The program of the provider does not speak a plugin protocol that Formwork supports.",
        "Use another version of the provider.";

    FW3006 INVALID_DATA_SOURCE = "Invalid data source",
        "The provider has no data source of this type.",
        "Correct the type, or use a version of the provider that has it.";

    FW3007 INVALID_EPHEMERAL_RESOURCE = "Invalid ephemeral resource",
        "The provider has no ephemeral resource of this type.",
        "Correct the type, or use a version of the provider that has it.";

    FW3008 INVALID_RESOURCE_TYPE = "Invalid resource type",
        "The provider has no resource type of this name.",
        "Correct the type, or use a version of the provider that has it.";

    FW3009 NO_SCHEMA_FOR_RESOURCE = "No schema available for a resource in the state",
        "The state has a resource of a type that this version of the provider does not have.",
        "Use a version of the provider that has the type, or remove the resource from the state.";

    FW3010 PLUGIN_DID_NOT_RESPOND = "Plugin did not respond",
        "The provider ended or closed its connection during a call.",
        "Read the output in the detail, and report a crash to the authors of the provider.";

    FW3011 PLUGIN_ERROR = "Plugin error",
        "The provider answered a call with an error of the transport, not with a diagnostic.",
        "Report it to the authors of the provider with the message in the detail.";

    FW3012 PROVIDER_BROKE_PLUGIN_PROTOCOL = "Provider broke the plugin protocol",
        "The provider sent something that the plugin protocol does not allow. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW3013 PROVIDER_CALL_WAS_GIVEN_UP = "Provider call was given up",
        "The provider did not answer a call within its deadline.",
        "Try again. `FORMWORK_PLUGIN_DEADLINES` sets longer deadlines for a slow service.";

    FW3014 PROVIDER_DOES_NOT_SUPPORT_THIS_OPERATION = "Provider does not support this operation",
        "The provider does not implement a call that the configuration needs.",
        "Use a newer version of the provider, or do without the feature.";

    FW3015 PROVIDER_WAS_ASKED_SECOND_TIME = "Provider was asked a second time",
        "A call that changes nothing failed on its way, and succeeded when it was repeated.",
        "No action is needed. If it happens often, report it to the authors of the provider.";

    FW3016 REQUEST_CANNOT_BE_SENT = "Request cannot be sent",
        "A request to the provider is larger than a message can be, or cannot be encoded.",
        "Reduce the size of the values of the resource.";

    FW3017 INVALID_RESOURCE_STATE_UPGRADE = "Invalid resource state upgrade",
        "The provider returned an invalid object when it converted a stored object to its current schema. This is a bug in the provider.",
        "Report it to the authors of the provider. Use the version that wrote the state until it is corrected.";

    FW3018 MANAGED_BY_NEWER_PROVIDER = "Resource instance managed by newer provider version",
        "A newer version of the provider stored the object, and this version cannot read it.",
        "Use the newer version, with `formwork init -upgrade`.";

    FW3019 PROVIDER_STRING_NOT_UTF8 = "Provider returned a string that is not valid UTF-8",
        "The provider returned text that is not valid UTF-8. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW3020 PROVIDER_PRODUCED_INVALID_EPHEMERAL = "Provider produced invalid ephemeral resource instance",
        "The provider opened an ephemeral resource with a result that does not fit its schema or configuration. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW3021 PROVIDER_PRODUCED_INVALID_IDENTITY = "Provider produced invalid identity",
        "The provider returned an identity that does not fit its schema, or that changed. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW3022 IMPORT_RETURNED_NO_RESOURCES = "Import returned no resources",
        "The provider found nothing to import under the id.",
        "Check the id. The documentation of the resource type describes its form.";

    FW3023 IMPORT_RETURNED_NULL_RESOURCE = "Import returned null resource",
        "The provider answered an import with an object that is null. This is a bug in the provider.",
        "Check the id, and report it to the authors of the provider.";

    FW3024 IMPORT_RETURNED_WRITE_ONLY_VALUE = "Import returned a non-null value for a write-only attribute",
        "The provider answered an import with a value for a write-only attribute. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW3025 MULTIPLE_IMPORT_STATES_NOT_SUPPORTED = "Multiple import states not supported",
        "The provider found several objects under one id, or objects of another type.",
        "Use an id that names one object of this type. The documentation of the type describes its form.";

    FW3026 PROVIDER_RETURNED_INVALID_VALUE = "Provider returned invalid value",
        "The provider answered an import with an object that does not fit its schema. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW3027 UNSUPPORTED_MOVE_ACROSS_TYPES = "Unsupported `moved` across resource types",
        "A `moved` block changes the type of a resource, and the provider cannot convert the object.",
        "Remove the object from the state and import it under the new type.";

    FW3028 OBJECT_IS_TOO_LARGE_TO_BE_STORED = "Object is too large to be stored",
        "The provider returned an object or private data larger than Formwork stores.",
        "Reduce the size of the values of the resource, or report it to the authors of the provider.";

    FW3029 PROVIDER_PRODUCED_INVALID_SCHEMA = "Provider produced invalid schema",
        "The schema of the provider contradicts itself. This is a bug in the provider.",
        "Use another version, and report it to the authors of the provider.";

    FW3030 DIAGNOSTICS_NOT_SHOWN = "{n} more {severity} are not shown",
        "The provider reported more diagnostics in one answer than Formwork shows.",
        "Correct the first ones, and run the command again.";

    FW3031 READ_ONLY_ATTRIBUTE = "{name} attribute is read-only",
        "The block of a `terraform_data` sets an attribute that only the provider sets.",
        "Remove the argument. `input` sets the value of `output`.";

    FW3032 UNSUPPORTED_SOURCE_OF_MOVE = "Unsupported source of a move",
        "A `moved` block moves an object to a `terraform_data` that cannot be converted to one.",
        "Move a `null_resource` of the provider `hashicorp/null`, or remove the block and let the object be replaced.";

    FW3033 INVALID_STORED_OBJECT = "Invalid stored object",
        "The state holds a `terraform_data` in a form that the built-in provider does not support.",
        "Restore a backup of the state, or remove the object from it with `formwork state rm`.";

    FW3034 NO_BACKENDS = "No backends",
        "The program that embeds the engine does not read the states of other configurations.",
        "Pass the values as variables instead of using `terraform_remote_state`.";

    FW3035 INVALID_DEFAULT_VALUES = "Invalid default values",
        "The argument `defaults` of a `terraform_remote_state` is not an object.",
        "Write an object with the outputs that may be missing, such as `{ name = null }`.";
}
