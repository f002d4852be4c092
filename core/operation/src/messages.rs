//! Messages of operations: saved plans, generated configuration, import, recovery.

pub use formwork_backend::messages::*;
use formwork_value::messages;

messages! {
    "Operations and saved plans"
    OPERATIONS

    FW5201 ERRORED_STATE_HAS_MORE = "errored.tfstate has objects that the state does not have",
        "A run that could not store its state left it in `errored.tfstate`, with objects that the state lacks.",
        "Store it with `formwork state push errored.tfstate`.";

    FW5202 ERRORED_STATE_DIVERGED = "errored.tfstate has objects that the state does not have",
        "A run that could not store its state left it in `errored.tfstate`, and the state has changed in another way since.",
        "Do not push the file. Import the objects that only it has, then remove it.";

    FW5203 ERRORED_STATE_OF_OTHER_LINEAGE = "errored.tfstate belongs to another state",
        "The file `errored.tfstate` belongs to another state.",
        "Move it to the workspace that it belongs to, or remove it.";

    FW5204 ERRORED_STATE_OUTDATED = "errored.tfstate is out of date",
        "The state already has every object in `errored.tfstate`.",
        "Remove the file.";

    FW5205 ERRORED_STATE_UNREADABLE = "errored.tfstate cannot be read",
        "The file `errored.tfstate` cannot be read.",
        "Compare the real objects with the state, then remove the file.";

    FW5206 IMPORT_INTO_DATA_RESOURCE = "A managed resource address is required. Importing into a data resource is not allowed.",
        "`formwork import` names a data source.",
        "Name a managed resource. Data sources are read in every run.";

    FW5207 NO_BLOCK_TO_IMPORT_INTO = "resource address {address} does not exist in the configuration.",
        "`formwork import` names a resource that the configuration does not have.",
        "Add the resource block first.";

    FW5208 APPLIED_CHANGES_MAY_BE_INCOMPLETE = "Applied changes may be incomplete",
        "The plan was limited with `-target` or `-exclude`, so other changes may remain.",
        "Plan once more without these options.";

    FW5209 EMPTY_OR_NON_EXISTENT_STATE = "Empty or non-existent state",
        "The state has no objects, so there is nothing to refresh.",
        "No action is needed. Check the workspace and the backend if objects are expected.";

    FW5210 EXECUTION_HALTED = "execution halted",
        "The run was interrupted before it was complete. The state has everything that was done.",
        "Run the command again.";

    FW5211 JOURNAL_ON_THIS_MACHINE_ONLY = "The journal of this run is kept on this machine only",
        "The state is shared, but the backend cannot keep the journal of a run.",
        "Give the backend what `docs/backends.md` lists for journals, or keep this machine available until the run ends.";

    FW5212 ERRORED_STATE_EXISTS = "There is an errored.tfstate",
        "A run that could not store its state left it in `errored.tfstate`.",
        "Follow the detail: the file may have objects that the state lacks.";

    FW5213 OBJECTS_MAY_EXIST = "Objects may exist already",
        "The plan creates objects that an `errored.tfstate` already has.",
        "Store or import those objects first, or they are created a second time.";

    FW5214 CONFIG_GENERATION_IS_EXPERIMENTAL = "Config generation is experimental",
        "Configuration was generated for imported objects.",
        "Review the generated file before the apply.";

    FW5215 FAILED_TO_CREATE_TARGET_GENERATED_FILE = "Failed to create target generated file",
        "The file for generated configuration could not be written.",
        "Check the path of `-generate-config-out` and the permissions of its folder.";

    FW5216 IMPORT_TO_NON_EXISTENT_MODULE = "Import to non-existent module",
        "`formwork import` names a module that the configuration does not have.",
        "Add the module call first.";

    FW5217 PROVIDER_LEFT_PROCESS_RUNNING = "Provider left a process running",
        "A provider started a process that left its process group and still runs.",
        "End the process if it is not needed, and report it to the authors of the provider.";

    FW5218 CANNOT_APPLY_INCOMPLETE_PLAN = "Cannot apply incomplete plan",
        "The plan has errors, so it cannot be applied.",
        "Correct the errors and plan again.";

    FW5219 PLAN_IS_STALE = "Plan is stale",
        "The state changed after the plan was made.",
        "Plan again.";

    FW5220 ADOPTED_OBJECT_HAS_NO_BLOCK = "Adopted object has no block",
        "An object was taken into the state, but no block has a place for it.",
        "Add its block before the next apply, or the object is destroyed.";

    FW5221 ANOTHER_OBJECT_IS_MANAGED_HERE = "Another object is managed here",
        "The state already has another object at the address that is recovered.",
        "Remove or move that object first.";

    FW5222 ID_OBJECT_IS_MISSING = "The id of the object is missing",
        "`formwork recover adopt` needs the id of the object, which the journal does not have.",
        "Give the id as a further argument.";

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
        "The command settles operations, and none is named.",
        "Name the instance, or use `-all`. `formwork recover list` shows the open operations.";

    FW5227 INVALID_PLAN_FILE = "Invalid plan file",
        "The saved plan lacks a part, or a part cannot be read.",
        "Make a new plan.";

    FW5228 SAVED_PLAN_DOES_NOT_MATCH_GIVEN_STATE = "Saved plan does not match the given state",
        "The saved plan was made for a state of another lineage.",
        "Select the workspace and backend of the plan, or make a new plan.";

    FW5229 SAVED_PLAN_IS_FOR_ANOTHER_WORKSPACE = "Saved plan is for another workspace",
        "The saved plan was made in another workspace.",
        "Select that workspace with `formwork workspace select`.";

    FW5230 SAVED_PLAN_IS_STALE = "Saved plan is stale",
        "The state changed after the saved plan was made.",
        "Make a new plan.";

    FW5231 SAVED_PLAN_CANNOT_BE_VERIFIED = "Saved plan cannot be verified",
        "The saved plan is sealed, but there is no key to check the seal.",
        "Set `FORMWORK_PLAN_KEY` to the same secret where plans are made and applied.";

    FW5232 SAVED_PLAN_WAS_CHANGED = "Saved plan was changed",
        "The content of the saved plan does not match its seal.",
        "Make a new plan.";

    FW5233 SAVED_PLAN_WAS_MADE_ELSEWHERE = "Saved plan was made elsewhere",
        "The saved plan has no seal, or the seal of another key: another user or machine may have made it.",
        "Set `FORMWORK_PLAN_KEY` to the same secret in both places, or review the plan and use `-allow-foreign-plan`.";

    FW5234 CANNOT_CHANGE_VARIABLE_WHEN_APPLYING_SAVED_PLAN = "Can't change variable when applying a saved plan",
        "A variable has another value than in the saved plan.",
        "Remove the option, or make a new plan with the other value.";

    FW5235 EPHEMERAL_VARIABLE_WAS_NOT_SET_DURING_PLANNING = "Ephemeral variable was not set during planning",
        "An ephemeral variable is set for the apply but was not set for the plan.",
        "Remove the value, or make a new plan with it.";

    FW5236 EPHEMERAL_VARIABLE_NOT_SET = "No value for required variable",
        "An ephemeral variable was set for the saved plan, and its value is not in the plan.",
        "Set the variable for the apply too.";

    FW5237 IGNORING_VARIABLE_WHEN_APPLYING_SAVED_PLAN = "Ignoring variable when applying a saved plan",
        "A value is set for a variable that the saved plan has already fixed.",
        "Remove the option. The value of the plan is used.";

    FW5238 INTERRUPTED_OPERATION_NEEDS_DECISION = "An interrupted operation needs a decision",
        "An earlier run was interrupted during an operation, and only the user can tell its outcome.",
        "Run one of the commands of `formwork recover` that the detail lists.";

    FW5239 SEVERAL_OPERATIONS_ARE_OPEN = "Several operations are open",
        "Several operations were left open that belong to the address now.",
        "Use the former address of the right one, which the detail lists.";

    FW5240 STATE_SAVED_ASIDE = "State saved aside",
        "The state could not be stored in its place, and is now in the file that the detail names.",
        "Correct the cause, then store the file with `formwork state push`.";

    FW5241 OPTION_MATCHES_NOTHING = "The option {option} matches nothing",
        "An option names an address that neither the configuration nor the state has.",
        "Correct the address.";

    FW5242 INVALID_GENERATE_CONFIG_OUT = "Invalid generate-config-out flag",
        "`-generate-config-out` is used with a destroy or refresh-only plan.",
        "Remove the option, or make an ordinary plan.";

    FW5243 GENERATED_FILE_EXISTS = "Target generated file already exists",
        "The file for generated configuration already exists.",
        "Choose another file name, or move the file away.";

    FW5244 TEST_STATE_CANNOT_BE_KEPT = "The state of a test run cannot be kept",
        "The folder that has the states of test runs until their objects are destroyed cannot be made, or a symbolic link that a checkout may contain is in its place or in it.",
        "Remove the link, make the data directory writable, or set `TF_DATA_DIR` to another one.";

    FW5245 NO_VALUE_FOR_REQUIRED_RUN_VARIABLE = "No value for required variable",
        "The module of a test run has a variable without a default, and nothing sets it.",
        "Set it in a `variables` block of the test file or of the run, with `-var`, or in a file of values.";

    FW5246 TARGETING_IN_TEST_RUN = "Resource targeting is in effect",
        "The `plan_options` of a test run limit its plan to a part of the configuration.",
        "No action is needed. Remove `target` to test the whole configuration.";

    FW5248 OVERRIDE_TARGET_DOES_NOT_EXIST = "Invalid override target",
        "An override of a test file names a resource, data source or module that the configuration does not have.",
        "Correct the address, or remove the block.";

    FW5249 REPLACEMENT_IN_REFRESH_ONLY_RUN = "Unsupported plan mode",
        "The `plan_options` of a test run have `replace` and `mode = refresh-only`, which changes no objects.",
        "Remove one of them.";

    FW5250 JOURNAL_COULD_NOT_BE_FINISHED = "Journal could not be finished",
        "The state of a run is stored, but the end of the run could not be written to its journal, or the journal could not be removed.",
        "No action is needed, apart from the cause, such as a full disk.";

    FW5251 JOURNAL_IS_UNDER_ANOTHER_NAME = "Journal is under another name",
        "The state file was moved or copied after a run was interrupted, or the remote state has another address now, so the journal of that run is in the folder of another name.",
        "Rename the state file back, run the command for the state file that the detail names, or move the journal to the folder that it names.";

    FW5252 STATE_LACKS_RESULTS_OF_RUN = "State lacks results of a run",
        "`workspace new -state` or `state push` names a state file beside which a run has left its journal.",
        "Run a command with that state first: it takes over the results. `state push -force` stores the file as it is.";

    FW5253 INCOMPATIBLE_REFRESH_OPTIONS = "Incompatible refresh options",
        "`-refresh-only` and `-refresh=false` leave nothing to do.",
        "Remove one of the two.";

    FW5254 UNSUPPORTED_PLAN_MODE = "Unsupported plan mode",
        "`-replace` cannot be combined with `-destroy` or `-refresh-only`.",
        "Remove one of the two options.";

    FW5255 TOO_MANY_OPERATIONS = "Too many operations",
        "An id is given for an address that stands for several operations.",
        "Name one operation.";

    FW5256 STATE_IS_NOT_LOCAL = "State is not in a local file",
        "A program that embeds the engine keeps the state unencrypted in the folder of the configuration, but the configuration names another place or encrypts its states.",
        "Remove the block, or use a program that opens the place that the block names.";
}
