//! Messages of evaluated blocks: conditions, repetition, moves, encryption.

use formwork_value::messages;

messages! {
    "Values of a configuration"
    VALUES

    FW2401 CHECK_BLOCK_ASSERTION_FAILED = "Check block assertion failed",
        "An assertion of a `check` block is not met. The detail contains the message that its author wrote.",
        "Correct what the assertion describes. A failed check does not stop a run.";

    FW2402 INVALID_CONDITION_RESULT = "Invalid condition result",
        "A condition is null, unknown where it must be known, or not a bool.",
        "Write a condition that is true or false.";

    FW2403 INVALID_VARIABLE_VALIDATION_RESULT = "Invalid variable validation result",
        "The condition of a `validation` block is null or not a bool.",
        "Write a condition that is true or false.";

    FW2404 TOO_MANY_MODULE_INSTANCES = "Too many module instances",
        "The `count` or `for_each` of a module call creates more instances than Formwork accepts.",
        "Reduce the number of instances, or split the configuration.";

    FW2405 CHECK_BLOCK_ASSERTION_KNOWN_AFTER_APPLY = "Check block assertion known after apply",
        "An assertion of a `check` block depends on values that are known only after the apply.",
        "No action is needed. The apply evaluates the assertion again.";

    FW2406 ERROR_MESSAGE_REFERS_TO_EPHEMERAL_VALUES = "Error message refers to ephemeral values",
        "The `error_message` of a condition contains an ephemeral value, so it is not shown.",
        "Remove the value from the message.";

    FW2407 ERROR_MESSAGE_REFERS_TO_SENSITIVE_VALUES = "Error message refers to sensitive values",
        "The `error_message` of a condition contains a sensitive value, so it is not shown.",
        "Remove the value from the message, or use `nonsensitive` if it may be shown.";

    FW2408 INVALID_ERROR_MESSAGE = "Invalid error message",
        "The `error_message` of a condition is null, unknown or not a string.",
        "Write a string that does not depend on unknown values.";

    FW2409 INVALID_VALUE_FOR_VARIABLE = "Invalid value for variable",
        "A `validation` block of the variable refuses its value. The detail contains the message that its author wrote.",
        "Set a value that meets the condition.";

    FW2410 MODULE_OUTPUT_VALUE_PRECONDITION_FAILED = "Module output value precondition failed",
        "A `precondition` of an output is not met. The detail contains the message that its author wrote.",
        "Correct the values that the condition checks.";

    FW2411 RESOURCE_POSTCONDITION_FAILED = "Resource postcondition failed",
        "A `postcondition` of a resource or data source is not met. The detail contains the message that its author wrote.",
        "Correct the arguments, or the object if it was changed outside.";

    FW2412 RESOURCE_PRECONDITION_FAILED = "Resource precondition failed",
        "A `precondition` of a resource or data source is not met. The detail contains the message that its author wrote.",
        "Correct the values that the condition checks.";

    FW2413 CIRCULAR_REFERENCE_DETECTED = "Circular reference detected",
        "Key providers of the `encryption` block refer to each other in a cycle.",
        "Remove one of these references.";

    FW2414 INVALID_ENCRYPTION_METHOD_IDENTIFIER = "Invalid encryption method identifier",
        "The method of an encryption target is not written as a reference to a method.",
        "Write `method.TYPE.NAME` without quotes.";

    FW2415 MISSING_ENCRYPTION_METHOD = "Missing encryption method",
        "A target of the `encryption` block has no method.",
        "Add the argument `method`.";

    FW2416 REFERENCE_TO_UNDECLARED_ENCRYPTION_METHOD = "Reference to undeclared encryption method",
        "An encryption target names a method that the `encryption` block does not have.",
        "Declare the method, or correct its name.";

    FW2417 REFERENCE_TO_UNDECLARED_KEY_PROVIDER = "Reference to undeclared key provider",
        "A method names a key provider that the `encryption` block does not have.",
        "Declare the key provider, or correct its name.";

    FW2418 UNENCRYPTED_METHOD_CONFIGURED = "Unencrypted method configured",
        "The `encryption` block contains the method `unencrypted`.",
        "Remove the method after the migration for which it was added.";

    FW2419 UNENCRYPTED_METHOD_IS_FORBIDDEN = "Unencrypted method is forbidden",
        "A target with `enforced = true` uses the method `unencrypted`.",
        "Use a method that encrypts, or remove `enforced` for the time of a migration.";

    FW2420 UNKNOWN_VALUE_IN_ENCRYPTION_BLOCK = "Unknown value in the encryption block",
        "The `encryption` block depends on a value that is not known before the run.",
        "Use literals, local values and variables with known values.";

    FW2421 INCORRECT_VALUE_TYPE = "Incorrect value type",
        "The value does not have the type that its argument requires.",
        "Use a value of the type that the detail names.";

    FW2422 INVALID_COUNT_ARGUMENT = "Invalid count argument",
        "The `count` is null, negative, not a whole number, too large or ephemeral.",
        "Use a whole number of at least 0.";

    FW2423 UNKNOWN_COUNT_ARGUMENT = "Invalid count argument",
        "The `count` depends on values that are known only after the apply, so the number of instances is not known.",
        "Use a value that is known during planning, or apply the objects it depends on first with `-target`.";

    FW2424 INVALID_FOR_EACH_ARGUMENT = "Invalid for_each argument",
        "The `for_each` is null, sensitive, ephemeral, or neither a map nor a set of strings.",
        "Use a map or a set of strings, for example with `toset`. Remove the sensitive mark of keys with `nonsensitive` if they may be shown.";

    FW2425 UNKNOWN_FOR_EACH_ARGUMENT = "Invalid for_each argument",
        "The keys in `for_each` depend on values that are known only after the apply, so the instances are not known.",
        "Use keys that are known during planning, and unknown values only in the values of a map. Or apply the objects they depend on first with `-target`.";

    FW2426 INVALID_FOR_EACH_SET_ARGUMENT = "Invalid for_each set argument",
        "The set in `for_each` contains null, an unknown value or another type than strings.",
        "Use a set of known strings, for example with `toset`.";

    FW2427 INVALID_REPETITION = "Invalid repetition",
        "The repetition of a block could not be determined. This is a bug in Formwork.",
        "Report it with the configuration.";

    FW2428 INVALID_INDEX_EXPRESSION = "Invalid index expression",
        "The index in the target of an `import` block is not a known string or number.",
        "Use a literal, or `each.key`.";

    FW2429 UNKNOWN_VARIABLE = "Unknown variable",
        "An expression of an `import` block refers to something that is not available there.",
        "Use `each.key` and `each.value` only.";

    FW2430 VALUE_READ_TOO_EARLY = "Value read too early",
        "A value was needed before it was computed. This is a bug in Formwork.",
        "Report it with the configuration.";

    FW2431 CIRCULAR_REFERENCE = "Circular reference",
        "Local values that must be known before the run refer to each other in a cycle.",
        "Remove one of these references.";

    FW2432 EPHEMERAL_VALUE_NOT_ALLOWED = "Ephemeral value not allowed",
        "An ephemeral value is used where values are stored.",
        "Declare the variable or output `ephemeral`, or pass the value to a write-only argument.";

    FW2433 OUTPUT_REFERS_TO_SENSITIVE_VALUES = "Output refers to sensitive values",
        "An output of the root module contains a sensitive value but is not declared sensitive.",
        "Add `sensitive = true` to the output, or use `nonsensitive` if the value may be shown.";

    FW2434 OUTPUT_VALUE_IS_NOT_FINITE = "Output value is not finite",
        "An output contains an infinite number, which a state cannot hold.",
        "Avoid the division by zero or the large numbers that it results from.";

    FW2435 SELF_REFERENCING_LOCAL_VALUE = "Self-referencing local value",
        "A local value refers to itself.",
        "Remove this reference, or split the value in two.";

    FW2436 VALUE_NOT_ALLOWED_IN_EPHEMERAL_OUTPUT = "Value not allowed in ephemeral output",
        "An output that is declared ephemeral has a value that is not.",
        "Remove `ephemeral = true`, or set an ephemeral value.";

    FW2437 MOVED_RESOURCE_INSTANCES_EXCLUDED_BY_TARGETING = "Moved resource instances excluded by targeting",
        "Objects that move to other addresses are outside the part of the plan that the options select.",
        "Add the addresses in the detail with `-target`, or plan without `-target` and `-exclude`.";

    FW2438 UNRESOLVED_RESOURCE_INSTANCE_ADDRESS_CHANGES = "Unresolved resource instance address changes",
        "Objects should move to addresses at which the state has other objects.",
        "Free the addresses with `formwork state mv` or `formwork state rm`, and plan again.";

    FW2439 AMBIGUOUS_MOVE_STATEMENTS = "Ambiguous move statements",
        "Two `moved` blocks give one object two destinations, or one address two objects.",
        "Keep one of them.";

    FW2440 CYCLIC_DEPENDENCY_IN_MOVE_STATEMENTS = "Cyclic dependency in move statements",
        "The `moved` blocks form a cycle.",
        "Remove one of the blocks. To swap two objects, use `formwork state mv`.";

    FW2441 MOVED_OBJECT_STILL_EXISTS = "Moved object still exists",
        "A `moved` block names a source that the configuration still has.",
        "Rename the block of the source, or remove the `moved` block.";

    FW2442 REDUNDANT_MOVE_STATEMENT = "Redundant move statement",
        "The two addresses of a `moved` block are the same.",
        "Remove the block.";
}
