//! Directories of configuration, read into a `Config` or refused.

mod blocks;
mod references;

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::config_from_text::{format_diagnostics, load_fixture, load_valid_fixture};
use super::*;

/// Loads a configuration and compares its outline, or the errors in it.
fn check_outline(fixture: &str, expect: &Expect) {
    let (config, sources, diags) = load_fixture(fixture);
    let mut out = format_diagnostics(&sources, &diags);
    if let Some(config) = config {
        write_outline(&mut out, &config.root).unwrap();
    }
    expect.assert_eq(&out);
}

fn reference_names(references: &[Reference]) -> String {
    references.iter().map(|reference| reference.subject.to_string()).collect::<Vec<_>>().join(" ")
}

fn write_outline(out: &mut String, module: &Module) -> std::fmt::Result {
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
        writeln!(out, "provider {local} = {provider} <- {}", reference_names(references))?;
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
        writeln!(out, "local.{} <- {}", local.name, reference_names(&local.references))?;
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
            resource.provider.display_string(),
            reference_names(&resource.references)
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
        writeln!(out, "output.{} <- {}", output.name, reference_names(&output.references))?;
    }
    Ok(())
}

#[test]
fn reads_settings_providers_variables_and_outputs() {
    // A default is converted like any other value.
    check_outline(
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
fn reads_resources_with_all_their_content() {
    // In a block `_`, the provider defines the names: this `count` does not repeat the block.
    check_outline(
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
                In this context, references are expected literally rather than in quotes. Terraform 0.11 and earlier required quotes, but quoted references are now deprecated and will be removed in a future version of Terraform. Remove the quotes surrounding this reference to silence this warning.
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
    // The rest may be valid in the required version.
    check_outline(
        r#"
terraform {
  required_version = "~> 1.10.0"
}
block_from_the_future "x" {}
"#,
        &expect![[r#"
            error main.tf:2,3-33 Unsupported Terraform Core version
                This configuration requires Terraform `~> 1.10.0`. This program is compatible with Terraform 1.11.4. Change the constraint if that is enough for the configuration.
        "#]],
    );
}

#[test]
fn version_constraints_must_be_satisfiable() {
    check_outline(
        r#"
terraform {
  required_version = ">= 1.11.4-beta1"
}
"#,
        &expect![[r#"
            error main.tf:2,22-39 Invalid required_version constraint
                `>= 1.11.4-beta1` names a prerelease. Prereleases of the engine cannot be required. Remove the part after the numbers.
        "#]],
    );
    check_outline(
        r#"
terraform {
  required_version = " "
  required_providers {
    a = { source = "x/a", version = "" }
    b = { source = "x/b", version = null }
    c = { source = "x/c", version = ">= v1.0" }
    d = "1.0.0.0"
  }
}
module "m" {
  source  = "x/m/y"
  version = ""
}
"#,
        &expect![[r#"
            error main.tf:2,22-25 Invalid version constraint
                This string does not use correct version constraint syntax. ` ` was found: a constraint is empty.
            error main.tf:4,37-39 Invalid version constraint
                This string does not use correct version constraint syntax. `` was found: a constraint is empty.
            error main.tf:5,37-41 Invalid version constraint
                Version constraints are a string, such as "~> 3.0".
            error main.tf:6,37-46 Invalid version constraint
                This string does not use correct version constraint syntax. `>= v1.0` was found: `v1.0` is not a version; write up to three numbers, as in 1.2.3.
            error main.tf:7,9-18 Invalid version constraint
                This string does not use correct version constraint syntax. `1.0.0.0` was found: `1.0.0.0` is not a version; write up to three numbers, as in 1.2.3.
            error main.tf:12,13-15 Invalid version constraint
                This string does not use correct version constraint syntax. `` was found: a constraint is empty.
        "#]],
    );
    // `~>` with one number has no upper end, and zeros before a number mean nothing.
    load_valid_fixture(
        r#"
terraform {
  required_version = "~> 0, >= v1.11.04.0"
}
"#,
    );
}

#[test]
fn a_syntax_error_hides_only_errors_of_its_own_block() {
    check_outline(
        r#"
//- a.tf
variable "a" { default = }
variable "b" { unknown = 1 }
output "o" {
  unknown = 1
  value   = [
}
//- b.tf
locals { a = [ }
variable "a" {}
variable "1" {}
resource "a" {}
//- c.tf
nope {}
//- d_override.tf
variable "d" {}
"#,
        &expect![[r#"
            error a.tf:1,26-27 Invalid expression
                Expected the start of an expression, but found an invalid expression token.
            error a.tf:2,16-23 Unsupported argument
                An argument named "unknown" is not expected here.
            error a.tf:4,3-10 Unsupported argument
                An argument named "unknown" is not expected here.
            error a.tf:6,1-2 Invalid expression
                Expected the start of an expression, but found an invalid expression token.
            error b.tf:1,16-17 Invalid expression
                Expected the start of an expression, but found an invalid expression token.
            error b.tf:2,1-13 Duplicate variable declaration
                A variable named "a" was already declared at a.tf:1,1-13. Variable names must be unique within a module.
            error b.tf:3,10-13 Invalid variable name
                A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.
            error b.tf:4,14-15 Missing name for resource
                All resource blocks must have 2 labels (type, name).
            error c.tf:1,1-5 Unsupported block type
                Blocks of type "nope" are not expected here.
            error d_override.tf:1,1-13 Missing base variable declaration to override
                There is no variable named "d". An override file can only override a variable that was already declared in a primary configuration file.
        "#]],
    );
}

#[test]
fn unparsable_override_block_is_not_a_second_block() {
    check_outline(
        r#"
//- a.tf
variable "a" {}
//- b_override.tf
variable "a" {
  default =
}
variable "b" {
  default =
}
"#,
        &expect![[r#"
            error b_override.tf:2,12-3,1 Invalid expression
                Expected the start of an expression, but found an invalid expression token. The line ends here. A value can continue on the next line only inside parentheses or brackets.
            error b_override.tf:4,1-13 Missing base variable declaration to override
                There is no variable named "b". An override file can only override a variable that was already declared in a primary configuration file.
            error b_override.tf:5,12-6,1 Invalid expression
                Expected the start of an expression, but found an invalid expression token. The line ends here. A value can continue on the next line only inside parentheses or brackets.
        "#]],
    );
}

#[test]
fn foreign_files_are_ignored() {
    // Terraform ignores the same files: hidden files and leftovers of editors.
    check_outline(
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
fn override_files_change_only_existing_blocks() {
    check_outline(
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
                There is no output named "b". An override file can only override an output that was already defined in a primary configuration file.
            error a_override.tf.json:3,14-20 Missing base local value definition to override
                There is no local value named "x". An override file can only override a local value that was already defined in a primary configuration file.
            error a_override.tf.json:4,12-13 Cannot override 'moved' blocks
                Records of moved objects can appear only in normal files, not in override files.
            error override.tf:3,3-15 Can't override precondition blocks
                Override files cannot override "precondition" blocks.
        "#]],
    );
}
