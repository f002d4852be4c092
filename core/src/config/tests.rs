//! Folders of configuration, read into a `Config` or refused.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::testing::{load, report};
use super::*;

/// Loads a configuration and compares its outline, or what is wrong with it.
fn check(fixture: &str, expect: &Expect) {
    let (config, sources, diags) = load(fixture);
    let mut out = report(&sources, &diags);
    if let Some(config) = config {
        outline(&mut out, &config.root).unwrap();
    }
    expect.assert_eq(&out);
}

fn names(references: &[Reference]) -> String {
    references.iter().map(|one| one.subject.to_string()).collect::<Vec<_>>().join(" ")
}

fn outline(out: &mut String, module: &Module) -> std::fmt::Result {
    for (version, _) in &module.settings.required_version {
        writeln!(out, "requires version {version}")?;
    }
    for (name, required) in &module.settings.required_providers {
        writeln!(out, "requires {name} = {} {:?}", required.source, required.constraint)?;
    }
    if let Some(backend) = &module.settings.backend {
        writeln!(out, "backend {}", backend.kind)?;
    }
    for provider in module.providers.values() {
        let ProviderBlock { local, provider, references, .. } = provider;
        writeln!(out, "provider {local} = {provider} <- {}", names(references))?;
    }
    for variable in module.variables.values() {
        let Variable { name, ty, typed, default, sensitive, nullable, .. } = variable;
        writeln!(
            out,
            "var.{name}: {ty} typed={typed} default={default:?} sensitive={sensitive} \
             nullable={nullable} validations={}",
            variable.validations.len()
        )?;
    }
    for local in module.locals.values() {
        writeln!(out, "local.{} <- {}", local.name, names(&local.references))?;
    }
    for resource in module.resources.values() {
        let repetition = match resource.repetition {
            Repetition::Single => "",
            Repetition::Count(_) => " counted",
            Repetition::ForEach(_) => " for each",
        };
        writeln!(
            out,
            "{}{repetition} of {} <- {}",
            resource.name,
            resource.provider.display(),
            names(&resource.references)
        )?;
        let Lifecycle { create_before_destroy, prevent_destroy, ignore_changes, .. } =
            &resource.lifecycle;
        if create_before_destroy.is_some() || *prevent_destroy {
            writeln!(out, "  {create_before_destroy:?} {prevent_destroy}")?;
        }
        match ignore_changes {
            IgnoreChanges::Nothing => {}
            IgnoreChanges::All => writeln!(out, "  ignores all")?,
            IgnoreChanges::These(these) => writeln!(out, "  ignores {} paths", these.len())?,
        }
    }
    for output in module.outputs.values() {
        writeln!(out, "output.{} <- {}", output.name, names(&output.references))?;
    }
    Ok(())
}

