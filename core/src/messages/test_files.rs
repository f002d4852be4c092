//! Messages of test files and their runs.

use formwork_value::messages;

messages! {
    "Test files"
    TEST_FILES

    FW2601 TEST_ASSERTION_FAILED = "Test assertion failed",
        "An assertion of a run is not met. The detail contains the message that its author wrote.",
        "Correct the module, or the assertion.";

    FW2602 UNKNOWN_CONDITION_VALUE = "Unknown condition value",
        "An assertion of a run with `command = plan` depends on a value that is known only after the apply.",
        "Use `command = apply`, or leave the value out of the condition.";

    FW2603 INVALID_CONDITION_RUN = "Invalid condition run",
        "The condition of an assertion is null or not a bool.",
        "Write a condition that is true or false.";

    FW2604 REFERENCE_TO_UNDECLARED_OUTPUT = "Reference to undeclared output value",
        "An assertion refers to an output that the module does not have.",
        "Correct the name, or declare the output in the module.";

    FW2605 REFERENCE_TO_UNDECLARED_RUN = "Reference to undeclared run block",
        "An assertion refers to a run that has not run before, or that the file does not have.",
        "Refer to an earlier run of the same file.";

    FW2606 REFERENCE_TO_UNAVAILABLE_VARIABLE = "Reference to unavailable variable",
        "An expression of a test file refers to a variable that has no value at that level.",
        "Set the variable in the `variables` block of the file, with `-var` or in a variable values file.";

    FW2607 REFERENCE_TO_UNAVAILABLE_RUN = "Reference to unavailable run block",
        "A run refers to a run that comes later in the file.",
        "Move the run that is referred to before this one.";

    FW2608 REFERENCE_TO_UNKNOWN_RUN = "Reference to unknown run block",
        "A run refers to a run that its file does not have.",
        "Correct the name. Runs of other files cannot be referred to.";

    FW2609 REFERENCE_TO_UNKNOWN_VALUE = "Reference to unknown value",
        "A run refers to an output that an earlier run with `command = plan` did not know.",
        "Use `command = apply` in the earlier run.";

    FW2610 VALUE_FOR_UNDECLARED_RUN_VARIABLE = "Value for undeclared variable",
        "A run sets a variable that its module does not declare.",
        "Remove the value, or move it to the `variables` block of the file.";

    FW2611 MISSING_PROVIDER_DEFINITION = "Missing provider definition for {provider}",
        "The argument `providers` of a run names a provider configuration that the test file does not have.",
        "Add the `provider` block to the test file.";

    FW2612 MISSING_EXPECTED_FAILURE = "Missing expected failure",
        "A run lists an object in `expect_failures` whose conditions hold.",
        "Remove the object from the list, or set values that its conditions refuse.";

    FW2613 INVALID_EXPECT_FAILURES_REFERENCE = "Invalid `expect_failures` reference",
        "A run lists something in `expect_failures` that has no conditions.",
        "List variables, outputs, `check` blocks, resources and data sources only.";

    FW2614 EXPECTED_FAILURE_WHILE_PLANNING = "Expected failure while planning",
        "A run that applies expects a failure that occurs while planning already, so nothing is applied.",
        "Use `command = plan`.";

    FW2615 DUPLICATE_MOCK_BLOCK = "Duplicate {block_type} block",
        "A test file or mock data directory has two mocks of one type, or two overrides of one target.",
        "Remove one of them.";

    FW2616 UNREADABLE_MOCK_DATA = "Failed to read mock data directory",
        "The directory that the `source` of a `mock_provider` block names cannot be read.",
        "Correct the path. It is relative to the module directory.";

    FW2617 INVALID_TEST_DIRECTORY = "Invalid testing directory",
        "The option `-test-directory` names a directory that is not below the configuration directory.",
        "Name a directory below the configuration directory, relative to it.";

    FW2618 INCOMPATIBLE_PLAN_OPTIONS = "Incompatible plan options",
        "The `plan_options` of a run have `mode = refresh-only` and `refresh = false`, so nothing would be done.",
        "Remove one of them.";

    FW2619 NO_EPHEMERAL_MOCKS = "No ephemeral resource types in mock providers",
        "A run opens an ephemeral resource of a provider that is mocked.",
        "Use the real provider in this run, or leave the ephemeral resource out of it.";

    FW2620 UNFIT_MOCKED_VALUE = "Failed to compute attribute",
        "A value of a `mock_resource`, `mock_data` or `override` block does not fit the schema of the attribute.",
        "Correct the value in the block that the message names.";

    FW2621 IMPORT_FROM_MOCK_PROVIDER = "Invalid import request",
        "A run imports an object of a provider that is mocked, so there is nothing to import.",
        "Use an `override_resource` block that targets the resource, or the real provider.";
}
