//! Messages of states: their files, edits, journals and recovery.

use formwork_value::messages;

messages! {
    "State and journals"
    STATE

    FW6001 INVALID_MOVE_TARGET = "Invalid target address",
        "The destination of a move is occupied, or is of another kind than the source.",
        "Name a free address of the same kind.";

    FW6002 NO_SUCH_RESOURCE_INSTANCE = "No such resource instance",
        "The state has no instance with the given address.",
        "Correct the address. `formwork state list` shows all addresses.";

    FW6003 STATE_FILE_IS_EMPTY = "State file is empty",
        "The state file has no content.",
        "Restore it from its backup. Delete it only if there never were any objects.";

    FW6004 UNKNOWN_MODULE = "Unknown module",
        "The state has no module with the given address.",
        "Correct the address. `formwork state list` shows all addresses.";

    FW6005 UNKNOWN_RESOURCE = "Unknown resource",
        "The state has no resource with the given address.",
        "Correct the address. `formwork state list` shows all addresses.";

    FW6006 UNKNOWN_RESOURCE_INSTANCE = "Unknown resource instance",
        "The state has the resource but no instance with the given key.",
        "Correct the key. `formwork state list` shows all addresses.";

    FW6007 ERROR_MOVING_STATE = "Error moving state",
        "An object cannot be moved within the state.",
        "Correct the addresses.";

    FW6008 INVALID_MOVE_SOURCE = "Invalid source address",
        "The address to move from does not exist in the state, or cannot be moved.",
        "Correct the address. `formwork state list` shows all addresses.";

    FW6009 INVALID_STATE_MOVE_REQUEST = "Invalid state move request",
        "The two addresses of a move are of different kinds.",
        "Name two modules, two resources or two instances.";

    FW6010 RESOURCE_INSTANCE_IS_NOT_TAINTED = "Resource instance is not tainted",
        "`formwork untaint` names an instance that is not tainted.",
        "No action is needed.";

    FW6011 STATE_FILE_CANNOT_BE_DECRYPTED = "State file cannot be decrypted",
        "None of the configured methods can decrypt the state.",
        "Configure the method and key with which the state was written, if needed as a fallback.";

    FW6012 STATE_FILE_IS_DAMAGED = "State file is damaged",
        "The state file is not valid JSON.",
        "Restore it from its backup. It was truncated or edited by hand.";

    FW6013 STATE_FILE_IS_ENCRYPTED = "State file is encrypted",
        "The state is encrypted, and no encryption is configured.",
        "Configure the `encryption` block or `TF_ENCRYPTION` as it was when the state was written.";

    FW6014 NEWER_STATE_FILE_FORMAT = "Unsupported state file format",
        "A newer program wrote the state in a format that this version does not support.",
        "Use that program, or a newer version of Formwork.";

    FW6015 NO_STATE_FILE_FORMAT = "Unsupported state file format",
        "The file has no format version, so it is probably not a state.",
        "Check the path. Restore the file from its backup if it should be a state.";

    FW6016 OLDER_STATE_FILE_FORMAT = "Unsupported state file format",
        "The state has a format before version 3, which Formwork does not support.",
        "Convert it with Terraform 0.15.4 or later, as the detail describes.";

    FW6017 DUPLICATE_RESOURCE_INSTANCE_IN_STATE = "Duplicate resource instance in state",
        "The state file has two objects for one instance.",
        "Restore the file from its backup, or remove one of the objects from it.";

    FW6018 INVALID_MODULE_INSTANCE_ADDRESS = "Invalid module instance address",
        "The state file contains an address of a module that is not valid.",
        "Correct the file, or restore it from its backup.";

    FW6019 INVALID_NAME_IN_STATE = "Invalid name in state",
        "The state file contains a name that is not valid.",
        "Correct the file, or restore it from its backup.";

    FW6020 INVALID_OUTPUT_VALUE_SAVED_IN_STATE = "Invalid output value saved in state",
        "The state file contains an output whose value does not fit its type.",
        "Correct the file, or restore it from its backup.";

    FW6021 INVALID_OUTPUT_VALUE_TYPE_IN_STATE = "Invalid output value type in state",
        "The state file contains an output with an invalid type.",
        "Correct the file, or restore it from its backup.";

    FW6022 INVALID_PATH_IN_STATE = "Invalid path in state",
        "The state file marks a part of an object as sensitive with an invalid path.",
        "Correct the file, or restore it from its backup.";

    FW6023 INVALID_PROVIDER_CONFIGURATION_ADDRESS_IN_STATE = "Invalid provider configuration address in state",
        "The state file contains an address of a provider configuration that is not valid.",
        "Correct the file, for example with `formwork state replace-provider`, or restore it from its backup.";

    FW6024 INVALID_RESOURCE_INSTANCE_METADATA_IN_STATE = "Invalid resource instance metadata in state",
        "The state file contains an instance with contradicting or invalid metadata.",
        "Correct the file, or restore it from its backup.";

    FW6025 INVALID_RESOURCE_MODE_IN_STATE = "Invalid resource mode in state",
        "The state file contains a resource that is neither managed nor a data source.",
        "Correct the file, or restore it from its backup.";

    FW6026 INVALID_STATE_FILE_FORMAT = "Invalid state file format",
        "The state file is JSON, but not in the form of a state.",
        "Check that the file is a state. Correct it, or restore it from its backup.";

    FW6027 INVALID_TERRAFORM_VERSION_STRING = "Invalid Terraform version string",
        "The state file names a version of Terraform that is not a version.",
        "Correct the file, or restore it from its backup.";

    FW6028 ANOTHER_PROCESS_HAS_TAKEN_OVER_THIS_RUN = "Another process has taken over this run",
        "Another process took over the journal of this run, so this run has lost the lock of the state.",
        "Make sure that no two runs change the state at the same time, then run the command again.";

    FW6029 FAILED_TO_DECRYPT_JOURNAL = "Failed to decrypt the journal",
        "The journal of an interrupted run is encrypted with a key that is not available.",
        "Provide the key with which the run was started.";

    FW6030 FAILED_TO_LOCK_JOURNAL = "Failed to lock the journal",
        "The file system cannot lock the journal, or another process holds the lock.",
        "Use a file system with locks, or wait until the other process ends.";

    FW6031 FAILED_TO_TAKE_OVER_JOURNAL = "Failed to take over the journal",
        "The journal of an interrupted run could not be read or moved.",
        "Check the permissions of the location that the detail names, then run the command again.";

    FW6032 FAILED_TO_WRITE_JOURNAL = "Failed to write the journal",
        "The journal of the run could not be written.",
        "Check the free space and the permissions of the location that the detail names.";

    FW6033 JOURNAL_BELONGS_TO_ANOTHER_STATE = "Journal belongs to another state",
        "A journal is beside a state of another lineage than that of the interrupted run.",
        "Restore the earlier state. The detail describes how to continue with this one.";

    FW6034 JOURNAL_CANNOT_BE_READ = "Journal cannot be read",
        "The journal of an interrupted run could not be read.",
        "Check the permissions of the location that the detail names. Do not delete the journal: it contains the results of the run.";

    FW6035 STATE_IS_MISSING = "State is missing",
        "A journal of an interrupted run exists, but the state with which the run began does not.",
        "Restore the state from a backup.";

    FW6036 AN_OPERATION_WAS_INTERRUPTED = "An operation was interrupted",
        "An earlier run was interrupted during a change, and the outcome of the change is unknown.",
        "Plan again: most operations resolve themselves. Decide the others with `formwork recover`.";

    FW6037 INTERRUPTED_RUN_WAS_TAKEN_OVER = "An interrupted run was taken over",
        "An earlier run was interrupted before it saved its results, and this run continues from its journal.",
        "No action is needed.";

    FW6038 STATE_IS_OLDER_THAN_JOURNAL = "State is older than the journal",
        "The stored state is older than the one with which an interrupted run began.",
        "Check whether a backup was copied over it, and compare the real objects with the state.";

    FW6039 JOURNAL_IS_DAMAGED = "Journal is damaged",
        "A part of the journal of an interrupted run cannot be read, so results may be lost.",
        "Compare the real objects with the state before the next apply.";

    FW6040 UNKNOWN_OBJECTS_MAY_EXIST = "An interrupted run may have left unknown objects",
        "The damaged part of a journal may have held the creation of objects.",
        "Look for objects that are not in the state, and import or delete them. The detail names the candidates.";

    FW6041 STATE_FORMAT_UPGRADE_FAILED = "State format upgrade failed",
        "A state of version 3, from Terraform 0.11 or earlier, has a part that cannot be converted to version 4.",
        "Correct the part that the detail names, or restore the file from its backup.";

    FW6042 ANOTHER_RUN_MAY_BE_GOING_ON = "Another run may be in progress",
        "The state has no lock, and the journal of another run was written a short time ago.",
        "Wait until that run has ended, or until the time that the detail names if it was interrupted.";
}
