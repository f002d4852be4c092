//! Messages of single blocks: names, arguments and meta-arguments.

use formwork_value::messages;

messages! {
    "Blocks of a configuration"
    BLOCKS

    FW2001 INVALID_MODULE_SOURCE_ADDRESS = "Invalid module source address",
        "The source of a module is not an address that Formwork can fetch.",
        "Write a local path that begins with `./` or `../`, a registry address, or the URL of a package.";

    FW2002 INVALID_ADDRESS = "Invalid address",
        "The string is not the address of a resource, module or instance.",
        "Write an address such as `aws_instance.web[0]` or `module.net.aws_vpc.main`.";

    FW2003 STATIC_REFERENCE_REQUIRED = "Invalid expression",
        "A reference is required, but another kind of expression was found.",
        "Write the name or address itself, without quotes, operators and functions.";

    FW2004 INVALID_PROVIDER_NAMESPACE = "Invalid provider namespace",
        "The namespace in a provider address contains characters that are not allowed.",
        "Use letters, digits and dashes, as in `hashicorp/random`.";

    FW2005 INVALID_PROVIDER_SOURCE_HOSTNAME = "Invalid provider source hostname",
        "The first of three parts in a provider address is not a host name.",
        "Write `HOST/NAMESPACE/TYPE`, or leave the host out for the public registry.";

    FW2006 INVALID_PROVIDER_SOURCE_STRING = "Invalid provider source string",
        "A provider address does not have one to three parts.",
        "Write `NAMESPACE/TYPE` or `HOST/NAMESPACE/TYPE`.";

    FW2007 INVALID_PROVIDER_TYPE = "Invalid provider type",
        "The type in a provider address is not a valid name.",
        "Use letters, digits and dashes, without the prefix `terraform-provider-`.";

    FW2008 INVALID_INDEX_KEY = "Invalid index key",
        "The key of an instance in an address is not a literal string or whole number.",
        "Write the key as a literal, such as `[\"name\"]` or `[0]`.";

    FW2009 RESERVED_SYMBOL_NAME = "Reserved symbol name",
        "A reference begins with a word that is reserved for future versions.",
        "If it is a resource type, write the prefix `resource.` before it.";

    FW2010 INVALID_REGISTRY_MODULE_SOURCE_ADDRESS = "Invalid registry module source address",
        "The source of a module looks like a registry address but is not one.",
        "Write `NAMESPACE/NAME/SYSTEM`, with a host before it for a private registry. Local paths begin with `./`.";

    FW2011 DATA_SOURCE_ADDRESS_NOT_ALLOWED = "Data source address not allowed",
        "A `removed` block names a data source, which has no object to forget.",
        "Remove the `removed` block. Deleting the `data` block is enough.";

    FW2012 DUPLICATE_CONFIGURATION = "Duplicate {block_type} {type_name} configuration",
        "Two blocks of the module have the same type and name.",
        "Rename one of them, or merge them.";

    FW2013 DUPLICATE_MODULE_CALL = "Duplicate module call",
        "Two `module` blocks have the same name.",
        "Rename one of them.";

    FW2014 DUPLICATE_OUTPUT_DEFINITION = "Duplicate output definition",
        "Two `output` blocks have the same name.",
        "Rename one of them.";

    FW2015 DUPLICATE_VARIABLE_DECLARATION = "Duplicate variable declaration",
        "Two `variable` blocks have the same name.",
        "Rename one of them, or remove it.";

    FW2016 EPHEMERAL_RESOURCE_ADDRESS_NOT_ALLOWED = "Ephemeral resource address not allowed",
        "A `removed` block names an ephemeral resource, which is never stored.",
        "Remove the `removed` block. Deleting the `ephemeral` block is enough.";

    FW2017 INVALID_LANGUAGE_EDITION = "Invalid language edition",
        "The argument `language` is not a keyword for an edition.",
        "Remove the argument, or set it to `TF2021`.";

    FW2019 NOT_SUPPORTED_YET = "{feature} is not supported by this version of Formwork yet",
        "The configuration uses a feature of Terraform that Formwork does not support yet.",
        "Remove it, or use Terraform for this configuration.";

    FW2020 UNSUPPORTED_LANGUAGE_EDITION = "Unsupported language edition",
        "The argument `language` names an edition that does not exist.",
        "Remove the argument, or set it to `TF2021`.";

    FW2021 DUPLICATE_ESCAPING_BLOCK = "Duplicate escaping block",
        "A block contains two blocks named `_`.",
        "Merge them. One `_` block may hold all the arguments with reserved names.";

    FW2022 INVALID_NAME_OF_BLOCK = "Invalid {name_type}",
        "The name of a block is not a valid name.",
        "Use letters, digits, underscores and dashes, not beginning with a digit.";

    FW2023 DUPLICATE_PROVIDER_ADDRESS = "Duplicate provider address",
        "A `providers` argument passes two configurations under one name.",
        "Keep one of the two items.";

    FW2024 RESERVED_BLOCK_TYPE_NAME_IN_MODULE_BLOCK = "Reserved block type name in module block",
        "A `module` block contains a block whose type is reserved.",
        "Remove the block. A module call takes arguments only.";

    FW2025 INVALID_CHECK_ATTRIBUTE = "Invalid \"{name}\" attribute",
        "The data source in a `check` block has `count` or `for_each`.",
        "Remove the argument. Use a list in the arguments, or several `check` blocks.";

    FW2026 INVALID_LIFECYCLE_BLOCK = "Invalid lifecycle block",
        "The data source in a `check` block has a `lifecycle` block.",
        "Remove it, and write the conditions as `assert` blocks.";

    FW2027 MULTIPLE_DATA_RESOURCE_BLOCKS = "Multiple data resource blocks",
        "A `check` block contains more than one data source.",
        "Use one `check` block for each data source.";

    FW2028 ZERO_ASSERT_BLOCKS = "Zero assert blocks",
        "A `check` block has no `assert` block, so it checks nothing.",
        "Add an `assert` block.";

    FW2029 INVALID_CONDITION_EXPRESSION = "Invalid {condition_type} expression",
        "A condition refers to nothing, so it always has the same result.",
        "Refer to at least one object of the configuration in the condition.";

    FW2030 UNSUITABLE_VALUE_TYPE = "Unsuitable value type",
        "A constant does not have the type that its argument requires.",
        "Use a value of the type that the detail names.";

    FW2031 DUPLICATE_LOCAL_VALUE_DEFINITION = "Duplicate local value definition",
        "Two local values of the module have the same name.",
        "Rename one of them, or remove it.";

    FW2032 DUPLICATE_PROVIDER_CONFIGURATION = "Duplicate provider configuration",
        "Two `provider` blocks have the same name and alias.",
        "Set a different `alias` in one of them.";

    FW2033 INVALID_REQUIRED_PROVIDERS_BLOCK = "Invalid required_providers block",
        "A `required_providers` block is outside a `terraform` block.",
        "Move it into a `terraform` block.";

    FW2034 DUPLICATE_LIFECYCLE_BLOCK = "Duplicate lifecycle block",
        "A resource has two `lifecycle` blocks.",
        "Merge them.";

    FW2035 INVALID_EACH_IN_REPLACE_TRIGGERED_BY = "Invalid each reference in replace_triggered_by expression",
        "`replace_triggered_by` uses another part of `each` than its key.",
        "Use `each.key` as the index.";

    FW2036 INVALID_IGNORE_CHANGES_RULESET = "Invalid ignore_changes ruleset",
        "`ignore_changes` contains the wildcard `*` beside other elements.",
        "Write `ignore_changes = all`, or list the attributes without the wildcard.";

    FW2037 INVALID_IGNORE_CHANGES_WILDCARD = "Invalid ignore_changes wildcard",
        "`ignore_changes` contains the wildcard `*` in a list, as in old configurations.",
        "Write `ignore_changes = all`.";

    FW2038 INVALID_REFERENCE_IN_REPLACE_TRIGGERED_BY = "Invalid reference in replace_triggered_by expression",
        "`replace_triggered_by` uses a reference that is not allowed in an index there.",
        "Use `count.index` or `each.key` in the index only.";

    FW2039 INVALID_REPLACE_TRIGGERED_BY_EXPRESSION = "Invalid replace_triggered_by expression",
        "`replace_triggered_by` contains an expression that names no resource, instance or attribute of the module.",
        "Name a managed resource of the same module, one of its instances or attributes.";

    FW2040 INVALID_RESOURCE_LIFECYCLE_ARGUMENT = "Invalid {resource_mode} resource lifecycle argument",
        "A `lifecycle` block has an argument that this kind of block does not take.",
        "Remove the argument.";

    FW2041 INVALID_GENERATED_CONFIGURATION = "Invalid generated configuration",
        "The configuration that was generated for an imported object is not valid.",
        "Write the block by hand. The provider may have reported values that its own schema does not allow.";

    FW2042 POSTCONDITIONS_ARE_NOT_ALLOWED = "Postconditions are not allowed",
        "An output has a `postcondition` block.",
        "Use a `precondition` block.";

    FW2043 INVALID_PROVIDER_LOCAL_NAME = "Invalid provider local name",
        "The local name of a provider is not a valid name.",
        "Use lower-case letters, digits and dashes.";

    FW2044 INVALID_PROVIDER_CONFIGURATION_ALIAS = "Invalid provider configuration alias",
        "The alias of a `provider` block is not a valid name.",
        "Use letters, digits, underscores and dashes, not beginning with a digit.";

    FW2045 RESERVED_NAME_IN_PROVIDER_BLOCK = "Reserved {construct} name in provider block",
        "A `provider` block uses a name that is reserved for future versions.",
        "Remove it. If the provider itself defines the name, write it in a `_` block.";

    FW2046 VERSION_IN_PROVIDER_BLOCK_DEPRECATED = "Version constraints inside provider configuration blocks are deprecated",
        "A `provider` block sets `version`, which belongs elsewhere.",
        "Move the constraint to the entry of the provider in `required_providers`.";

    FW2047 DUPLICATE_CONNECTION_BLOCK = "Duplicate connection block",
        "A resource or provisioner has two `connection` blocks.",
        "Merge them.";

    FW2048 INVALID_PROVISIONER_KEYWORD = "Invalid \"{name}\" keyword",
        "An argument of a provisioner is not one of its keywords.",
        "Set `when` to `create` or `destroy`, and `on_failure` to `continue` or `fail`.";

    FW2049 INVALID_REFERENCE_FROM_DESTROY_PROVISIONER = "Invalid reference from destroy provisioner",
        "A destroy-time provisioner refers to something that may no longer exist when it runs.",
        "Use `self`, `count.index`, `each.key` and `path` only. Store other values in the resource.";

    FW2050 QUOTED_KEYWORDS_ARE_DEPRECATED = "Quoted keywords are deprecated",
        "A keyword is written in quotes, as in old configurations.",
        "Remove the quotes.";

    FW2051 REMOVED_PROVISIONER = "The \"{name}\" provisioner has been removed",
        "The provisioner no longer exists in the language.",
        "Use the tool of that vendor with `local-exec` or `remote-exec`, or build an image.";

    FW2052 RESERVED_BLOCK_TYPE_NAME_IN_PROVISIONER_BLOCK = "Reserved block type name in provisioner block",
        "A `provisioner` block contains a block whose type is reserved.",
        "Remove the block.";

    FW2053 COUNT_AND_FOR_EACH = "Invalid combination of \"count\" and \"for_each\"",
        "A block has both `count` and `for_each`.",
        "Keep one of the two.";

    FW2054 RESERVED_BLOCK_TYPE_NAME_IN_BLOCK = "Reserved block type name in {block_type} block",
        "A resource contains a block whose type is reserved.",
        "Remove it. If the provider itself defines the name, write it in a `_` block.";

    FW2055 BACKEND_AND_CLOUD_CONFIGURATION = "Both a backend and cloud configuration are present",
        "A `terraform` block has both a `backend` and a `cloud` block.",
        "Keep one of the two.";

    FW2056 DUPLICATE_BACKEND_CONFIGURATION = "Duplicate backend configuration",
        "The module has two `backend` blocks.",
        "Keep one of them.";

    FW2057 DUPLICATE_HCP_TERRAFORM_CONFIGURATIONS = "Duplicate HCP Terraform configurations",
        "The module has two `cloud` blocks.",
        "Keep one of them.";

    FW2058 DUPLICATE_PROVIDER_META_BLOCK = "Duplicate provider_meta block",
        "The module has two `provider_meta` blocks for one provider.",
        "Merge them.";

    FW2059 DUPLICATE_REQUIRED_PROVIDERS_CONFIGURATION = "Duplicate required providers configuration",
        "The module has two `required_providers` blocks.",
        "Merge them.";

    FW2060 INVALID_CONFIGURATION_ALIASES_VALUE = "Invalid configuration_aliases value",
        "An element of `configuration_aliases` is not the name of a provider configuration.",
        "Write `NAME.ALIAS` without quotes.";

    FW2061 INVALID_REQUIRED_PROVIDERS_OBJECT = "Invalid required_providers object",
        "An entry of `required_providers` is not an object with known arguments.",
        "Write an object such as `{ source = \"hashicorp/random\", version = \"~> 3.0\" }`.";

    FW2062 INVALID_REQUIRED_VERSION_CONSTRAINT = "Invalid required_version constraint",
        "The value of `required_version` is not a version constraint.",
        "Write constraints such as `\">= 1.5, < 2.0\"`.";

    FW2063 INVALID_SOURCE = "Invalid source",
        "The `source` of a provider is not a constant string.",
        "Write the address as a literal string.";

    FW2064 INVALID_VERSION_CONSTRAINT = "Invalid version constraint",
        "The string is not a version constraint.",
        "Write constraints such as `\">= 1.5, < 2.0\"`.";

    FW2065 MODULE_USES_EXPERIMENTAL_FEATURES = "Module uses experimental features",
        "The module enables experiments of the language, which Formwork does not support.",
        "Remove the argument `experiments` and the features that require it.";

    FW2066 UNSUPPORTED_TERRAFORM_CORE_VERSION = "Unsupported Terraform Core version",
        "The module requires a version of Terraform that Formwork is not compatible with.",
        "Change `required_version`, or use a version of Formwork that is compatible with the required one.";

    FW2067 ATTRIBUTE_NAME_REQUIRED = "Attribute name required",
        "A reference in quotes has no name after its period.",
        "Write this reference without quotes, with a name after each period.";

    FW2068 INVALID_PROVIDER_CONFIGURATION_REFERENCE = "Invalid provider configuration reference",
        "The text does not name a provider configuration.",
        "Write `NAME` or `NAME.ALIAS` without quotes and indexes.";

    FW2069 QUOTED_REFERENCES_ARE_DEPRECATED = "Quoted references are deprecated",
        "A reference is written in quotes, as in old configurations.",
        "Remove the quotes.";

    FW2070 VARIABLE_NAME_REQUIRED = "Variable name required",
        "A reference in quotes does not begin with a name.",
        "Write this reference without quotes, beginning with a name.";

    FW2071 REFERENCE_TO_SCOPED_RESOURCE = "Reference to scoped resource",
        "The data source of a `check` block is used outside that block.",
        "Declare the data source outside the `check` block.";

    FW2072 SELF_REFERENCE = "Invalid reference in {condition_type}",
        "A resource refers to itself in its own arguments.",
        "Remove this reference, or use `self` where it is allowed, in provisioners and postconditions.";

    FW2073 SELF_REFERENTIAL_BLOCK = "Self-referential block",
        "A block refers to the object that it configures.",
        "Remove this reference.";

    FW2074 INVALID_DEFAULT_VALUE_FOR_VARIABLE = "Invalid default value for variable",
        "The default of a variable does not fit its type.",
        "Change the default or the type.";

    FW2075 INVALID_VARIABLE_NAME = "Invalid variable name",
        "A variable has a name that is reserved for the arguments of module calls.",
        "Choose another name.";

    FW2076 INVALID_VARIABLE_VALIDATION_CONDITION = "Invalid variable validation condition",
        "The condition of a `validation` block does not refer to its variable.",
        "Refer to the variable in the condition, or check other values in a precondition.";

    FW2077 STATE_STORE_CONFIGURATION_IGNORED = "State store configuration ignored",
        "A module other than the root module has a `state_store` block.",
        "Remove the block, or move it to the root module.";

    FW2078 UNEXPECTED_PROVIDER_ALIAS = "Unexpected provider alias",
        "The `provider` block of a `state_store` block has an alias.",
        "Remove the argument `alias`. A state store has its own provider configuration.";

    FW2079 MISSING_PROVIDER_BLOCK = "Missing provider block",
        "A `state_store` block has no `provider` block.",
        "Add a `provider` block with the configuration of the provider. It may be empty.";

    FW2080 MISSING_REQUIRED_PROVIDER_ENTRY = "Missing entry in required_providers",
        "The provider of a `state_store` block is not listed in `required_providers`.",
        "Add the provider with its source to `required_providers`.";

    FW2081 DUPLICATE_STATE_STORE_BLOCK = "Duplicate 'state_store' configuration block",
        "A module has two `state_store` blocks.",
        "Keep one of the blocks.";

    FW2082 STATE_STORE_AND_BACKEND_BLOCKS = "Conflicting 'state_store' and 'backend' configuration blocks are present",
        "A module has a `state_store` block and a `backend` block.",
        "Keep the block that specifies the location of the state, and remove the other one.";

    FW2083 STATE_STORE_AND_CLOUD_BLOCKS = "Conflicting 'cloud' and 'state_store' configuration blocks are present",
        "A module has a `state_store` block and a `cloud` block.",
        "Keep the `state_store` block. Formwork does not support the `cloud` block.";

    FW2084 DUPLICATE_STORE_PROVIDER_BLOCK = "Duplicate provider block",
        "A `state_store` block has two `provider` blocks.",
        "Keep one of the blocks.";
}
