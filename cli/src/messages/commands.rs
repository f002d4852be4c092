//! Messages of commands: options, workspaces, backends, files.

use formwork_value::messages;

messages! {
    "Commands and options"
    COMMANDS

    FW8001 APPLY_CANCELLED = "Apply cancelled",
        "The plan was not approved.",
        "Run the command again, and answer with yes.";

    FW8002 DESTROY_CANCELLED = "Destroy cancelled",
        "The destruction was not approved.",
        "Run the command again, and answer with yes.";

    FW8003 FAILED_TO_PARSE_COMMAND_LINE_FLAGS = "Failed to parse command-line flags",
        "An option does not exist, or its value is not allowed.",
        "Correct the option. `formwork COMMAND -help` lists the options.";

    FW8004 NO_SUCH_COMMAND = "Formwork has no command named {command}",
        "The first argument is not a command.",
        "Correct the command. `formwork -help` lists the commands.";

    FW8005 TOO_FEW_COMMAND_LINE_ARGUMENTS = "Too few command line arguments",
        "A required argument is missing.",
        "Add the argument. `formwork COMMAND -help` describes it.";

    FW8006 TOO_MANY_COMMAND_LINE_ARGUMENTS = "Too many command line arguments",
        "The command received more arguments than it accepts.",
        "Remove the extra argument. Options are written before the arguments, with a value after an equals sign.";

    FW8007 MIGRATION_NEEDS_APPROVAL = "Can't ask approval for state migration when interactive input is disabled.",
        "State migration requires approval, and `-input=false` disables prompts.",
        "Remove `-input=false`, or use `-force-copy`.";

    FW8008 APPROVAL_CANNOT_BE_ASKED_FOR = "Approval cannot be asked for",
        "The plan requires approval, and prompts are disabled.",
        "Use `-auto-approve`, or apply a saved plan.";

    FW8009 DESTROY_WITH_PLAN_FILE = "Destroy can't be called with a plan file",
        "`destroy` does not accept a saved plan.",
        "Create a plan with `plan -destroy -out=FILE`, and apply it with `apply FILE`.";

    FW8010 ERROR_ASKING_FOR_APPROVAL = "Error asking for approval",
        "The prompt for approval was interrupted.",
        "Run the command again.";

    FW8011 INVALID_MODE_OPTION = "Invalid mode option",
        "`destroy` sets the planning mode, so options for other modes are not allowed.",
        "Remove the option.";

    FW8012 PLAN_FILE_OR_AUTO_APPROVE_REQUIRED = "Plan file or auto-approve required",
        "With `-json`, the command cannot prompt for approval.",
        "Add `-auto-approve`, or apply a saved plan.";

    FW8013 BACKEND_CONFIGURATION_CHANGED = "Backend configuration changed",
        "The `backend` block differs from the backend that was set up.",
        "Run `formwork init` with `-migrate-state` to move the states, or with `-reconfigure` to keep them where they are.";

    FW8014 FAILED_TO_WRITE_STATE = "Failed to write state",
        "A state could not be stored in the new backend.",
        "Check the backend and its permissions.";

    FW8015 INVALID_BACKEND_CONFIGURATION_ARGUMENT = "Invalid backend configuration argument",
        "`-backend-config` sets an unsupported backend argument, or a value that is not allowed.",
        "Correct the option.";

    FW8016 MISSING_BACKEND_CONFIGURATION = "Missing backend configuration",
        "`-backend-config` is used without a `backend` block.",
        "Add a `backend` block to the root module, or remove the option.";

    FW8017 STATE_WAS_LEFT_BEHIND = "State was left behind",
        "The backend was set up again, and the states of the former backend were not moved.",
        "No action is needed if that is intended. Otherwise run `formwork init -migrate-state` with the former configuration.";

    FW8018 UNSUPPORTED_BACKEND_TYPE = "Unsupported backend type",
        "Formwork does not support this backend type.",
        "Use one of the types that the detail names.";

    FW8019 INVALID_USE_TYPE_FUNCTION = "Invalid use of type function",
        "The console function `type` is used inside another expression.",
        "Use `type(...)` as the whole expression.";

    FW8020 FAILED_TO_WRITE_FILE = "Failed to write file",
        "A formatted file could not be written.",
        "Check the permissions of the file.";

    FW8021 NO_FILE_OR_DIRECTORY_AT = "No file or directory at {name}",
        "An argument of `fmt` is not an existing file or directory.",
        "Correct the path.";

    FW8022 UNSUPPORTED_FMT_FILE = "Only .tf, .tfvars, and .tftest.hcl files can be processed with formwork fmt",
        "An argument of `fmt` is not a configuration file.",
        "Specify a `.tf`, `.tfvars` or `.tftest.hcl` file, or a directory.";

    FW8023 CANNOT_ASK_WHETHER_TO_UNLOCK = "Can't ask whether to unlock",
        "Releasing a lock requires approval, and no terminal is available.",
        "Use the option `-force`.";

    FW8024 LOCAL_STATE_UNLOCK = "Local state cannot be unlocked by another process",
        "The lock of a local state belongs to the process that holds it, so another process cannot release it.",
        "Wait until that process ends, or terminate it.";

    FW8025 GRAPH_TYPE_NO_LONGER_AVAILABLE = "Graph type no longer available",
        "The graph type existed only in old versions.",
        "Use one of the types that the detail names.";

    FW8026 UNSUPPORTED_GRAPH_TYPE = "Unsupported graph type",
        "The graph type does not exist.",
        "Use one of the types that the detail names.";

    FW8027 INVALID_COMBINATION_OF_OPTIONS = "Invalid combination of options",
        "`help -out` requires the format `man`, and another format is selected.",
        "Add `-format=man`, or remove `-out`.";

    FW8028 UNABLE_TO_WRITE_MANUAL_PAGES = "Unable to write manual pages",
        "The manual pages could not be written.",
        "Check the permissions of the directory and the free space.";

    FW8029 DEPRECATED_STATE_FLAG = "Deprecated flag: -state",
        "The option `-state` is deprecated.",
        "Set the path in a `backend \"local\"` block.";

    FW8030 INCOMPATIBLE_PLAN_MODE_OPTIONS = "Incompatible plan mode options",
        "`-destroy` and `-refresh-only` exclude each other.",
        "Keep one of the two.";

    FW8032 INVALID_EXCLUDE_ADDRESS = "Invalid exclude address",
        "The value of `-exclude` is not an address.",
        "Write the address of a resource, module or instance.";

    FW8033 INVALID_FORCE_REPLACE_ADDRESS = "Invalid force-replace address {address}",
        "The value of `-replace` is not the address of an instance of a managed resource.",
        "Write an address such as `aws_instance.web[0]`.";

    FW8034 INVALID_PARALLELISM_VALUE = "Invalid parallelism value",
        "The value of `-parallelism` is negative.",
        "Use a positive number.";

    FW8035 INVALID_TARGET = "Invalid target {address}",
        "The value of `-target` is not an address.",
        "Write the address of a resource, module or instance.";

    FW8036 RESOURCE_TARGETING_IS_IN_EFFECT = "Resource targeting is in effect",
        "`-target` or `-exclude` limits the plan to a part of the configuration.",
        "Plan without the option after the exceptional situation is resolved.";

    FW8038 INVALID_OUTPUT_FORMAT = "Invalid output format",
        "`-json` and `-raw` exclude each other.",
        "Keep one of the two.";

    FW8039 NO_OUTPUTS_FOUND = "No outputs found",
        "The state does not contain outputs.",
        "Add outputs to the root module, and run `formwork apply`.";

    FW8040 OUTPUT_NAME_REQUIRED = "Output name required",
        "`-raw` prints a single output, and the command names none.",
        "Add the output name.";

    FW8041 OUTPUT_NOT_FOUND = "Output {name} not found",
        "The state does not contain an output of this name.",
        "Correct the name, or run `formwork apply` if the output is new.";

    FW8042 UNSUPPORTED_RAW_OUTPUT = "Unsupported value for raw output",
        "`-raw` prints only strings, numbers and bools.",
        "Use `-json` for other values.";

    FW8043 SAVED_PLAN_NAMES_UNKNOWN_BACKEND = "Saved plan names an unknown backend",
        "The saved plan was created with a backend type that this version does not support.",
        "Apply the plan with the version that created it.";

    FW8045 NO_TERMINAL_TO_ASK_ON = "No interactive terminal",
        "The review of open operations requires prompts, and prompts are disabled or no terminal is available.",
        "Use `formwork recover adopt`, `forget` or `retry`.";

    FW8046 UNREADABLE_STATE_OR_PLAN_FILE = "Failed to read the given file as a state or plan file",
        "The argument of `show` is neither a state nor a saved plan that can be read.",
        "Check the path. A plan of another version must be shown with that version.";

    FW8047 ERROR_PARSING_INSTANCE_ADDRESS = "Error parsing instance address",
        "The argument is not the address of an instance.",
        "Write an address such as `aws_instance.web[0]`. Quote it in the shell.";

    FW8048 NO_STATE_FILE = "No state file was found!",
        "The workspace has no state.",
        "Check the working directory, the workspace and the backend, or run `formwork apply`.";

    FW8049 INVALID_RM_TARGET = "Invalid target address",
        "An argument of `state rm` is not an address, or not the address of an object in the state.",
        "Correct the address. `formwork state list` shows all addresses.";

    FW8050 INVALID_LOG_TIME = "Invalid -at",
        "The value of `-at` is neither a serial nor a time.",
        "Use a serial that `formwork state log` prints, or a time such as `2026-03-01T12:00:00Z`.";

    FW8051 NO_HISTORY_STATE = "No history of the state",
        "The backend keeps only the latest state.",
        "Use the backend `pg`, which keeps a history.";

    FW8052 NO_INSTANCE_FOUND = "No instance found for the given address!",
        "The state does not contain an instance with this address.",
        "Correct the address. `formwork state list` shows all addresses.";

    FW8053 INVALID_BACKUP_OPTIONS = "Invalid command line options: {options}",
        "Backup options require a local state, and a backup file must not be a state file of the move.",
        "Remove the options, name a local state with `-state`, or name another file for the backup.";

    FW8054 ERROR_READING_SOURCE_STATE = "Error reading source state {file}",
        "The state to push could not be read.",
        "Check the path and the content of the file.";

    FW8055 INVALID_REPLACED_PROVIDER = "Invalid \"{which}\" provider {text}",
        "An argument of `state replace-provider` is not the address of a provider.",
        "Write addresses such as `hashicorp/random`.";

    FW8056 INVALID_LOCK_TIMEOUT = "Invalid -lock-timeout",
        "The value of `-lock-timeout` is not a duration.",
        "Write a duration such as `30s` or `5m`.";

    FW8057 RESOURCE_INSTANCE_CANNOT_BE_TAINTED = "Resource instance {addr} cannot be tainted",
        "`taint` names a data source.",
        "Name an instance of a managed resource.";

    FW8058 FAILED_TO_READ_VARIABLES_FILE = "Failed to read variables file",
        "A file of variable values could not be read.",
        "Correct the path of `-var-file`.";

    FW8059 INVALID_VAR_OPTION = "Invalid -var option",
        "The value of `-var` is not of the form `NAME=VALUE`.",
        "Write the name, an equals sign and the value, without spaces around the sign.";

    FW8060 NO_STATE_TO_COPY = "No state to copy",
        "The file of `workspace new -state` does not contain a state.",
        "Correct the path.";

    FW8061 SELECTED_WORKSPACE_OVERRIDDEN = "The selected workspace is currently overridden using the TF_WORKSPACE environment variable",
        "`TF_WORKSPACE` selects the workspace, so the command would have no effect.",
        "Unset the variable.";

    FW8062 WORKSPACE_IS_NOT_EMPTY = "Workspace is not empty",
        "The state of the workspace to delete contains objects.",
        "Destroy the objects first, or use `-force` to leave them unmanaged.";

    FW8063 WORKSPACE_IS_YOUR_ACTIVE_WORKSPACE = "Workspace {name} is your active workspace",
        "The selected workspace cannot be deleted.",
        "Select another workspace first.";

    FW8064 WORKSPACE_OVERRIDDEN = "The workspace is currently overridden using the TF_WORKSPACE environment variable",
        "`TF_WORKSPACE` selects the workspace, so the command would have no effect.",
        "Unset the variable.";

    FW8065 OBJECT_CANNOT_BE_READ = "Object cannot be read",
        "A stored object does not fit the schema of the provider, so it cannot be shown as JSON.",
        "Install the version of the provider that wrote it, or refresh the state.";

    FW8066 FAILED_TO_READ_SELECTED_WORKSPACE = "Failed to read the selected workspace",
        "The file with the name of the selected workspace could not be read.",
        "Check the data directory, or select the workspace again.";

    FW8067 FAILED_TO_SELECT_WORKSPACE = "Failed to select workspace",
        "The selected workspace could not be recorded.",
        "Check the permissions of the data directory.";

    FW8068 INVALID_DEADLINE = "Invalid deadline",
        "The value of `FORMWORK_PLUGIN_DEADLINES` is not a list of deadlines.",
        "Write a list such as `read=5m,apply=1h`.";

    FW8069 INVALID_REATTACH_PROVIDERS = "Invalid TF_REATTACH_PROVIDERS",
        "`TF_REATTACH_PROVIDERS` does not describe running providers.",
        "Use the value that the provider prints in its debug mode.";

    FW8070 INVALID_WORKSPACE_NAME = "Invalid workspace name",
        "The name of a workspace contains characters that are not allowed in a URL path.",
        "Use letters, digits, dashes, underscores and periods.";

    FW8071 MISSING_REQUIRED_PROVIDER = "Missing required provider",
        "The state or the configuration needs a provider that is not installed.",
        "Run `formwork init`. For an address below `terraform.io/builtin`, correct the source: the only built-in provider is `terraform`.";

    FW8072 BACKEND_INITIALIZATION_REQUIRED = "Backend initialization required, please run \"formwork init\"",
        "The backend of the configuration differs from the one that was set up.",
        "Run `formwork init` with `-migrate-state` to move the states, or with `-reconfigure` to keep them where they are.";

    FW8073 FAILED_TO_SET_UP_BACKEND = "Failed to set up the backend",
        "The backend that was set up could not be recorded.",
        "Check the permissions of the data directory.";

    FW8074 INITIALIZED_BACKEND_UNREADABLE = "Failed to read the initialized backend",
        "The record of the backend in the data directory cannot be read.",
        "Run `formwork init -reconfigure`.";

    FW8075 INVALID_BACKEND_TYPE = "Invalid backend type",
        "The `backend` block names a type that Formwork does not support.",
        "Use one of the types that the detail names.";

    FW8076 PROVIDER_DEVELOPMENT_OVERRIDES_ARE_IN_EFFECT = "Provider development overrides are in effect",
        "The CLI configuration file replaces providers with programs under development.",
        "Remove `dev_overrides` from the CLI configuration file to use released versions.";

    FW8077 CONSOLE_WITH_PROBLEMS = "Due to the problems above, some expressions may produce unexpected results.",
        "The configuration has errors, so some values may be missing in the console.",
        "Correct the errors above.";

    FW8078 NO_SUCH_CODE = "No such code",
        "No message has this code.",
        "Use a code from a diagnostic. `formwork explain` lists all codes.";

    FW8079 WORKSPACE_DOES_NOT_EXIST = "Workspace {name} doesn't exist",
        "No workspace has this name.",
        "Correct the name. `formwork workspace list` shows all workspaces, and `formwork workspace new` creates one.";

    FW8080 WORKSPACE_ALREADY_EXISTS = "Workspace {name} already exists",
        "A workspace with this name exists.",
        "Select it with `formwork workspace select`, or choose another name.";

    FW8081 CANNOT_DELETE_DEFAULT_STATE = "cannot delete default state",
        "The workspace `default` always exists.",
        "Name another workspace.";

    FW8082 STATE_STORE_UNUSABLE = "State store cannot be used",
        "The provider of the state store cannot be started, refuses its configuration, or does not implement this state store.",
        "Correct the `state_store` block as the message describes, then run the command again.";

    FW8083 STATE_STORE_PROVIDER_NOT_INSTALLED = "Provider of the state store is not installed",
        "The provider that stores the state is not installed in the working directory.",
        "Run `formwork init`.";

    FW8084 OPTIONS_OF_STATE_STORE = "Invalid command-line option",
        "The option `-backend-config` is not supported with a `state_store` block.",
        "Remove the option, and configure the state store in its block or with environment variables of its provider.";

    FW8085 WORKSPACE_NOT_MIGRATED = "Workspace is not migrated",
        "The former backend contains a workspace whose name is not allowed.",
        "Copy its state with `formwork state pull` and `formwork state push` into a workspace with another name, if it is still needed.";

    FW8086 MIGRATION_ABORTED = "Migration aborted by user",
        "The migration of all workspaces was not approved.",
        "Run `formwork init` again and answer with yes, or use `-reconfigure` to keep the states where they are.";

    FW8087 SEALED_VALUES_NOT_SHOWN = "Sealed values are not shown",
        "The state contains sealed values, and no available identity can decrypt them.",
        "Set the identity of the key provider to see the values.";

    FW8088 STATE_STORE_NOT_IMPLEMENTED = "State store not implemented by the provider",
        "The provider does not implement the state store that the `state_store` block names.",
        "Use one of the state stores that the message lists, or another provider.";

    FW8089 STATE_PUSH_REFUSED = "Failed to write state",
        "The state to push has another lineage or a lower serial than the stored state.",
        "Check that the file is the intended state. If it is, use `-force`.";

    FW8090 SAVED_PLAN_HAS_OTHER_LOCKS = "Inconsistent dependency lock file",
        "The saved plan was created with other provider versions than the lock file selects.",
        "Create a new plan, or restore the lock file of the plan.";

    FW8091 MIGRATION_UNANSWERED = "Error asking for confirmation",
        "The prompt to copy the state was not answered with yes or no.",
        "Run `formwork init` again and answer: `yes` copies the state, `no` keeps the states of the new backend. `-force-copy` answers with yes.";

    FW8092 FILTER_MATCHES_NO_TEST_FILE = "No test file matches the filter",
        "The option `-filter` of `formwork test` names a file that is not a test file of the configuration.",
        "Specify the path relative to the configuration directory, such as `tests/main.tftest.hcl`.";

    FW8093 JUNIT_FILE_CANNOT_BE_WRITTEN = "The JUnit file cannot be written",
        "The file that `-junit-xml` names cannot be written.",
        "Choose another file, or create its directory.";

    FW8094 TEST_OBJECTS_ARE_LEFT = "Objects of earlier tests remain",
        "An earlier `formwork test` was terminated or could not destroy its objects. Their states still exist.",
        "Destroy the objects with the state files that the message names, or delete the directories if the objects no longer exist.";

    FW8098 INVALID_WORKSPACE_IN_ENVIRONMENT = "Invalid workspace name set using TF_WORKSPACE",
        "The environment variable `TF_WORKSPACE` selects a workspace whose name is not allowed.",
        "Unset the variable, or set it to a name of letters, digits, dashes, underscores and periods.";

    FW8099 EMPTY_FILE_NOT_MIGRATED = "Empty state file is not migrated",
        "A local state file is empty, its backup is not, and the new backend does not contain a state.",
        "No action is needed if the state was migrated before. Otherwise write the backup to the new backend with `formwork state push`.";

    FW8100 OUTPUT_NOT_WRITTEN = "Not all output could be written",
        "A write to stdout failed, for example because the disk is full.",
        "Free some space, or redirect the output. Changes that the command made remain in effect.";

    FW8101 UNREADABLE_ENVIRONMENT_VARIABLE = "Unreadable environment variable",
        "The value of an environment variable of Formwork is not valid UTF-8.",
        "Correct the variable, or unset it.";

    FW8102 CLOCK_IS_WRONG = "The clock is wrong",
        "The system clock shows an implausible year. Certificates, locks and plans cannot be validated against it.",
        "Set the system clock.";

    FW8103 WORKING_DIRECTORY_NOT_FOUND = "The working directory cannot be found",
        "The directory in which the command was started has been removed, or this user may not read it.",
        "Change to another directory.";

    FW8104 RUNTIME_NOT_STARTED = "The runtime could not be started",
        "The system does not allow the process to open the files that every command needs.",
        "Raise the limit of open files, `ulimit -n`.";

    FW8105 THREADS_ARE_REFUSED = "Threads cannot be created",
        "The user or the container has reached its limit of processes and threads.",
        "Raise the process limit, `ulimit -u`, or the limit of the container.";

    FW8106 UNREADABLE_ENVIRONMENT_ARGUMENTS = "Arguments in an environment variable cannot be read",
        "`TF_CLI_ARGS` or a variable of a command, such as `TF_CLI_ARGS_plan`, cannot be split into words by the rules of a shell.",
        "Close each quote, and do not end a value with a backslash.";

    FW8107 CHDIR_FAILED = "Error handling -chdir option",
        "The directory that `-chdir` names cannot be entered.",
        "Specify a directory that exists and that this user may enter.";

    FW8108 LOG_FILE_CANNOT_BE_USED = "The log file cannot be used",
        "The file that `TF_LOG_PATH` names cannot be opened or written.",
        "Specify another file. The command continues without a log file.";

    FW8109 TERMINAL_CANNOT_BE_USED = "The terminal cannot be used",
        "`formwork console` cannot read single keys from this terminal.",
        "Use another terminal, or write the expressions to the stdin of the command.";

    FW8110 COMPLETION_NOT_CHANGED = "Completion could not be set up or removed",
        "`-install-autocomplete` or `-uninstall-autocomplete` found no shell of this user, or could not change its file.",
        "Follow the detail, or add the lines to the shell's startup file manually.";

    FW8111 ENV_COMMANDS_DEPRECATED = "The \"formwork env\" family of commands is deprecated",
        "The `env` commands are old names of the `workspace` commands.",
        "Use `formwork workspace`.";
}