#[test]
fn reads_settings_providers_variables_and_outputs() {
    check(
        r#"
//- b.tf
output "all" {
  value      = [for x in var.w : x.id]
  depends_on = [data.aws_y.d]
  precondition {
    condition     = local.l != ""
    error_message = "empty ${var.v}"
  }
}
//- a.tf
terraform {
  required_version = ">= 1.5, < 2"
  required_providers {
    aws  = { source = "Example.com/acme/aws", version = "~> 1.0" }
    null = "3.2.1"
  }
  backend "local" { path = "x" }
}
provider "aws" {
  region = var.v
}
provider "aws" {
  alias = "west"
}
variable "v" {
  type        = string
  default     = 5
  sensitive   = true
  nullable    = false
  description = "a variable"
  validation {
    condition     = length(var.v) > 0
    error_message = "empty"
  }
}
variable "w" {}
locals {
  l = "${var.v}-${data.aws_y.d.name}"
}
data "aws_y" "d" {}
"#,
        &expect![[r#"
            requires version >= 1.5, < 2
            requires aws = example.com/acme/aws "~> 1.0"
            requires null = registry.terraform.io/hashicorp/null "3.2.1"
            backend local
            provider aws = example.com/acme/aws <- var.v
            provider aws.west = example.com/acme/aws <- 
            var.v: string typed=true default=Some(String("5")) sensitive=true nullable=false validations=1
            var.w: any typed=false default=None sensitive=false nullable=true validations=0
            local.l <- var.v data.aws_y.d
            data.aws_y.d of example.com/acme/aws <- 
            output.all <- var.w local.l var.v data.aws_y.d
        "#]],
    );
}

#[test]
fn reads_resources_with_everything_they_hold() {
    check(
        r#"
variable "w" {}
locals { l = 1 }
provider "aws" { alias = "west" }
data "aws_y" "d" {}
resource "aws_x" "one" {
  provider = aws.west
  name     = path.module
  depends_on = [data.aws_y.d]
  nested {
    a = [for k, v in var.w : k]
  }
  _ {
    count = local.l
  }
  lifecycle {
    create_before_destroy = true
    prevent_destroy       = "true"
    ignore_changes        = [name, tags["a"], "other"]
    postcondition {
      condition     = self.id != ""
      error_message = "no id"
    }
  }
}
resource "aws_x" "each" {
  for_each = var.w
  name     = each.key
  lifecycle {
    ignore_changes       = all
    replace_triggered_by = [aws_x.one.id]
  }
}
resource "terraform_data" "counted" {
  count = 2
  input = count.index
}
"#,
        &expect![[r#"
            warning main.tf:18,47-54 Quoted references are deprecated
                A reference stands here as it is, without quotes.
            provider aws.west = registry.terraform.io/hashicorp/aws <- 
            var.w: any typed=false default=None sensitive=false nullable=true validations=0
            local.l <- 
            data.aws_y.d of hashicorp/aws <- 
            aws_x.each for each of hashicorp/aws <- var.w each.key aws_x.one
              ignores all
            aws_x.one of hashicorp/aws <- path.module var.w local.l self data.aws_y.d
              Some(true) true
              ignores 3 paths
            terraform_data.counted counted of terraform.io/builtin/terraform <- count.index
        "#]],
    );
}

#[test]
fn a_required_version_is_checked_before_anything_else() {
    check(
        r#"
terraform {
  required_version = "~> 1.10.0"
}
block_from_the_future "x" {}
"#,
        &expect![[r#"
            error main.tf:2,3-33 Unsupported Terraform Core version
                This configuration asks for Terraform `~> 1.10.0`, and this program does what Terraform 1.11.4 does. Change the constraint if that is enough for the configuration.
        "#]],
    );
}

#[test]
fn syntax_errors_hide_later_ones_and_come_from_all_files() {
    check(
        r#"
//- a.tf
variable "a" { default = }
variable "b" { unknown = 1 }
//- b.tf
locals { a = [ }
"#,
        &expect![[r#"
            error a.tf:1,26-27 Invalid expression
                A value cannot begin with }.
            error b.tf:1,16-17 Invalid expression
                A value cannot begin with }.
        "#]],
    );
}

#[test]
fn the_state_has_one_place() {
    check(
        r#"
terraform {
  cloud {}
  backend "s3" {}
}
"#,
        &expect![[r#"
            error main.tf:3,3-15 Both a backend and cloud configuration are present
                A module says once where its state is, in a `backend` or a `cloud` block, and here it is said a second time.
        "#]],
    );
}

#[test]
fn names_of_providers_are_checked_wherever_they_stand() {
    check(
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
                An entry of `configuration_aliases` is the local name `plain`, alone or with an alias behind a dot, such as `plain.other`.
            error main.tf:10,14-22 Invalid provider local name
                `my_plain` must consist of letters, digits and dashes, with no dash at either end.
            error main.tf:13,14-19 Invalid provider local name
                Names of providers are in lower case: write `plain`.
            error main.tf:15,10-23 Invalid resource type name
                A name begins with a letter or underscore and goes on with letters, digits, underscores and dashes.
            error main.tf:16,6-19 Invalid data source name
                A name begins with a letter or underscore and goes on with letters, digits, underscores and dashes.
            error main.tf:17,11-24 Invalid ephemeral resource type
                A name begins with a letter or underscore and goes on with letters, digits, underscores and dashes.
        "#]],
    );
}

#[test]
fn a_resource_is_not_judged_by_itself() {
    check(
        r#"
resource "a_thing" "a" {
  for_each = { x = 1 }
  input    = a_thing.a
  lifecycle {
    replace_triggered_by = [a_thing.b[each.key]]
    precondition {
      condition     = a_thing.a["x"].ok
      error_message = "No."
    }
    postcondition {
      condition     = self.ok
      error_message = "Not ${a_thing.a["x"].ok}."
    }
  }
}
resource "a_thing" "b" {
  for_each = { x = 1 }
}
"#,
        &expect![[r#"
            error main.tf:3,14-23 Self-referential block
                The block of `a_thing.a` cannot refer to itself.
            error main.tf:7,23-32 Invalid reference in precondition
                The block of `a_thing.a` cannot refer to itself.
            error main.tf:12,30-39 Invalid reference in postcondition
                The block of `a_thing.a` cannot refer to itself. Here `self` is the object.
        "#]],
    );
}

#[test]
fn of_each_only_the_key_picks_what_triggers() {
    check(
        r#"
resource "a_thing" "a" {
  for_each = { x = 1 }
  lifecycle {
    replace_triggered_by = [a_thing.b[each.value], a_thing.b[each.key]]
  }
}
resource "a_thing" "b" {
  for_each = { x = 1 }
}
"#,
        &expect![[r#"
            error main.tf:4,39-49 Invalid each reference in replace_triggered_by expression
                `each.value` cannot stand here: of `each`, only `each.key` is known before the objects are.
        "#]],
    );
}

#[test]
fn foreign_files_are_passed_over() {
    check(
        r#"
//- main.tf
locals {
  a = 1
}
//- .hidden.tf
nonsense
//- x.tf~
nonsense
//- #x.tf#
nonsense
//- notes.txt
nonsense
"#,
        &expect![[r#"
            local.a <- 
        "#]],
    );
}

#[test]
fn override_files_change_what_is_there_and_nothing_else() {
    check(
        r#"
//- main.tf
output "a" {
  value = 1
}
//- override.tf
output "a" {
  value = 2
  precondition {
    condition     = local.x
    error_message = "x"
  }
}
//- a_override.tf.json
{
  "output": {"b": {"value": 1}},
  "locals": {"x": 1},
  "moved": {"from": "a.b", "to": "a.c"}
}
"#,
        &expect![[r#"
            error a_override.tf.json:2,19-20 Missing base output definition to override
                There is no output "b" in another file. An override file changes only what is there without it.
            error a_override.tf.json:3,14-20 Missing base local value definition to override
                There is no local value "x" in another file. An override file changes only what is there without it.
            error a_override.tf.json:4,12-13 Cannot override 'moved' blocks
                Blocks of this type can stand only in files that override nothing.
            error override.tf:3,3-15 Can't override precondition blocks
                Override files cannot override "precondition" blocks.
        "#]],
    );
}

#[test]
fn blocks_are_known_and_have_the_right_labels() {
    check(
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
                No block of type "foo" is expected here.
            error main.tf:2,1-19 Invalid required_providers block
                A `required_providers` block stands inside a `terraform` block.
            error main.tf:3,10-11 Missing name for variable
                A block of type "variable" has one label before its brace: name.
            error main.tf:4,14-17 Extraneous label for variable
                A block of type "variable" has no more labels than: name.
            error main.tf:5,10-14 Invalid variable name
                A name begins with a letter or underscore and goes on with letters, digits, underscores and dashes.
            error main.tf:6,10-18 Invalid variable name
                `source` has a meaning of its own in module blocks; take another name.
            error main.tf:7,12-13 Missing required argument
                The argument "value" must be set here, but is not.
            error main.tf:8,8-11 Invalid output name
                A name begins with a letter or underscore and goes on with letters, digits, underscores and dashes.
            error main.tf:9,8-11 Extraneous label for locals
                A block of type "locals" has no labels.
            error main.tf:10,14-15 Missing name for resource
                A block of type "resource" has several labels before its brace: type, name.
            error main.tf:11,14-17 Invalid resource name
                A name begins with a letter or underscore and goes on with letters, digits, underscores and dashes.
        "#]],
    );
}

#[test]
fn variables_hold_only_what_they_may() {
    check(
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
                The default of `x` does not fit its type: a number is required.
            error main.tf:4,15-20 Unsuitable value type
                This value does not fit: a bool is required.
            error main.tf:5,15-19 Unsuitable value type
                This value does not fit: it must not be null.
            error main.tf:6,3-6 Unsupported argument
                No argument "foo" is expected here.
            error main.tf:7,3-12 Unsupported block type
                No block of type "lifecycle" is expected here.
            error main.tf:11,14-18 Invalid default value for variable
                The default of `y` does not fit its type: it is null, and `nullable` is false.
            error main.tf:12,14-15 Missing required argument
                The argument "condition" must be set here, but is not.
            error main.tf:12,14-15 Missing required argument
                The argument "error_message" must be set here, but is not.
            error main.tf:14,21-25 Invalid validation expression
                This condition mentions nothing, so it would always say the same.
            error main.tf:18,21-26 Invalid variable validation condition
                A validation of `y` must mention `var.y`, the value it judges.
            error main.tf:23,17-20 Variables not allowed
                `var` cannot be used here: this value must be a constant.
            error main.tf:24,17-27 Function calls not allowed
                No function can be called here: this value must be a constant.
        "#]],
    );
}

#[test]
fn outputs_hold_only_what_they_may() {
    check(
        r#"
output "c" {
  value      = 1
  depends_on = foo_x.z
  postcondition {}
}
"#,
        &expect![[r#"
            error main.tf:3,16-23 Invalid expression
                Only a list in brackets can stand here.
            error main.tf:4,3-16 Postconditions are not allowed
                An output has only preconditions: nothing happens to its value afterwards.
        "#]],
    );
}

#[test]
fn settings_and_providers_hold_only_what_they_may() {
    check(
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
            error main.tf:1,10-13 Invalid provider local name
                Names of providers are in lower case: write `a`.
            error main.tf:3,13-18 Invalid provider configuration alias
                The alias `1 2` is not a name: letters, digits, underscores and dashes.
            error main.tf:6,3-8 Reserved argument name in provider block
                `count` is kept for later versions of the language.
            warning main.tf:7,13-16 Version constraints inside provider configuration blocks are deprecated
                Versions belong into the `required_providers` block inside `terraform`.
            error main.tf:7,13-16 Invalid version constraint
                `x` is no version constraint: `x` is not a version; write up to three numbers with dots between them, as in 1.2.3.
            error main.tf:8,3-12 Reserved block type name in provider block
                `lifecycle` is kept for later versions of the language.
            error main.tf:11,3-6 Unsupported argument
                No argument "foo" is expected here.
            error main.tf:12,3-6 Unsupported block type
                No block of type "bar" is expected here.
            error main.tf:14,20-29 Invalid provider source string
                `a/b/c/d` must have the form `[HOST/][NAMESPACE/]TYPE`.
            error main.tf:14,41-44 Invalid version constraint
                `x` is no version constraint: `x` is not a version; write up to three numbers with dots between them, as in 1.2.3.
            error main.tf:15,20-25 Invalid source
                A source is a constant string.
            error main.tf:16,11-16 Invalid required_providers object
                An entry of `required_providers` is an object with `source` and `version`, such as { source = "hashicorp/random", version = "~> 3.0" }.
            error main.tf:17,9-14 Invalid required_providers object
                An entry of `required_providers` is an object with `source` and `version`, such as { source = "hashicorp/random", version = "~> 3.0" }.
            error main.tf:18,5-6 Invalid provider local name
                Names of providers are in lower case: write `e`.
            error main.tf:21,3-21 Duplicate required providers configuration
                A module lists its required providers in one place, and another one comes before this.
            error main.tf:23,3-18 Duplicate backend configuration
                A module says once where its state is, in a `backend` or a `cloud` block, and here it is said a second time.
        "#]],
    );
}

#[test]
fn resources_hold_only_what_they_may() {
    check(
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
                Only one of `count` and `for_each` can say how many instances there are.
            error main.tf:6,14-22 Invalid provider configuration reference
                Write the local name of a provider, and behind a dot the alias of one of its configurations: `aws`, `aws.west`.
            error main.tf:9,14-15 Invalid provider configuration reference
                Write the local name of a provider, and behind a dot the alias of one of its configurations: `aws`, `aws.west`.
            error main.tf:13,5-26 Invalid data resource lifecycle argument
                `create_before_destroy` means something only in `resource` blocks.
            error main.tf:14,5-19 Invalid data resource lifecycle argument
                `ignore_changes` means something only in `resource` blocks.
            error main.tf:20,22-27 Invalid expression
                Only a list in brackets can stand here.
        "#]],
    );
}

#[test]
fn a_lifecycle_holds_only_what_it_may() {
    check(
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
                A reference stands here as it is, without quotes.
            error main.tf:4,29-32 Variables not allowed
                `var` cannot be used here: this value must be a constant.
            error main.tf:5,29-30 Unsuitable value type
                This value does not fit: bool required.
            error main.tf:6,30-33 Invalid ignore_changes ruleset
                The text "*" cannot stand beside references.
            error main.tf:6,30-33 Invalid ignore_changes wildcard
                To ignore all changes, write `ignore_changes = all`.
            error main.tf:6,35-36 Invalid expression
                Only a plain reference can stand here: names with dots between them, and constant keys in brackets.
            error main.tf:6,38-42 Invalid expression
                Only a plain reference can stand here: names with dots between them, and constant keys in brackets.
            error main.tf:7,30-35 Invalid reference in replace_triggered_by expression
                `var.x` cannot trigger a replacement: only managed resources can, with `count.index` or `each.key` between their brackets.
            error main.tf:7,44-45 Invalid replace_triggered_by expression
                Each entry must name one managed resource, an instance of one, or an attribute.
            error main.tf:8,5-8 Unsupported argument
                No argument "foo" is expected here.
            error main.tf:9,5-8 Unsupported block type
                No block of type "bar" is expected here.
            error main.tf:10,18-19 Missing required argument
                The argument "error_message" must be set here, but is not.
            error main.tf:14,3-12 Duplicate lifecycle block
                This resource already has a `lifecycle` block at main.tf:3,3-12.
            error main.tf:15,3-9 Reserved block type name in resource block
                `locals` is kept for later versions of the language.
        "#]],
    );
}

#[test]
fn a_name_is_used_once() {
    check(
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
                The variable `a` is already there at main.tf:1,1-13. A name can be used once in a module.
            error main.tf:4,1-11 Duplicate output definition
                The output `a` is already there at main.tf:3,1-11. A name can be used once in a module.
            error main.tf:6,10-15 Duplicate local value definition
                The local value `a` is already there at main.tf:5,10-15. A name can be used once in a module.
            error main.tf:8,1-19 Duplicate resource "x_y" configuration
                `x_y.a` is already there at main.tf:7,1-19. A name can be used once in a module.
            error main.tf:10,1-15 Duplicate data "x_y" configuration
                `data.x_y.a` is already there at main.tf:9,1-15. A name can be used once in a module.
            error main.tf:12,1-13 Duplicate provider configuration
                The provider configuration `x` is already there at main.tf:11,1-13. Another configuration of the same provider needs an `alias`.
            error main.tf:14,1-13 Duplicate provider configuration
                The provider configuration `x.y` is already there at main.tf:13,1-13. Each alias of a provider can be used once.
        "#]],
    );
}

#[test]
fn references_must_lead_somewhere() {
    check(
        r#"
variable "size" {}
locals { name = 1 }
resource "x_y" "counted" { count = 2 }
resource "x_y" "each" { for_each = {} }
resource "x_y" "single" {
  depends_on = [x_y.none, x_y.counted[0], x_y.counted.id, var.size]
}
resource "x_y" "self" {
  count = 1
  input = x_y.self[0].id
}
resource "x_y" "alias" {
  provider = x.west
  input    = each.key
}
output "a" { value = x_y.counted.id }
output "b" { value = x_y.each.id }
output "c" { value = x_y.single[0].id }
output "d" { value = var.siz + local.nam }
output "e" { value = x_y.singel.id }
output "f" { value = data.x_y.single }
output "g" { value = [count.index, each.key] }
output "h" { value = module.m.x }
output "j" { value = [terraform.env, path.home, count.size, each.item, self.id, each.value] }
output "i" { value = [x_y.counted[*].id, x_y.each["a"].id, x_y.single.id, x_y.counted] }
"#,
        &expect![[r#"
            error main.tf:6,17-25 Reference to undeclared resource
                There is no managed resource `x_y.none` in the root module.
            error main.tf:6,43-54 Missing resource instance key
                `x_y.counted` has `count` set, so an attribute can be taken only of one of its instances, for example `x_y.counted[count.index]`, or of all with `x_y.counted[*]`.
            error main.tf:6,55-57 Invalid depends_on reference
                An entry of `depends_on` must be a whole object, such as `x_y.counted`, and not a part of one.
            error main.tf:10,11-19 Self-referential block
                The block of `x_y.self` cannot refer to itself.
            error main.tf:12,1-23 Provider configuration not present
                `x_y.alias` belongs to the provider configuration `x.west`, but there is no `provider` block with this name and alias, and no caller passes one.
            error main.tf:14,14-22 Reference to "each" in context without for_each
                `each` is there only within blocks that have a `for_each` argument, and has a value only while its key is among the elements.
            error main.tf:16,22-33 Missing resource instance key
                `x_y.counted` has `count` set, so an attribute can be taken only of one of its instances, for example `x_y.counted[count.index]`, or of all with `x_y.counted[*]`.
            error main.tf:17,22-30 Missing resource instance key
                `x_y.each` has `for_each` set, so an attribute can be taken only of one of its instances, for example `x_y.each[each.key]`, or of all with `x_y.each[*]`.
            error main.tf:18,22-35 Unexpected resource instance key
                `x_y.single` has neither `count` nor `for_each`; leave the key in brackets out.
            error main.tf:19,22-29 Reference to undeclared input variable
                There is no variable `siz` in the root module. Did you mean `var.size`?
            error main.tf:19,32-41 Reference to undeclared local value
                There is no local value `nam` in the root module. Did you mean `local.name`?
            error main.tf:20,22-32 Reference to undeclared resource
                There is no managed resource `x_y.singel` in the root module. Did you mean `x_y.single`?
            error main.tf:21,22-37 Reference to undeclared resource
                There is no data resource `data.x_y.single` in the root module. Did you mean `x_y.single`?
            error main.tf:22,23-34 Reference to "count" in non-counted context
                `count.index` is there only within blocks that have a `count` argument.
            error main.tf:22,36-44 Reference to "each" in context without for_each
                `each` is there only within blocks that have a `for_each` argument, and has a value only while its key is among the elements.
            error main.tf:23,22-30 Reference to undeclared module
                There is no module call `m` in the root module.
            error main.tf:24,23-36 Invalid "terraform" attribute
                `terraform.env` is now called `terraform.workspace`.
            error main.tf:24,38-47 Invalid "path" attribute
                `path` has no `home`; it has `cwd` and `module` and `root`.
            error main.tf:24,49-59 Invalid "count" attribute
                `count` has no `size`; it has `index`.
            error main.tf:24,61-70 Invalid "each" attribute
                `each` has no `item`; it has `key` and `value`.
            error main.tf:24,72-76 Invalid "self" reference
                `self` is there only within postconditions, provisioners and connections, where it means the object of that resource.
            error main.tf:24,81-91 each.value cannot be used in this context
                `each` is there only within blocks that have a `for_each` argument, and has a value only while its key is among the elements.
        "#]],
    );
}

#[test]
fn references_must_have_a_form_that_means_something() {
    check(
        r#"
output "a" { value = foo }
output "b" { value = data.foo }
output "c" { value = var }
output "d" { value = var["x"] }
output "e" { value = template.x }
output "f" { value = path }
output "g" { value = foo["x"] }
"#,
        &expect![[r#"
            error main.tf:1,22-25 Invalid reference
                `foo` is read as a resource type, and behind it must follow the name of a resource: `foo.NAME`. Text stands in double quotes.
            error main.tf:2,22-30 Invalid reference
                Behind `data` must follow a type and a name: `data.TYPE.NAME`.
            error main.tf:3,22-25 Invalid reference
                `var` is no value by itself. Name one of its attributes: `var.NAME`.
            error main.tf:4,25-30 Invalid reference
                `var` takes no key. Name one of its attributes: `var.NAME`.
            error main.tf:5,22-30 Reserved symbol name
                `template` is kept for later versions of the language. For a resource type of that name, write `resource.template.NAME`.
            error main.tf:6,22-26 Invalid reference
                `path` is no value by itself. Name one of its attributes: `path.NAME`.
            error main.tf:7,25-30 Invalid reference
                `foo` is read as a resource type, and behind it must follow the name of a resource: `foo.NAME`. Text stands in double quotes.
        "#]],
    );
}
