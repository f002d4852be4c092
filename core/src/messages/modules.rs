//! Messages of whole modules: references, input variables, providers passed to calls, overrides, test files.

use formwork_value::messages;

messages! {
    "Modules and references"
    MODULES

    FW2201 FAILED_TO_READ_FILE = "Failed to read file",
        "A file could not be read from the disk.",
        "Check that the file exists and that this user may read it.";

    FW2202 INVALID_COMBINATION_OF_ARGUMENTS = "Invalid combination of arguments",
        "Two arguments or options exclude each other.",
        "Keep one of the two.";

    FW2203 MODULE_CALLS_ITSELF = "Module calls itself",
        "A module is called within itself, directly or through others.",
        "Remove one of the calls from the circle.";

    FW2204 TOO_MANY_MODULES = "Too many modules",
        "The configuration calls more modules than Formwork accepts.",
        "Reduce the number of calls, for example with `for_each`, or split the configuration.";

    FW2205 NO_VALUE_FOR_REQUIRED_VARIABLE = "No value for required variable",
        "A variable without a default has no value.",
        "Set it with `-var`, a `.tfvars` file or the environment variable `TF_VAR_NAME`, or give it a default.";

    FW2206 COUNT_WITHOUT_COUNT = "Reference to \"count\" in non-counted context",
        "`count` is used in a block that does not set `count`.",
        "Set `count` in the block, or remove this reference.";

    FW2207 EACH_WITHOUT_FOR_EACH = "Reference to \"each\" in context without for_each",
        "`each` is used in a block that does not set `for_each`.",
        "Set `for_each` in the block, or remove this reference.";

    FW2208 EPHEMERAL_OUTPUT_NOT_ALLOWED = "Ephemeral output not allowed",
        "An output of the root module is ephemeral.",
        "Remove `ephemeral = true`. Only outputs of called modules can be ephemeral.";

    FW2209 INVALID_DEPENDS_ON_REFERENCE = "Invalid depends_on reference",
        "An element of `depends_on` names something that nothing can depend on.",
        "Name a resource, a module or another object of the same module, without attributes.";

    FW2210 INVALID_OBJECT_ATTRIBUTE = "Invalid \"{object}\" attribute",
        "A built-in object such as `path` or `terraform` has no such attribute.",
        "Correct the name. The detail lists the attributes.";

    FW2211 INVALID_SELF_REFERENCE = "Invalid \"self\" reference",
        "`self` is used where there is no current object.",
        "Use `self` in provisioners, connections and postconditions only.";

    FW2212 MISSING_RESOURCE_INSTANCE_KEY = "Missing resource instance key",
        "A resource with `count` or `for_each` is used without a key.",
        "Name one instance with an index, or all of them with `[*]` or a `for` expression.";

    FW2213 REFERENCE_TO_UNDECLARED_INPUT_VARIABLE = "Reference to undeclared input variable",
        "The module has no variable with the given name.",
        "Correct the name, or declare the variable.";

    FW2214 REFERENCE_TO_UNDECLARED_LOCAL_VALUE = "Reference to undeclared local value",
        "The module has no local value with the given name.",
        "Correct the name, or declare it in a `locals` block.";

    FW2215 REFERENCE_TO_UNDECLARED_MODULE = "Reference to undeclared module",
        "The module has no module call with the given name.",
        "Correct the name, or add the `module` block.";

    FW2216 REFERENCE_TO_UNDECLARED_RESOURCE = "Reference to undeclared resource",
        "The module has no resource with the given type and name.",
        "Correct the address, or add the block. Data sources need the prefix `data.`.";

    FW2217 UNEXPECTED_RESOURCE_INSTANCE_KEY = "Unexpected resource instance key",
        "A resource without `count` and `for_each` is used with a key.",
        "Remove the index.";

    FW2218 DUPLICATE_ENCRYPTION_CONFIGURATION = "Duplicate encryption configuration",
        "The configuration has two `encryption` blocks.",
        "Merge them into one.";

    FW2219 DUPLICATE_ENCRYPTION_PART = "Duplicate {block_type}",
        "Two key providers or methods have the same type and name.",
        "Rename one of them.";

    FW2220 DUPLICATE_REMOTE_STATE_DATA_SOURCE = "Duplicate remote_state_data_source",
        "Two blocks set the encryption for the same `terraform_remote_state`.",
        "Keep one of them.";

    FW2221 INVALID_ENCRYPTION_LABEL = "Invalid {block_type} name",
        "The type or name of a key provider or method is not a valid name.",
        "Use letters, digits, underscores and dashes, beginning with a letter or an underscore.";

    FW2222 MODULE_NOT_INSTALLED = "Module not installed",
        "A called module is not installed in the data directory.",
        "Run `formwork init`.";

    FW2223 INVALID_IMPORT_ADDRESS = "Invalid import address",
        "The address of an `import` block is not one of a managed resource.",
        "Name a managed resource. Data sources are read in every run.";

    FW2224 INVALID_REFERENCE_EXPRESSION = "Invalid reference expression",
        "The `to` of an `import` block in a JSON file is not a single address.",
        "Write one address in quotes.";

    FW2225 CONFIGURATION_FOR_IMPORT_TARGET_DOES_NOT_EXIST = "Configuration for import target does not exist",
        "An `import` block names a resource that the configuration does not have.",
        "Add the resource block, or generate it with `-generate-config-out`.";

    FW2226 DUPLICATE_IMPORT_CONFIGURATION_FOR = "Duplicate import configuration for {name}",
        "Two `import` blocks have the same target.",
        "Remove one of them.";

    FW2227 INVALID_IMPORT_CONFIGURATION = "Invalid import configuration",
        "An `import` block is in a called module.",
        "Move it to the root module.";

    FW2228 INVALID_IMPORT_ID_ARGUMENT = "Invalid import id argument",
        "The id of an `import` block is empty, null, unknown, sensitive or ephemeral.",
        "Use a string that is known during planning and not sensitive.";

    FW2229 INVALID_IMPORT_PROVIDER_ARGUMENT = "Invalid import provider argument",
        "An `import` block sets a provider although its target has its own resource block.",
        "Set the provider in the resource block.";

    FW2230 INVALID_IMPORT_TO_EXPRESSION = "Invalid import 'to' expression",
        "The target of an `import` block uses an index in a form that is not allowed.",
        "Use a literal key or `each.key` as the index.";

    FW2231 INVALID_VALUE_FOR_INPUT_VARIABLE = "Invalid value for input variable",
        "The value of a variable does not fit its type.",
        "Set a value of the type that the detail names.";

    FW2232 REQUIRED_VARIABLE_NOT_SET = "Required variable not set",
        "A variable that may not be null is set to null.",
        "Set another value, or leave the variable out to use its default.";

    FW2233 VALUES_FOR_UNDECLARED_VARIABLES = "Values for undeclared variables",
        "Values are set for several variables that the root module does not declare.",
        "Declare the variables, or remove the values.";

    FW2234 VALUE_FOR_UNDECLARED_VARIABLE = "Value for undeclared variable",
        "A value is set for a variable that the root module does not declare.",
        "Declare the variable, or remove the value. Use an environment variable for values that several configurations share.";

    FW2235 VARIABLE_DECLARATION_IN_TFVARS_FILE = "Variable declaration in .tfvars file",
        "A variable values file contains a `variable` block.",
        "Move the block to a `.tf` file, and set the value here with `name = value`.";

    FW2236 FAILED_TO_READ_MODULE_DIRECTORY = "Failed to read module directory",
        "The directory of a module could not be read.",
        "Check that the directory exists and that this user may read it.";

    FW2237 MODULE_CANNOT_BE_USED = "Module cannot be used",
        "A called module contains errors.",
        "Correct the errors that are reported for the module.";

    FW2238 TOO_MANY_LEVELS_MODULES = "Too many levels of modules",
        "Modules are nested deeper than Formwork accepts.",
        "Call inner modules from a module nearer to the root.";

    FW2239 INVALID_MOVED_ADDRESSES = "Invalid \"moved\" addresses",
        "A `moved` block has a resource on one side and a module on the other.",
        "Use two resources or two modules.";

    FW2240 CANNOT_OVERRIDE_BLOCKS = "Can't override {block_type} blocks",
        "An override file contains conditions or checks, which cannot be overridden.",
        "Move the block to a file that is not an override file.";

    FW2241 CANNOT_OVERRIDE_IMPORT_BLOCKS = "Cannot override 'import' blocks",
        "An override file contains an `import` block.",
        "Move the block to a file that is not an override file.";

    FW2242 CANNOT_OVERRIDE_MOVED_BLOCKS = "Cannot override 'moved' blocks",
        "An override file contains a `moved` block.",
        "Move the block to a file that is not an override file.";

    FW2243 MISSING_BASE_LOCAL_VALUE_DEFINITION_TO_OVERRIDE = "Missing base local value definition to override",
        "An override file sets a local value that the module does not have.",
        "Define the local value in an ordinary file, or correct its name.";

    FW2244 MISSING_BASE_OUTPUT_DEFINITION_TO_OVERRIDE = "Missing base output definition to override",
        "An override file changes an output that the module does not have.",
        "Define the output in an ordinary file, or correct its name.";

    FW2245 MISSING_BASE_PROVIDER_CONFIGURATION_FOR_OVERRIDE = "Missing base provider configuration for override",
        "An override file changes a provider configuration that the module does not have.",
        "Add the `provider` block to an ordinary file, or correct its alias.";

    FW2246 MISSING_BASE_VARIABLE_DECLARATION_TO_OVERRIDE = "Missing base variable declaration to override",
        "An override file changes a variable that the module does not have.",
        "Declare the variable in an ordinary file, or correct its name.";

    FW2247 MISSING_DATA_RESOURCE_TO_OVERRIDE = "Missing data resource to override",
        "An override file changes a data source that the module does not have.",
        "Add the data source to an ordinary file, or correct its address.";

    FW2248 MISSING_MODULE_CALL_TO_OVERRIDE = "Missing module call to override",
        "An override file changes a module call that the module does not have.",
        "Add the call to an ordinary file, or correct its name.";

    FW2249 MISSING_RESOURCE_TO_OVERRIDE = "Missing resource to override",
        "An override file changes a resource that the module does not have.",
        "Add the resource to an ordinary file, or correct its address.";

    FW2250 UNSUPPORTED_OVERRIDE = "Unsupported override",
        "An override file sets `depends_on`, which cannot be overridden.",
        "Set `depends_on` in the ordinary file.";

    FW2251 BACKEND_CONFIGURATION_IGNORED = "Backend configuration ignored",
        "A called module has a `backend` block, which only the root module uses.",
        "Remove the block from the module, unless it is also used as a root module.";

    FW2252 CANNOT_OVERRIDE_PROVIDER_CONFIGURATION = "Cannot override provider configuration",
        "A call passes a provider configuration that the called module defines itself.",
        "Remove the `provider` block from the called module, or do not pass the configuration.";

    FW2253 DUPLICATE_REQUIRED_PROVIDER = "Duplicate required provider",
        "One provider is required under several local names.",
        "Use one local name for the provider.";

    FW2254 LEGACY_MODULE_REPEATED = "Module is incompatible with count, for_each, and depends_on",
        "A module with its own `provider` blocks is called with `count`, `for_each` or `depends_on`.",
        "Move the `provider` blocks to the root module, and pass the configurations to the call.";

    FW2255 MISSING_REQUIRED_PROVIDER_CONFIGURATION = "Missing required provider configuration",
        "A called module requires a provider configuration that the call does not pass.",
        "Add it to the argument `providers` of the call.";

    FW2256 PROVIDER_CONFIGURATION_NOT_PRESENT = "Provider configuration not present",
        "A resource needs a provider configuration that the configuration does not have, or has no longer.",
        "Correct the alias, or add the `provider` block. To remove existing objects, keep the block until they are destroyed.";

    FW2257 PROVIDER_TYPE_MISMATCH = "Provider type mismatch",
        "A call passes the configuration of one provider as that of another.",
        "Pass a configuration of the provider that the called module requires under that name.";

    FW2258 REDUNDANT_EMPTY_PROVIDER_BLOCK = "Redundant empty provider block",
        "A called module has an empty `provider` block, which old versions used as a placeholder.",
        "Replace it with an entry in `required_providers`.";

    FW2259 REFERENCE_TO_UNDEFINED_PROVIDER = "Reference to undefined provider",
        "A call passes a provider configuration under a name that the called module does not declare.",
        "Add the name to `required_providers` of the called module, or remove it from the call.";

    FW2260 INVALID_PROVISIONER_BLOCK = "Invalid provisioner block",
        "A `removed` block has a provisioner that does not run when an object is destroyed.",
        "Set `when = destroy` in the provisioner, or remove it.";

    FW2261 MODULE_INSTANCE_KEYS_NOT_ALLOWED = "Module instance keys not allowed",
        "The `from` of a `removed` block names one instance of a module.",
        "Remove the index. A `removed` block covers all instances.";

    FW2262 RESOURCE_INSTANCE_KEYS_NOT_ALLOWED = "Resource instance keys not allowed",
        "The `from` of a `removed` block names one instance of a resource.",
        "Remove the index. A `removed` block covers all instances.";

    FW2263 DUPLICATE_PROVIDER_BLOCK = "Duplicate provider block",
        "A test file has two `provider` blocks with the same name and alias.",
        "Set a different `alias` in one of them.";

    FW2264 DUPLICATE_RUN_NAMES = "Duplicate \"run\" block names",
        "A test file has two `run` blocks with the same name.",
        "Rename one of them.";

    FW2265 INVALID_OVERRIDE_DURING_VALUE = "Invalid override_during value",
        "The argument `override_during` of a test file is neither `plan` nor `apply`.",
        "Set it to `plan` or `apply`.";

    FW2266 INVALID_OVERRIDE_TARGET = "Invalid override target",
        "The target of an override in a test file is not of the required kind.",
        "Name a resource, data source or module that fits the type of the override block.";

    FW2267 INVALID_RUN_ATTRIBUTE = "Invalid {name} attribute",
        "An argument of a test file that takes an object has another value.",
        "Write an object in braces.";

    FW2268 INVALID_RUN_KEYWORD = "Invalid {name} keyword",
        "A keyword in a test file is not allowed there.",
        "Use a keyword that the detail names.";

    FW2269 MISSING_RUN_MODULE_SOURCE = "Missing \"source\" attribute for module block",
        "The `module` block of a test run has no source.",
        "Add the argument `source`.";

    FW2270 MISSING_TARGET_ATTRIBUTE = "Missing target attribute",
        "An override block of a test file has no target.",
        "Add the argument `target`.";

    FW2271 MULTIPLE_RUN_BLOCKS = "Multiple {block_type} blocks",
        "A `run` block of a test file contains a block twice that may occur once.",
        "Keep one of them.";

    FW2272 EACH_VALUE_UNAVAILABLE = "each.value cannot be used in this context",
        "`each.value` is used where its collection is no longer known, for example when an object that left the configuration is destroyed.",
        "Remove this reference. Use `self` in a destroy-time provisioner.";

    FW2273 MISSING_PROVIDER = "missing provider {provider}",
        "A module call passes a provider configuration that its caller does not have.",
        "Add a `provider` block for it, or an entry in `required_providers`.";

    FW2274 IMPORT_CANNOT_BE_GENERATED = "Configuration for import target does not exist",
        "The resource of an `import` block is not in the configuration and cannot be generated, because it is in a module or is repeated.",
        "Add the resource block.";

    FW2275 IMPORTED_INSTANCE_DOES_NOT_EXIST = "Configuration for import target does not exist",
        "The `count` or `for_each` of the resource does not include the instance that is imported.",
        "Extend `count` or `for_each`, or correct the key in the argument `to`.";

    FW2276 FILES_OF_OPENTOFU_NOT_READ = "OpenTofu files are not read",
        "The directory contains `.tofu` or `.tofu.json` files without a counterpart that Terraform reads.",
        "Rename a file to `.tf` if Formwork is to read it. Otherwise plan this directory with OpenTofu.";

    FW2277 TEST_DIRECTORY_DOES_NOT_EXIST = "Test directory does not exist",
        "The directory that `-test-directory` names does not exist in the module.",
        "Correct the option, or create the directory.";

    FW2278 UNREADABLE_TEST_DIRECTORY = "Failed to read test directory",
        "The test directory cannot be read, or is not a directory.",
        "Correct its permissions, or remove the file that has its name.";
}
