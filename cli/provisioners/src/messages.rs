//! Messages of provisioners.

use formwork_value::messages;

messages! {
    "Provisioners"
    PROVISIONERS

    FW5401 PROVISIONER_ERROR = "{kind} provisioner error",
        "A provisioner failed. The detail contains the reason and the output.",
        "Correct the command, script or connection, and apply again. A new object is tainted, and the next apply replaces it. If a destroy-time provisioner failed, the object is not destroyed.";

    FW5402 FILE_SOURCE_AND_CONTENT = "Cannot set both 'source' and 'content'",
        "A `file` provisioner has both `source` and `content`.",
        "Remove one of the two arguments.";

    FW5403 FILE_SOURCE_OR_CONTENT = "Must provide one of 'source' or 'content'",
        "A `file` provisioner has neither `source` nor `content`.",
        "Set one of the two arguments.";

    FW5404 INVALID_LOCAL_EXEC_COMMAND = "Invalid local-exec provisioner command",
        "The command of a `local-exec` provisioner is empty or null.",
        "Set `command` to a string that is not empty.";

    FW5405 INVALID_REMOTE_EXEC_CONFIGURATION = "Invalid remote-exec provisioner configuration",
        "A `remote-exec` provisioner has none or more than one of `inline`, `script` and `scripts`.",
        "Set exactly one of them.";
}
