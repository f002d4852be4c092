//! Messages of backends: locks, stored states, claims and encryption.

pub use formwork_core::messages::*;
use formwork_value::messages;

messages! {
    "Backends"
    BACKENDS

    FW6201 FAILED_TO_LIST_WORKSPACES = "Failed to list workspaces",
        "The backend could not list its workspaces.",
        "Check the credentials and the address of the backend.";

    FW6202 INVALID_BACKEND_CONFIGURATION = "Invalid backend configuration",
        "An argument of the backend is missing, unknown or has a value that is not allowed.",
        "Correct the `backend` block, the option `-backend-config` or the `terraform_remote_state`.";

    FW6203 DEPRECATED_PARAMETER = "Deprecated Parameter",
        "The configuration of the backend uses a deprecated argument.",
        "Use the argument that the detail suggests.";

    FW6204 ANOTHER_RUN_IS_CHANGING_SAME_OBJECTS = "Another run is changing the same objects",
        "Another run has claimed objects that this plan changes or depends on.",
        "Wait until that run has ended, or use `-lock-timeout`.";

    FW6205 STATE_HAS_CHANGED_SINCE_PLAN_WAS_MADE = "State has changed since the plan was made",
        "Another run changed objects that this plan changes or depends on.",
        "Plan again.";

    FW6206 PLAN_FILE_CANNOT_BE_DECRYPTED = "Plan file cannot be decrypted",
        "None of the configured methods can decrypt the saved plan.",
        "Configure the method and key that encrypted the plan.";

    FW6207 PLAN_FILE_IS_ENCRYPTED = "Plan file is encrypted",
        "The saved plan is encrypted, and no encryption is configured.",
        "Configure the `encryption` block or `TF_ENCRYPTION` as they were configured when the plan was created.";

    FW6208 INVALID_ENCRYPTION_CONFIGURATION = "Invalid encryption configuration",
        "A key provider or method in the `encryption` block has an invalid argument.",
        "Correct the argument.";

    FW6209 UNKNOWN_ENCRYPTION_METHOD_TYPE = "Unknown encryption method type",
        "A method in the `encryption` block has an unknown type.",
        "Use one of the types that the detail lists.";

    FW6210 UNKNOWN_KEY_PROVIDER_TYPE = "Unknown key_provider type",
        "A key provider in the `encryption` block has an unknown type.",
        "Use one of the types that the detail lists.";

    FW6211 STATE_FILE_IS_MISSING = "State file is missing",
        "The state file does not exist, but a backup of it does.",
        "If the state was deleted by mistake, restore the backup. Otherwise objects are created a second time.";

    FW6212 DEPRECATED_ENVIRONMENT_VARIABLE = "Deprecated Environment Variable",
        "A deprecated environment variable is set.",
        "Use the variable that the detail names.";

    FW6213 ERROR_ACQUIRING_STATE_LOCK = "Error acquiring the state lock",
        "The state could not be locked. No other process is known to hold the lock.",
        "Check the location of the state, its permissions and the credentials.";

    FW6214 STATE_IS_LOCKED = "Error acquiring the state lock",
        "Another process holds the lock of the state.",
        "Wait until it ends, or use `-lock-timeout`. Use `formwork force-unlock` only if the holder does not run any more.";

    FW6215 ERROR_RELEASING_STATE_LOCK = "Error releasing the state lock",
        "The backend refused to release the lock or could not be reached, so the state may stay locked.",
        "Once no run uses the state, run `formwork force-unlock` with the ID that the next command prints. With the backend `pg`, the lock is released when the connection closes.";

    FW6216 FAILED_TO_CHANGE_WORKSPACES = "Failed to change workspaces",
        "The backend could not create or delete a workspace.",
        "Check the credentials and permissions.";

    FW6217 FAILED_TO_ENCRYPT_STATE = "Failed to encrypt the state",
        "The state could not be encrypted, so it was not stored.",
        "Check the key provider.";

    FW6218 FAILED_TO_REACH_BACKEND = "Failed to reach the backend",
        "The backend could not be opened.",
        "Check its address, the credentials and the network.";

    FW6219 FAILED_TO_READ_STATE = "Failed to read the state",
        "The state could not be read from the backend.",
        "Check the credentials and the network.";

    FW6220 FAILED_TO_SAVE_STATE = "Failed to save the state",
        "The state could not be written to the backend.",
        "Correct the cause that the detail names, then run any command. It takes over the results from the journal.";

    FW6221 FAILED_TO_UNLOCK_STATE = "Failed to unlock state",
        "`formwork force-unlock` could not release the lock.",
        "Check the lock ID.";

    FW6222 STATE_BELONGS_TO_ANOTHER_LINEAGE = "State belongs to another lineage",
        "The new state and the stored state have different lineages.",
        "Check the backend and workspace. `formwork state push -force` replaces the stored state.";

    FW6223 STATE_FILE_WAS_REPLACED = "State file was replaced",
        "Another program replaced the state file during the run.",
        "Run the command again. It takes over the results of this run from the journal.";

    FW6224 STATE_WAS_CHANGED_BY_ANOTHER_PROGRAM = "State was changed by another program",
        "Another program stored a newer state during the run.",
        "Plan again, and make sure that every program uses the lock.";

    FW6225 WORKSPACES_NOT_SUPPORTED = "workspaces not supported",
        "The backend supports only one workspace, `default`.",
        "Select the workspace `default`, or use a backend that supports workspaces.";

    FW6226 UNEXPECTED_CHUNK_SIZE = "Unexpected size of chunk received",
        "The provider of a state store sent a chunk of the state whose size differs from the negotiated one.",
        "No action is needed for this run, because the state was complete. Report the problem to the provider's authors.";

    FW6227 NO_IDENTITY_FOR_SEALED_VALUES = "No identity for sealed values",
        "The run would seal values to recipients, but this user has no identity that can open them again.",
        "Set the identity of the key provider, for example with its environment variable, or add a recipient whose identity you have.";

    FW6228 STATE_WOULD_NOT_BE_KEPT = "Failed to save the state",
        "The path of the state is not a regular file but, for example, a pipe or /dev/null, which does not keep its content.",
        "Specify a regular file with the argument `path` of the backend or the option -state-out.";

    FW6229 REMOTE_STATE_NOT_FOUND = "Unable to find remote state",
        "A `terraform_remote_state` refers to a location that has no state.",
        "Correct its `config` and `workspace`, or apply the other configuration first.";

    FW6230 REMOTE_STATE_UNREADABLE = "Error loading state",
        "A `terraform_remote_state` refers to a state that its backend cannot read.",
        "Correct the arguments and the credentials.";

    FW6231 BACKEND_LEFT_OUT_OF_BUILD = "Backend is not part of this build",
        "This build of the program was compiled without the feature that includes the backend.",
        "Use a build with the feature that the detail names.";

    FW6232 KEY_PROVIDER_LEFT_OUT_OF_BUILD = "Key provider is not part of this build",
        "This build of the program was compiled without the feature that includes the key provider.",
        "Use a build with the feature that the detail names.";
}
