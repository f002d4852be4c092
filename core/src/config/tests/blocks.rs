//! Tests of the contents and names that each kind of block may have.

use expect_test::expect;

use super::check_outline;

#[test]
fn the_state_has_one_location() {
    // The backend is reported, regardless of the order.
    check_outline(
        r#"
terraform {
  cloud {}
  backend "s3" {}
}
"#,
        &expect![[r#"
            error main.tf:3,3-15 Both a backend and cloud configuration are present
                A module may declare either one 'cloud' block or one 'backend' block configuring a state backend. Remove one of the two.
        "#]],
    );
}

#[test]
fn provider_names_are_checked_everywhere() {
    check_outline(
        r#"
terraform {
  required_providers {
    plain = {
      source                = "acme/plain"
      configuration_aliases = [plain, plain.other, another.one]
    }
  }
}
data "plain_thing" "a" {
  provider = my_plain
}
resource "plain_thing" "b" {
  provider = PLAIN
}
resource "plain thing" "c" {}
data "plain thing" "d" {}
ephemeral "plain thing" "e" {}
"#,
        &expect![[r#"
            error main.tf:5,52-63 Invalid configuration_aliases value
                An entry of `configuration_aliases` is the local name `plain`, optionally followed by a dot and an alias, such as `plain.other`.
            error main.tf:10,14-22 Invalid provider local name
                my_plain is an invalid provider local name: must contain only letters, digits, and dashes, and may not use leading or trailing dashes
            error main.tf:13,14-19 Invalid provider local name
                PLAIN is an invalid provider local name: must contain only letters, digits, and dashes, and may not use leading or trailing dashes. Write `plain`.
            error main.tf:15,10-23 Invalid resource type name
                A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.
            error main.tf:16,6-19 Invalid data source name
                A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.
            error main.tf:17,11-24 Invalid ephemeral resource type
                A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.
        "#]],
    );
}

#[test]
fn block_types_and_labels_are_checked() {
    check_outline(
        r#"
foo {}
required_providers {}
variable {}
variable "a" "b" {}
variable "1b" {}
variable "source" {}
output "b" {}
output "1" { value = 1 }
locals "x" {}
resource "x" {}
resource "x" "1" {}
"#,
        &expect![[r#"
            error main.tf:1,1-4 Unsupported block type
                Blocks of type "foo" are not expected here.
            error main.tf:2,1-19 Invalid required_providers block
                A "required_providers" block must be nested inside a "terraform" block.
            error main.tf:3,10-11 Missing name for variable
                All variable blocks must have 1 labels (name).
            error main.tf:4,14-17 Extraneous label for variable
                Only 1 labels (name) are expected for variable blocks.
            error main.tf:5,10-14 Invalid variable name
                A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.
            error main.tf:6,10-18 Invalid variable name
                The variable name "source" is reserved due to its special meaning inside module blocks.
            error main.tf:7,12-13 Missing required argument
                The argument "value" is required, but no definition was found.
            error main.tf:8,8-11 Invalid output name
                A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.
            error main.tf:9,8-11 Extraneous label for locals
                No labels are expected for locals blocks.
            error main.tf:10,14-15 Missing name for resource
                All resource blocks must have 2 labels (type, name).
            error main.tf:11,14-17 Invalid resource name
                A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.
        "#]],
    );
}

#[test]
fn variables_accept_only_their_arguments() {
    // As since Terraform 1.9, a validation may refer to other objects, but must refer to its
    // variable.
    check_outline(
        r#"
variable "x" {
  type      = number
  default   = "x"
  sensitive = "yes"
  nullable  = null
  foo       = 1
  lifecycle {}
}
variable "y" {
  nullable = false
  default  = null
  validation {}
  validation {
    condition     = true
    error_message = "x"
  }
  validation {
    condition     = var.x
    error_message = "x"
  }
}
variable "z" {
  default     = var.x
  description = upper("x")
}
"#,
        &expect![[r#"
            error main.tf:3,15-18 Invalid default value for variable
                This default value is not compatible with the variable's type constraint: a number is required.
            error main.tf:4,16-19 Unsuitable value type
                Unsuitable value: a bool is required
            error main.tf:5,15-19 Unsuitable value type
                Unsuitable value: it must not be null
            error main.tf:6,3-6 Unsupported argument
                An argument named "foo" is not expected here.
            error main.tf:7,3-12 Unsupported block type
                Blocks of type "lifecycle" are not expected here.
            error main.tf:11,14-18 Invalid default value for variable
                A null default value is not valid when nullable=false.
            error main.tf:12,14-15 Missing required argument
                The argument "condition" is required, but no definition was found.
            error main.tf:12,14-15 Missing required argument
                The argument "error_message" is required, but no definition was found.
            error main.tf:14,21-25 Invalid validation expression
                The condition expression must refer to at least one object from elsewhere in the configuration, or else its result would not be checking anything.
            error main.tf:14,21-25 Invalid variable validation condition
                The condition for variable "y" must refer to var.y in order to test incoming values.
            error main.tf:18,21-26 Invalid variable validation condition
                The condition for variable "y" must refer to var.y in order to test incoming values.
            error main.tf:23,17-20 Variables not allowed
                Variables may not be used here. `var` was found; this value must be a constant.
            error main.tf:24,17-27 Function calls not allowed
                Functions may not be called here. This value must be a constant.
        "#]],
    );
}

#[test]
fn outputs_accept_only_their_arguments() {
    check_outline(
        r#"
output "c" {
  value      = 1
  depends_on = foo_x.z
  postcondition {}
}
"#,
        &expect![[r#"
            error main.tf:3,16-23 Invalid expression
                A static list expression is required.
            error main.tf:4,3-16 Postconditions are not allowed
                An output has only preconditions: nothing happens to its value afterwards.
        "#]],
    );
}

#[test]
fn settings_and_providers_accept_only_their_arguments() {
    check_outline(
        r#"
provider "A" {}
provider "b" {
  alias   = "1 2"
}
provider "c" {
  count   = 1
  version = "x"
  lifecycle {}
}
terraform {
  foo = 1
  bar {}
  required_providers {
    a = { source = "a/b/c/d", version = "x" }
    b = { source = var.x }
    c = { sorce = "x" }
    d = ["x"]
    E = {}
    f = { source = "x/y", configuration_aliases = [f.x] }
  }
  required_providers {}
  backend "local" {}
  backend "local" {}
}
"#,
        &expect![[r#"
            error main.tf:1,1-13 Invalid provider local name
                A is an invalid provider local name: must contain only letters, digits, and dashes, and may not use leading or trailing dashes. Write `a`.
            error main.tf:3,13-18 Invalid provider configuration alias
                An alias must be a valid name. A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes. `1 2` was found.
            error main.tf:6,3-8 Reserved argument name in provider block
                The provider argument name "count" is reserved for use by Terraform in a future version.
            warning main.tf:7,13-16 Version constraints inside provider configuration blocks are deprecated
                Terraform 0.13 and earlier allowed provider version constraints inside the provider configuration block, but that is now deprecated and will be removed in a future version of Terraform. To silence this warning, move the provider version constraint into the required_providers block.
            error main.tf:7,13-16 Invalid version constraint
                This string does not use correct version constraint syntax. `x` was found: `x` is not a version; write up to three numbers, as in 1.2.3.
            error main.tf:8,3-12 Reserved block type name in provider block
                The block type name "lifecycle" is reserved for use by Terraform in a future version.
            error main.tf:11,3-6 Unsupported argument
                An argument named "foo" is not expected here.
            error main.tf:12,3-6 Unsupported block type
                Blocks of type "bar" are not expected here.
            error main.tf:14,20-29 Invalid provider source string
                `a/b/c/d` must have the form `[HOST/][NAMESPACE/]TYPE`.
            error main.tf:14,41-44 Invalid version constraint
                This string does not use correct version constraint syntax. `x` was found: `x` is not a version; write up to three numbers, as in 1.2.3.
            error main.tf:15,20-25 Invalid source
                A source is a constant string.
            error main.tf:16,11-16 Invalid required_providers object
                An entry of `required_providers` is an object with `source` and `version`, such as { source = "hashicorp/random", version = "~> 3.0" }.
            error main.tf:17,9-14 Invalid required_providers object
                An entry of `required_providers` is an object with `source` and `version`, such as { source = "hashicorp/random", version = "~> 3.0" }.
            error main.tf:18,5-6 Invalid provider local name
                E is an invalid provider local name: must contain only letters, digits, and dashes, and may not use leading or trailing dashes. Write `e`.
            error main.tf:21,3-21 Duplicate required providers configuration
                A module may have only one required providers configuration. The required providers were previously configured at main.tf:13,3-21.
            error main.tf:23,3-18 Duplicate backend configuration
                A module may have only one backend configuration. The backend was previously configured at main.tf:22,3-18.
        "#]],
    );
}

#[test]
fn resources_accept_only_their_arguments() {
    // In a data source `connection` has no special meaning: the schema decides.
    check_outline(
        r#"
resource "a_b" "a" {
  count    = 1
  for_each = {}
}
resource "a_b" "b" {
  provider = null.x.y
}
resource "a_b" "c" {
  provider = 5
}
data "a_b" "e" {
  lifecycle {
    create_before_destroy = true
    ignore_changes        = []
  }
  connection {}
}
resource "a_b" "f" {
  lifecycle {
    ignore_changes = "all"
  }
}
"#,
        &expect![[r#"
            error main.tf:3,3-11 Invalid combination of "count" and "for_each"
                The "count" and "for_each" meta-arguments are mutually-exclusive, only one should be used to be explicit about the number of resources to be created.
            error main.tf:6,14-22 Invalid provider configuration reference
                The provider argument requires a provider type name, optionally followed by a period and then a configuration alias.
            error main.tf:9,14-15 Invalid provider configuration reference
                The provider argument requires a provider type name, optionally followed by a period and then a configuration alias.
            error main.tf:13,5-26 Invalid data resource lifecycle argument
                The lifecycle argument "create_before_destroy" is defined only for managed resources ("resource" blocks), and is not valid for data resources.
            error main.tf:14,5-19 Invalid data resource lifecycle argument
                The lifecycle argument "ignore_changes" is defined only for managed resources ("resource" blocks), and is not valid for data resources.
            error main.tf:20,23-26 Invalid expression
                A static list expression is required.
        "#]],
    );
}

#[test]
fn lifecycle_blocks_accept_only_their_arguments() {
    // "is was" is Terraform's own wording.
    check_outline(
        r#"
resource "a_b" "d" {
  provider = "null"
  lifecycle {
    create_before_destroy = var.x
    prevent_destroy       = 5
    ignore_changes        = ["*", 5, f(x)]
    replace_triggered_by  = [var.x, a_b.c, 5]
    foo                   = 1
    bar {}
    precondition {
      condition = true
    }
  }
  lifecycle {}
  locals {}
}
"#,
        &expect![[r#"
            warning main.tf:2,14-20 Quoted references are deprecated
                In this context, references are expected literally rather than in quotes. Terraform 0.11 and earlier required quotes, but quoted references are now deprecated and will be removed in a future version of Terraform. Remove the quotes surrounding this reference to silence this warning.
            error main.tf:4,29-32 Variables not allowed
                Variables may not be used here. `var` was found; this value must be a constant.
            error main.tf:5,29-30 Unsuitable value type
                Unsuitable value: bool required
            error main.tf:6,29-43 Invalid ignore_changes wildcard
                The ["*"] form of ignore_changes wildcard is was deprecated and is now invalid. Use "ignore_changes = all" to ignore changes to all attributes.
            error main.tf:6,30-33 Invalid ignore_changes ruleset
                The string "*" cannot be combined with references.
            error main.tf:6,35-36 Invalid expression
                A single static variable reference is required: only attribute access and indexing with constant keys. No calculations, function calls, template expressions, etc are allowed here.
            error main.tf:6,38-42 Invalid expression
                A single static variable reference is required: only attribute access and indexing with constant keys. No calculations, function calls, template expressions, etc are allowed here.
            error main.tf:7,30-35 Invalid reference in replace_triggered_by expression
                Only resources, count.index, and each.key may be used in replace_triggered_by. `var.x` was found.
            error main.tf:8,5-8 Unsupported argument
                An argument named "foo" is not expected here.
            error main.tf:9,5-8 Unsupported block type
                Blocks of type "bar" are not expected here.
            error main.tf:10,18-19 Missing required argument
                The argument "error_message" is required, but no definition was found.
            error main.tf:11,19-23 Invalid precondition expression
                The condition expression must refer to at least one object from elsewhere in the configuration, or else its result would not be checking anything.
            error main.tf:14,3-12 Duplicate lifecycle block
                This resource already has a lifecycle block at main.tf:3,3-12.
            error main.tf:15,3-9 Reserved block type name in resource block
                The block type name "locals" is reserved for use by Terraform in a future version.
        "#]],
    );
}

#[test]
fn names_are_unique() {
    check_outline(
        r#"
variable "a" {}
variable "a" {}
output "a" { value = 1 }
output "a" { value = 1 }
locals { a = 1 }
locals { a = 1 }
resource "x_y" "a" {}
resource "x_y" "a" {}
data "x_y" "a" {}
data "x_y" "a" {}
provider "x" {}
provider "x" {}
provider "x" { alias = "y" }
provider "x" { alias = "y" }
"#,
        &expect![[r#"
            error main.tf:2,1-13 Duplicate variable declaration
                A variable named "a" was already declared at main.tf:1,1-13. Variable names must be unique within a module.
            error main.tf:4,1-11 Duplicate output definition
                An output named "a" was already defined at main.tf:3,1-11. Output names must be unique within a module.
            error main.tf:6,10-15 Duplicate local value definition
                A local value named "a" was already defined at main.tf:5,10-15. Local value names must be unique within a module.
            error main.tf:8,1-19 Duplicate resource "x_y" configuration
                A x_y resource named "a" was already declared at main.tf:7,1-19. Resource names must be unique per type in each module.
            error main.tf:10,1-15 Duplicate data "x_y" configuration
                A x_y data resource named "a" was already declared at main.tf:9,1-15. Resource names must be unique per type in each module.
            error main.tf:12,1-13 Duplicate provider configuration
                A default (non-aliased) provider configuration for "x" was already given at main.tf:11,1-13. If multiple configurations are required, set the "alias" argument for alternative configurations.
            error main.tf:14,1-13 Duplicate provider configuration
                A provider configuration for "x" with alias "y" was already given at main.tf:13,1-13. Each configuration for the same provider must have a distinct alias.
        "#]],
    );
}

#[test]
fn the_name_of_an_invalid_block_is_reserved() {
    check_outline(
        r#"output "a" {}
output "a" { value = 1 }
module "b" {}
module "b" { source = "./b" }
module "c" { source = "./c" }
module "c" { source = "one/two" }
data "x_y" "a" {
  count    = 1
  for_each = {}
}
data "x_y" "a" {}
variable "count" {}
variable "count" {}
"#,
        &expect![[r#"
            error main.tf:1,12-13 Missing required argument
                The argument "value" is required, but no definition was found.
            error main.tf:2,1-11 Duplicate output definition
                An output named "a" was already defined at main.tf:1,1-11. Output names must be unique within a module.
            error main.tf:3,12-13 Missing required argument
                The argument "source" is required, but no definition was found.
            error main.tf:4,1-11 Duplicate module call
                A module call named "b" was already defined at main.tf:3,1-11. Module calls must have unique names within a module.
            error main.tf:6,1-11 Duplicate module call
                A module call named "c" was already defined at main.tf:5,1-11. Module calls must have unique names within a module.
            error main.tf:6,23-32 Invalid module source address
                Formwork failed to determine your intended installation method for remote module package "one/two".

                If you intended this as a path relative to the current module, use "./one/two" instead. The "./" prefix indicates that the address is a relative filesystem path.
            error main.tf:9,3-11 Invalid combination of "count" and "for_each"
                The "count" and "for_each" meta-arguments are mutually-exclusive, only one should be used to be explicit about the number of resources to be created.
            error main.tf:11,1-15 Duplicate data "x_y" configuration
                A x_y data resource named "a" was already declared at main.tf:7,1-15. Resource names must be unique per type in each module.
            error main.tf:12,10-17 Invalid variable name
                The variable name "count" is reserved due to its special meaning inside module blocks.
            error main.tf:13,1-17 Duplicate variable declaration
                A variable named "count" was already declared at main.tf:12,1-17. Variable names must be unique within a module.
            error main.tf:13,10-17 Invalid variable name
                The variable name "count" is reserved due to its special meaning inside module blocks.
        "#]],
    );
}

#[test]
fn the_name_of_a_module_call_without_a_source_is_checked() {
    check_outline(
        r#"
module "a b" {}
"#,
        &expect![[r#"
            error main.tf:1,8-13 Invalid module instance name
                A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.
            error main.tf:1,14-15 Missing required argument
                The argument "source" is required, but no definition was found.
        "#]],
    );
}
