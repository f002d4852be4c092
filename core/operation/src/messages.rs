//! Messages of operations: saved plans, generated configuration, import, recovery.

pub use formwork_backend::messages::*;
use formwork_value::messages;

messages! {
    "Operations and saved plans"
    OPERATIONS

    FW5201 ERRORED_STATE_HAS_MORE = "errored.tfstate has objects that the state does not have",
        "A run that could not store its state wrote it to `errored.tfstate`. The file has objects that the state lacks.",
        "Store it with `formwork state push errored.tfstate`.";

    FW5202 ERRORED_STATE_DIVERGED = "errored.tfstate has objects that the state does not have",
        "A run that could not store its state wrote it to `errored.tfstate`. The state has changed in another way since then.",
        "Do not push the file. Import the objects that only the file has, then delete it.";

    FW5203 ERRORED_STATE_OF_OTHER_LINEAGE = "errored.tfstate belongs to another state",
        "A run that could not store its state wrote `errored.tfstate`. The lineage of the file differs from that of this state.",
        "Move it to the workspace that it belongs to, or delete it.";

    FW5204 ERRORED_STATE_OUTDATED = "errored.tfstate is out of date",
        "The state already has every object in `errored.tfstate`.",
        "Delete the file.";

    FW5205 ERRORED_STATE_UNREADABLE = "errored.tfstate cannot be read",
        "A run that could not store its state wrote `errored.tfstate`. The file is truncated or was changed.",
        "Compare the real objects with the state, then delete the file.";

    FW5206 IMPORT_INTO_DATA_RESOURCE = "A managed resource address is required. Importing into a data resource is not allowed.",
        "The address given to `formwork import` is that of a data source.",
        "Specify a managed resource. Data sources are read in every run.";

    FW5207 NO_BLOCK_TO_IMPORT_INTO = "resource address {address} does not exist in the configuration.",
        "The resource given to `formwork import` has no block in the configuration.",
        "Add the resource block first.";

    FW5208 APPLIED_CHANGES_MAY_BE_INCOMPLETE = "Applied changes may be incomplete",
        "The plan was limited with `-target` or `-exclude`, so other changes may remain.",
        "Plan once more without these options.";

    FW5209 EMPTY_OR_NON_EXISTENT_STATE = "Empty or non-existent state",
        "The state has no objects, so there is nothing to refresh.",
        "No action is needed. Check the workspace and the backend if objects are expected.";

    FW5210 EXECUTION_HALTED = "execution halted",
        "The run was interrupted before it was complete. The state contains all changes that were made.",
        "Run the command again.";

    FW5211 JOURNAL_ON_THIS_MACHINE_ONLY = "The journal of this run is kept on this machine only",
        "The state is shared, but the backend cannot store the journal of a run.",
        "Configure the backend as `docs/backends.md` describes for journals, or keep this machine available until the run ends.";

    FW5212 ERRORED_STATE_EXISTS = "There is an errored.tfstate",
        "A run that could not store its state left it in `errored.tfstate`.",
        "Follow the detail: the file may have objects that the state lacks.";

    FW5213 OBJECTS_MAY_EXIST = "Objects may exist already",
        "The plan creates objects that an `errored.tfstate` already has.",
        "Store or import those objects first. Otherwise they are created a second time.";

    FW5214 CONFIG_GENERATION_IS_EXPERIMENTAL = "Config generation is experimental",
        "Configuration was generated for imported objects.",
        "Review the generated file before you apply.";

    FW5215 FAILED_TO_CREATE_TARGET_GENERATED_FILE = "Failed to create target generated file",
        "The file for generated configuration could not be written.",
        "Check the path of `-generate-config-out` and the permissions of its directory.";

    FW5216 IMPORT_TO_NON_EXISTENT_MODULE = "Import to non-existent module",
        "The module given to `formwork import` has no call in the configuration.",
        "Add the module call first.";

    FW5217 PROVIDER_LEFT_PROCESS_RUNNING = "Provider left a process running",
        "A provider started a process that left the provider's process group and is still running.",
        "End the process if it is not needed, and report the problem to the provider's authors.";

    FW5218 CANNOT_APPLY_INCOMPLETE_PLAN = "Cannot apply incomplete plan",
        "The plan has errors, so it cannot be applied.",
        "Correct the errors and plan again.";

    FW5219 PLAN_IS_STALE = "Plan is stale",
        "The state changed after the plan was created.",
        "Plan again.";

    FW5220 ADOPTED_OBJECT_HAS_NO_BLOCK = "Adopted object has no block",
        "An object was added to the state, but no block in the configuration covers its address.",
        "Add a block before the next apply. Otherwise the object is destroyed.";

    FW5221 ANOTHER_OBJECT_IS_MANAGED_HERE = "Another object is managed here",
        "The state already has another object at the address of the recovered operation.",
        "Remove or move that object first.";

    FW5222 ID_OBJECT_IS_MISSING = "The id of the object is missing",
        "`formwork recover adopt` requires the id of the object, which is not in the journal.",
        "Pass the id as a further argument.";

    FW5223 OBJECT_DIFFERS_FROM_PLAN = "Object differs from the plan",
        "The object with the given id does not have the attributes that were planned.",
        "Check the id. If it is the right object, repeat the command with `-force`.";

    FW5224 OBJECT_IS_MANAGED_ALREADY = "Object is managed already",
        "The state already has the object with the given id, at another address.",
        "Check the id, or move the object with `formwork state mv`.";

    FW5225 NOTHING_TO_SETTLE = "Nothing to settle",
        "No interrupted run left an operation open at the address.",
        "No action is needed. `formwork recover list` shows the open operations.";

    FW5226 NO_OPERATION_SELECTED = "No operation selected",
        "The command settles operations, but no operation is specified.",
        "Specify the instance, or use `-all`. `formwork recover list` shows the open operations.";

    FW5227 INVALID_PLAN_FILE = "Invalid plan file",
        "The saved plan lacks a part, or a part cannot be read.",
        "Create a new plan.";

    FW5228 SAVED_PLAN_DOES_NOT_MATCH_GIVEN_STATE = "Saved plan does not match the given state",
        "The saved plan was created for a state with a different lineage.",
        "Select the workspace and backend of the plan, or create a new plan.";

    FW5229 SAVED_PLAN_IS_FOR_ANOTHER_WORKSPACE = "Saved plan is for another workspace",
        "The saved plan was created in another workspace.",
        "Select that workspace with `formwork workspace select`.";

    FW5230 SAVED_PLAN_IS_STALE = "Saved plan is stale",
        "The state changed after the saved plan was created.",
        "Create a new plan.";

    FW5231 SAVED_PLAN_CANNOT_BE_VERIFIED = "Saved plan cannot be verified",
        "The saved plan is sealed, but no key to verify the seal is available.",
        "Set `FORMWORK_PLAN_KEY` to the same secret where plans are created and where they are applied.";

    FW5232 SAVED_PLAN_WAS_CHANGED = "Saved plan was changed",
        "The content of the saved plan does not match its seal.",
        "Create a new plan.";

    FW5233 SAVED_PLAN_WAS_MADE_ELSEWHERE = "Saved plan was made elsewhere",
        "The saved plan has no seal, or was sealed with another key, so another user or machine may have created it.",
        "Set `FORMWORK_PLAN_KEY` to the same secret in both places, or review the plan and use `-allow-foreign-plan`.";

    FW5234 CANNOT_CHANGE_VARIABLE_WHEN_APPLYING_SAVED_PLAN = "Can't change variable when applying a saved plan",
        "The value of a variable differs from the one in the saved plan.",
        "Remove the option, or create a new plan with the other value.";

    FW5235 EPHEMERAL_VARIABLE_WAS_NOT_SET_DURING_PLANNING = "Ephemeral variable was not set during planning",
        "An ephemeral variable is set for the apply, but was not set for the plan.",
        "Remove the value, or create a new plan with it.";

    FW5236 EPHEMERAL_VARIABLE_NOT_SET = "No value for required variable",
        "An ephemeral variable was set when the plan was created, and its value is not stored in the plan.",
        "Set the variable for the apply too.";

    FW5237 IGNORING_VARIABLE_WHEN_APPLYING_SAVED_PLAN = "Ignoring variable when applying a saved plan",
        "A value is set for a variable whose value the saved plan has already fixed.",
        "Remove the option. The value of the plan is used.";

    FW5238 INTERRUPTED_OPERATION_NEEDS_DECISION = "An interrupted operation needs a decision",
        "An earlier run was interrupted during an operation, and only the user can determine its outcome.",
        "Run one of the commands of `formwork recover` that the detail lists.";

    FW5239 SEVERAL_OPERATIONS_ARE_OPEN = "Several operations are open",
        "Several open operations now belong to the same address.",
        "Use the former address of the operation you mean. The detail lists these addresses.";

    FW5240 STATE_SAVED_ASIDE = "State saved aside",
        "The state could not be stored in its usual location, and was written to the file that the detail names.",
        "Correct the cause, then store the file with `formwork state push`.";

    FW5241 OPTION_MATCHES_NOTHING = "The option {option} matches nothing",
        "An option specifies an address that exists neither in the configuration nor in the state.",
        "Correct the address.";

    FW5242 INVALID_GENERATE_CONFIG_OUT = "Invalid generate-config-out flag",
        "`-generate-config-out` is used with a destroy or refresh-only plan.",
        "Remove the option, or create a normal plan.";

    FW5243 GENERATED_FILE_EXISTS = "Target generated file already exists",
        "`-generate-config-out` names an existing file. Generated configuration is written only to a new file.",
        "Choose another file name, or move the file away.";

    FW5244 TEST_STATE_CANNOT_BE_KEPT = "The state of a test run cannot be kept",
        "The directory that holds the states of test runs until their objects are destroyed cannot be created, or it is or contains a symbolic link, which could come from a checkout.",
        "Remove the link, make the data directory writable, or set `TF_DATA_DIR` to another directory.";

    FW5245 NO_VALUE_FOR_REQUIRED_RUN_VARIABLE = "No value for required variable",
        "The module of a test run has a variable that has no default and is not set.",
        "Set it in a `variables` block of the test file or of the run, with `-var`, or in a variable file.";

    FW5246 TARGETING_IN_TEST_RUN = "Resource targeting is in effect",
        "The `plan_options` of a test run limit its plan to a part of the configuration.",
        "No action is needed. Remove `target` to test the whole configuration.";

    FW5248 OVERRIDE_TARGET_DOES_NOT_EXIST = "Invalid override target",
        "An override of a test file names a resource, data source or module that is not in the configuration.",
        "Correct the address, or remove the block.";

    FW5249 REPLACEMENT_IN_REFRESH_ONLY_RUN = "Unsupported plan mode",
        "The `plan_options` of a test run have `replace` and `mode = refresh-only`, which changes no objects.",
        "Remove one of them.";

    FW5250 JOURNAL_COULD_NOT_BE_FINISHED = "Journal could not be finished",
        "The state of a run is stored, but the journal of the run could not be completed or deleted.",
        "Correct the cause, such as a full disk. No other action is needed.";

    FW5251 JOURNAL_IS_UNDER_ANOTHER_NAME = "Journal is under another name",
        "The state file was moved or copied after a run was interrupted, or the address of the remote state has changed, so the journal of that run is in the directory of the former name.",
        "Rename the state file back, run the command for the state file that the detail names, or move the journal to the directory that it names.";

    FW5252 STATE_LACKS_RESULTS_OF_RUN = "State lacks results of a run",
        "`workspace new -state` or `state push` names a state file that has the journal of an unfinished run next to it.",
        "Run a command with that state first. It takes over the results. `state push -force` stores the file as it is.";

    FW5253 INCOMPATIBLE_REFRESH_OPTIONS = "Incompatible refresh options",
        "`-refresh-only` and `-refresh=false` together leave nothing to do.",
        "Remove one of the two options.";

    FW5254 UNSUPPORTED_PLAN_MODE = "Unsupported plan mode",
        "`-replace` cannot be combined with `-destroy` or `-refresh-only`.",
        "Remove one of the two options.";

    FW5255 TOO_MANY_OPERATIONS = "Too many operations",
        "An id is given with an address that matches several operations.",
        "Specify one operation.";

    FW5256 STATE_IS_NOT_LOCAL = "State is not in a local file",
        "A program that embeds the engine stores the state unencrypted in the configuration directory, but the configuration specifies another location or encryption.",
        "Remove the block, or use a program that supports the backend or encryption of the block.";
}
