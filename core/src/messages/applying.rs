//! Messages of an apply.

use formwork_value::messages;

messages! {
    "Applying"
    APPLYING

    FW5001 INTERRUPTED_OPERATION_WAS_RESOLVED = "An interrupted operation was resolved",
        "An operation was interrupted, in an earlier run or because the provider returned no usable answer. The provider has now reported its outcome.",
        "No action is needed.";

    FW5002 JOURNAL_CANNOT_BE_WRITTEN = "Journal cannot be written",
        "The journal, which makes interrupted runs recoverable, could not be written, so no further change was begun.",
        "Check the free space and the permissions of the location that the detail names. Then run the command again.";

    FW5003 OUTCOME_OPERATION_IS_UNKNOWN = "Outcome of an operation is unknown",
        "A call to create an object failed in a way that leaves open whether the object exists.",
        "Plan again: the provider is asked for the object. If it cannot determine whether the object exists, decide with `formwork recover`.";

    FW5004 OBJECT_IS_STORED_INCOMPLETELY = "Object is stored incompletely",
        "The provider created or changed an object but returned an invalid result, so the state has a part of it.",
        "Plan again to read the object, and report it to the authors of the provider.";

    FW5005 PROVIDER_PRODUCED_INCONSISTENT_RESULT = "Provider produced inconsistent result after apply",
        "The provider returned another value than it had planned. This is a bug in the provider.",
        "The object is stored. Report it to the authors of the provider.";

    FW5006 PROVIDER_PRODUCED_INVALID_OBJECT = "Provider produced invalid object",
        "The provider returned an object that does not fit its schema. This is a bug in the provider.",
        "Report it to the authors of the provider.";

    FW5007 PROVIDER_RETURNED_INVALID_RESULT = "Provider returned invalid result object after apply",
        "The provider left values unknown after an apply. This is a bug in the provider.",
        "The known part is stored. Report it to the authors of the provider.";

    FW5008 CONFIGURATION_CONTAINS_UNKNOWN_VALUE = "Configuration contains unknown value",
        "A value is still unknown when the object that needs it is applied.",
        "Apply again. If it stays unknown, report it to the authors of the provider that should set it.";

    FW5009 MODULE_INSTANCE_DOES_NOT_EXIST = "Module instance does not exist",
        "The plan has an object in an instance of a module that no longer exists.",
        "Plan again, and keep the `count` or `for_each` of the module the same until the apply.";

    FW5010 PROVIDER_PRODUCED_INCONSISTENT_FINAL_PLAN = "Provider produced inconsistent final plan",
        "The provider planned something else once values became known. This is a bug in the provider.",
        "Apply again, and report it to the authors of the provider.";

    FW5011 PROVISIONER_NOT_READY = "Provisioner not ready",
        "A provisioner was not available when it should run. This is a bug in Formwork.",
        "Report it with the configuration.";

    FW5012 PROVISIONING_INTERRUPTED = "Provisioning interrupted",
        "The run was interrupted before a provisioner ran.",
        "Run the command again. A new object is tainted and is replaced. An object that was to be destroyed stays.";
}
