//! Messages of installations: providers, modules, lock files, credentials.

use formwork_value::messages;

messages! {
    "Installation and registries"
    INSTALLATION

    FW7001 CANNOT_POPULATE_NON_EMPTY_DIRECTORY = "Can't populate non-empty directory",
        "`init -from-module` requires an empty directory, and the working directory contains files.",
        "Run the command in an empty directory.";

    FW7002 FAILED_TO_COPY_ROOT_MODULE = "Failed to copy root module",
        "The module of `-from-module` could not be copied into the working directory.",
        "Check the permissions of the directory and the free space.";

    FW7003 ROOT_MODULE_REFERENCES_PARENT_DIRECTORY = "Root module references parent directory",
        "The module of `-from-module` calls modules in a parent directory, which the copy does not contain.",
        "Replace the paths with package addresses, or copy a directory that contains all of the modules.";

    FW7004 INVALID_INIT_OPTIONS = "Invalid init options",
        "Two options of `init` exclude each other.",
        "Keep one of the two.";

    FW7005 PROVIDER_DEPENDENCY_CHANGES_DETECTED = "Provider dependency changes detected",
        "The lock file would have to change, and `-lockfile=readonly` does not allow changes to it.",
        "Run `formwork init` without the option, and commit the lock file.";

    FW7006 PROVIDER_LOCK_FILE_NOT_UPDATED = "Provider lock file not updated",
        "The lock file does not contain all checksums of the installed packages, and `-lockfile=readonly` does not allow changes to it.",
        "Run `formwork providers lock`, and commit the lock file.";

    FW7007 UPGRADE_WITH_READONLY_LOCK_FILE = "The -upgrade flag conflicts with -lockfile=readonly",
        "`-upgrade` changes the lock file, and `-lockfile=readonly` does not allow changes to it.",
        "Remove one of the two options.";

    FW7008 CANNOT_START_TEMPORARY_LOGIN_SERVER = "Can't start temporary login server",
        "The login requires a local port for the redirect of the browser, and none is available.",
        "Close the programs that use the ports in the detail, and try again.";

    FW7009 CREDENTIALS_FOR_ARE_MANUALLY_CONFIGURED = "Credentials for {host} are manually configured",
        "The credentials of the host are set in the CLI configuration file or the environment, so the command cannot change them.",
        "Remove the credentials from the file or the environment first.";

    FW7010 FAILED_TO_OBTAIN_AUTH_TOKEN = "Failed to obtain auth token",
        "The host did not exchange the login for a token.",
        "Log in again. The detail contains the response of the host.";

    FW7011 FAILED_TO_REMOVE_API_TOKEN = "Failed to remove API token",
        "The stored token could not be removed.",
        "Check the file or the credentials helper that the detail names.";

    FW7012 FAILED_TO_RETRIEVE_TOKEN = "Failed to retrieve token",
        "No token was entered.",
        "Run the command again, and paste the token that the host shows.";

    FW7013 FAILED_TO_RETRIEVE_USER_ACCOUNT_DETAILS = "Failed to retrieve user account details",
        "The host did not return the user of the token.",
        "Run the command again. If the error persists, correct the cause that the detail names.";

    FW7014 FAILED_TO_SAVE_API_TOKEN = "Failed to save API token",
        "The token could not be stored.",
        "Check the file or the credentials helper that the detail names.";

    FW7015 HOST_DOES_NOT_SUPPORT_TERRAFORM_LOGIN = "Host does not support Terraform login",
        "The host does not offer a login for command-line programs.",
        "Create a token on the website of the host, and set it in the CLI configuration file or with `TF_TOKEN_HOST`.";

    FW7016 HOST_DOES_NOT_SUPPORT_TERRAFORM_TOKENS_API = "Host does not support Terraform tokens API",
        "The host does not offer a page for tokens.",
        "Set a token of the host in the CLI configuration file or with `TF_TOKEN_HOST`.";

    FW7017 INVALID_HOSTNAME = "Invalid hostname",
        "The argument is not a hostname.",
        "Write a name such as `app.example.com`, without a scheme and path.";

    FW7018 LOGIN_CANCELLED = "Login cancelled",
        "The login was not confirmed.",
        "Run the command again, and answer with yes.";

    FW7019 LOGIN_INTERRUPTED = "Login interrupted",
        "The command received a signal while it waited for the login in the browser.",
        "Run the command again.";

    FW7020 LOGIN_IS_INTERACTIVE_COMMAND = "Login is an interactive command",
        "The login requires a terminal.",
        "Run it in a terminal, or set a token with `TF_TOKEN_HOST`.";

    FW7021 SERVICE_DISCOVERY_FAILED_FOR = "Service discovery failed for {host}",
        "The host did not describe its services.",
        "Check the hostname and the network.";

    FW7022 SETTINGS_CANNOT_BE_READ = "CLI configuration cannot be read",
        "The CLI configuration file has an error.",
        "Correct the file that the detail names.";

    FW7023 TOKEN_IS_INVALID = "Token is invalid",
        "The host does not accept the token.",
        "Create a new token on the website of the host.";

    FW7024 UNABLE_TO_LOCK_MODULES = "Unable to lock the modules",
        "The content of a module could not be recorded in the module lock file.",
        "Run `formwork init` to install the modules, and check the permissions of the directory.";

    FW7025 NO_CONFIGURATION_FILES = "No configuration files",
        "The directory does not contain configuration files.",
        "Change to the configuration directory, or use the option `-chdir`.";

    FW7026 INCONSISTENT_DEPENDENCY_LOCK_FILE = "Inconsistent dependency lock file",
        "The lock file does not select a version that the configuration allows.",
        "Run `formwork init`, with `-upgrade` to select newer versions.";

    FW7027 FLAG_JSON_REQUIRED = "Flag -json required",
        "The command prints only JSON.",
        "Add the option `-json`.";

    FW7028 INVALID_TARGET_PLATFORM = "Invalid target platform",
        "The platform is not of the form `OS_ARCH`.",
        "Write a platform such as `linux_amd64`.";

    FW7029 UNABLE_TO_READ_COMPONENT = "Unable to read a component",
        "An installed provider or module could not be read for the inventory.",
        "Run `formwork init` to install it again.";

    FW7030 COULD_NOT_RETRIEVE_PROVIDERS_FOR_LOCKING = "Could not retrieve providers for locking",
        "The package of a provider could not be fetched for one of the platforms.",
        "Check that the provider exists for the platform.";

    FW7031 INVALID_INSTALLATION_METHOD_OPTIONS = "Invalid installation method options",
        "`-fs-mirror` and `-net-mirror` exclude each other.",
        "Keep one of the two.";

    FW7032 INVALID_NETWORK_MIRROR_URL = "Invalid network mirror URL",
        "The URL of `-net-mirror` is not valid.",
        "Write an `https:` URL.";

    FW7033 INVALID_PROVIDER_ARGUMENT = "Invalid provider argument",
        "The argument is not the address of a provider that the configuration requires.",
        "Write an address such as `hashicorp/random`, or add the provider to `required_providers`.";

    FW7034 CANNOT_DOWNLOAD_PROVIDER_RELEASE = "Cannot download provider release",
        "The package of a provider could not be stored in the mirror.",
        "Check the permissions of the mirror directory and the free space.";

    FW7035 FAILED_TO_UPDATE_INDEXES = "Failed to update indexes",
        "The index files of the mirror could not be written.",
        "Check the permissions of the directory and the free space.";

    FW7036 INVALID_PROVIDER_PACKAGE = "Invalid provider package",
        "The package of a provider does not match its checksum or signature.",
        "Try again. If the error persists, report it to the provider authors.";

    FW7037 PROVIDER_NOT_AVAILABLE = "Provider not available",
        "The registry does not list a version of the provider that the constraints allow.",
        "Correct the address or the constraints.";

    FW7038 PROVIDER_RELEASE_NOT_AVAILABLE = "Provider release not available",
        "The registry has no package of the provider for the platform.",
        "Use a version or platform that the registry lists.";

    FW7039 DEPENDENCY_LOCKS_FOR_MODULES_ARE_NOT_YET_SUPPORTED = "Dependency locks for modules are not yet supported",
        "The lock file contains a `module` block, which is ignored.",
        "Remove the block.";

    FW7040 DUPLICATE_PROVIDER_LOCK = "Duplicate provider lock",
        "The lock file contains two blocks for one provider.",
        "Remove one of them, or delete the file and run `formwork init`.";

    FW7041 FAILED_TO_READ_DEPENDENCY_LOCK_FILE = "Failed to read dependency lock file",
        "The lock file `.terraform.lock.hcl` could not be read.",
        "Check that it is a regular text file that this user may read.";

    FW7042 FAILED_TO_SAVE_DEPENDENCY_LOCK_FILE = "Failed to save dependency lock file",
        "The lock file could not be written.",
        "Check the permissions of the directory and the free space.";

    FW7043 INVALID_BLOCK_IN_DEPENDENCY_LOCK_FILE = "Invalid block in dependency lock file",
        "A block of the lock file does not have exactly one label.",
        "Correct it, or delete the file and run `formwork init`.";

    FW7044 INVALID_PROVIDER_HASH_SET = "Invalid provider hash set",
        "The `hashes` of a block in the lock file are not a list of strings.",
        "Correct it, or delete the block and run `formwork init`.";

    FW7045 INVALID_PROVIDER_SOURCE_ADDRESS = "Invalid provider source address",
        "The label of a block in the lock file is not the address of a provider that can be locked.",
        "Correct it, or delete the block and run `formwork init`.";

    FW7046 INVALID_PROVIDER_VERSION_CONSTRAINTS = "Invalid provider version constraints",
        "The `constraints` of a block in the lock file are not version constraints.",
        "Correct it, or delete the block and run `formwork init`.";

    FW7047 INVALID_PROVIDER_VERSION_NUMBER = "Invalid provider version number",
        "The `version` of a block in the lock file is not a version.",
        "Correct it, or delete the block and run `formwork init`.";

    FW7048 INVALID_VALUE_IN_DEPENDENCY_LOCK_FILE = "Invalid value in dependency lock file",
        "An argument in the lock file is not a literal.",
        "Correct it, or delete the block and run `formwork init`.";

    FW7049 NON_NORMALIZED_PROVIDER_SOURCE_ADDRESS = "Non-normalized provider source address",
        "The lock file contains a provider address in a short form.",
        "Write the full address that the detail names.";

    FW7050 FAILED_TO_INSTALL_PROVIDER = "Failed to install provider",
        "The package of a provider could not be fetched, verified or unpacked.",
        "Run the command again. If the error persists, correct the cause that the detail names.";

    FW7051 FAILED_TO_QUERY_AVAILABLE_PROVIDER_PACKAGES = "Failed to query available provider packages",
        "The registry or mirror did not list a usable version of the provider.",
        "Check the address and version constraints of the provider, and the network.";

    FW7052 INCOMPATIBLE_PROVIDER_VERSION = "Incompatible provider version",
        "The provider does not have a version for this platform and for a plugin protocol that Formwork supports.",
        "Use a version that the detail names, or another platform.";

    FW7053 INCOMPLETE_LOCK_FILE_INFORMATION_FOR_PROVIDERS = "Incomplete lock file information for providers",
        "The lock file contains checksums only for this platform.",
        "Run `formwork providers lock` with a `-platform` for each platform, and commit the lock file.";

    FW7054 INSTALL_FROM_CACHE_FAILED = "Failed to install provider from shared cache",
        "A package in the shared cache could not be used.",
        "Delete the package from the cache, or check its permissions.";

    FW7055 INVALID_PROVIDER_REGISTRY_HOST = "Invalid provider registry host",
        "The host in the provider address is not a provider registry.",
        "Correct the address. Providers of the public registry do not need a host.";

    FW7056 PROVIDER_UNDER_DEVELOPMENT_NOT_FOUND = "Provider under development not found",
        "The directory of a development override does not contain the provider program.",
        "Build the provider, or correct `dev_overrides` in the CLI configuration file.";

    FW7057 REQUIRED_PLUGINS_ARE_NOT_INSTALLED = "Required plugins are not installed",
        "A provider that the lock file selects is not installed, or is not the package that was locked.",
        "Run `formwork init`.";

    FW7058 ADDITIONAL_PROVIDER_INFORMATION_FROM_REGISTRY = "Additional provider information from registry",
        "The registry returned a notice about the provider, for example about a move.",
        "Read the notice in the detail.";

    FW7059 FAILED_TO_EXPAND_SUBDIR_GLOBS = "Failed to expand subdir globs",
        "The part after `//` in a module source does not match exactly one directory.",
        "Correct the path, so that it matches one directory of the package.";

    FW7060 UNREADABLE_MODULE_SUBDIRECTORY = "Unreadable module subdirectory",
        "The part after `//` in a module source does not match exactly one directory.",
        "Correct the path, so that it matches one directory of the package.";

    FW7061 ERROR_ACCESSING_REMOTE_MODULE_REGISTRY = "Error accessing remote module registry",
        "The module registry did not respond, or returned an unexpected response.",
        "Check the module address, the credentials and the network.";

    FW7062 FAILED_TO_DOWNLOAD_MODULE = "Failed to download module",
        "The package of a module could not be fetched or unpacked.",
        "Check the source address, the credentials and the network.";

    FW7063 FAILED_TO_READ_LOCK_FILE_MODULES = "Failed to read the module lock file",
        "The file `.formwork.modules.lock.json` is not valid, or this user may not read it.",
        "Correct the file, or remove it to stop locking modules.";

    FW7064 FAILED_TO_READ_MODULE = "Failed to read module",
        "The files of an installed module could not be read to compute its checksum.",
        "Check the permissions of the module directory, or reinstall the module with `formwork get`.";

    FW7065 FAILED_TO_WRITE_LOCK_FILE_MODULES = "Failed to write the module lock file",
        "The module lock file could not be written.",
        "Check the permissions of the directory and the free space.";

    FW7066 INVALID_PACKAGE_LOCATION_FROM_MODULE_REGISTRY = "Invalid package location from module registry",
        "The registry returned an address of a module package that cannot be fetched.",
        "Report it to the operators of the registry.";

    FW7067 INVALID_RESPONSE_FROM_REMOTE_MODULE_REGISTRY = "Invalid response from remote module registry",
        "The registry returned a version of a module that is not a version.",
        "Report it to the operators of the registry.";

    FW7068 LOCAL_MODULE_PATH_ESCAPES_MODULE_PACKAGE = "Local module path escapes module package",
        "A module calls a local path outside its own package.",
        "Use the address of a package, or a path within the package.";

    FW7069 MODULE_CONTENT_HAS_CHANGED = "Module content has changed",
        "The content of a module differs from the module lock file.",
        "If the change is intended, run `formwork init -upgrade`. If installed files were edited, remove `.terraform/modules` and run `formwork init`.";

    FW7070 MODULE_HAS_NO_VERSIONS = "Module has no versions",
        "The registry lists the module without any version.",
        "Correct the source address.";

    FW7071 MODULE_LOCK_FILE_CHANGES_DETECTED = "Module lock file changes detected",
        "The module lock file would have to change, and `-lockfile=readonly` does not allow changes to it.",
        "Run `formwork init` without the option, and commit the file.";

    FW7072 MODULE_NOT_FOUND = "Module not found",
        "The registry does not contain a module at the address.",
        "Correct the source address.";

    FW7073 UNREADABLE_MODULE_DIRECTORY = "Unreadable module directory",
        "The local path of a module call is not a readable directory.",
        "Correct the source path, which is relative to the calling module.";

    FW7074 UNRESOLVABLE_MODULE_VERSION_CONSTRAINT = "Unresolvable module version constraint",
        "The registry lists no version of the module that the `version` argument allows.",
        "Change the argument `version` of the call.";

    FW7075 FAILED_TO_READ_MODULES_MANIFEST_FILE = "Failed to read modules manifest file",
        "The list of installed modules in the data directory cannot be read.",
        "Delete the file that the detail names, and run `formwork init`.";

    FW7076 FAILED_TO_UPDATE_MODULE_MANIFEST = "Failed to update module manifest",
        "The list of installed modules in the data directory could not be written.",
        "Check the permissions of the data directory and the free space.";

    FW7077 MODULE_SOURCE_HAS_CHANGED = "Module source has changed",
        "The source of a module call changed after it was installed.",
        "Run `formwork init`.";

    FW7078 MODULE_VERSION_REQUIREMENTS_HAVE_CHANGED = "Module version requirements have changed",
        "The installed version of a module no longer meets the constraint of its call.",
        "Run `formwork init`.";

    FW7079 PLUGIN_CACHE_DIRECTORY_CANNOT_BE_OPENED = "The plugin cache directory cannot be opened",
        "The directory of the shared plugin cache does not exist.",
        "Create the directory, or correct `plugin_cache_dir` or `TF_PLUGIN_CACHE_DIR`.";

    FW7080 UNABLE_TO_OPEN_CLI_CONFIGURATION_FILE = "Unable to open CLI configuration file",
        "`TF_CLI_CONFIG_FILE` names a file that does not exist.",
        "Correct the variable, or create the file.";

    FW7081 UNKNOWN_SYMBOL = "Unknown symbol",
        "A repository template uses a name that is not defined.",
        "Use only `hostname`, `namespace` and `type`.";

    FW7082 SETTINGS_BLOCK_IGNORED = "CLI configuration block ignored",
        "A block of the CLI configuration file has an error and is ignored.",
        "Correct the block that the detail names.";
}
