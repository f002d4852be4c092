//! Variable values, from all sources.

use expect_test::{Expect, expect};

use super::*;
use crate::config::config_from_text::{format_diagnostics, format_value, load_valid_fixture};

const VARIABLES: &str = r#"
variable "untyped" { default = 1 }
variable "any" {
  type    = any
  default = null
}
variable "text" {
  type    = string
  default = "x"
}
variable "number" {
  type    = number
  default = 5
}
variable "list" {
  type    = list(number)
  default = []
}
variable "firm" {
  type     = string
  nullable = false
  default  = "firm"
}
variable "secret" {
  sensitive = true
  default   = "s"
}
variable "object" {
  type    = object({ a = string, b = optional(number, 7), c = optional(bool) })
  default = null
}
"#;

/// Resolves values of `-var` options, and of a file that comes before.
fn check_inputs(module: &str, texts: &[(&str, &str)], file: &str, expect: &Expect) {
    let (config, mut sources) = load_valid_fixture(module);
    let mut diags = Diagnostics::new();
    let mut given = read_values_file(&mut diags, &mut sources, "terraform.tfvars", file.into())
        .unwrap_or_default();
    given.extend(texts.iter().map(|(name, text)| GivenVariable {
        name: (*name).into(),
        value: GivenValue::Unparsed((*text).into()),
        origin: InputOrigin::Option,
    }));
    let mut out = String::new();
    if let Ok(inputs) = resolve_variables(
        &mut diags,
        &mut sources,
        &config.root,
        given,
        UnsetVariableTreatment::Error,
    ) {
        for (name, input) in inputs {
            out += &format!("{name} = {}\n", format_value(&input.value));
        }
    }
    expect.assert_eq(&(out + &format_diagnostics(&sources, &diags)));
}

#[test]
fn variables_without_values_have_their_defaults() {
    check_inputs(
        VARIABLES,
        &[],
        "",
        &expect![[r#"
        any = null
        firm = "firm"
        list = list[]
        number = 5
        object = null
        secret = {"sensitive"}("s")
        text = "x"
        untyped = 1
    "#]],
    );
}

#[test]
fn strings_are_parsed_by_the_type_of_the_variable() {
    // As in Terraform, a string is parsed as an expression only if the type is not primitive;
    // without a type it stays a string.
    let texts = [
        ("untyped", "[1, 2]"),
        ("any", "[1, \"x\"]"),
        ("text", "null"),
        ("number", "12.50"),
        ("list", "[\"1\", 2]"),
        ("secret", "t"),
        ("object", "{ a = 1 }"),
    ];
    check_inputs(
        VARIABLES,
        &texts,
        "",
        &expect![[r#"
        any = [1, "x"]
        firm = "firm"
        list = list[1, 2]
        number = 12.5
        object = {a = "1", b = 7, c = null}
        secret = {"sensitive"}("t")
        text = "null"
        untyped = "[1, 2]"
    "#]],
    );
}

#[test]
fn the_last_value_takes_precedence_and_null_means_the_default_if_not_nullable() {
    let file = r#"
text    = "file"
number  = 1
firm    = null
untyped = null
object  = { a = "x", b = null, c = true, d = 1 }
"#;
    // Options come after files, and the last value is used, as in Terraform.
    check_inputs(
        VARIABLES,
        &[("number", "2"), ("number", "3")],
        file,
        &expect![[r#"
        any = null
        firm = "firm"
        list = list[]
        number = 3
        object = {a = "x", b = 7, c = true}
        secret = {"sensitive"}("s")
        text = "file"
        untyped = null
    "#]],
    );
}

#[test]
fn strings_of_the_wrong_type_are_refused() {
    // The language has no hexadecimal numbers.
    let texts = [("number", "0x10"), ("list", "[1"), ("any", "var.x"), ("object", "{}")];
    check_inputs(
        VARIABLES,
        &texts,
        "",
        &expect![[r#"
            error <value for var.any>:1,1-4 Variables not allowed
                Variables may not be used here. `var` was found; this value must be a constant.
            error <value for var.list>:1,1-2 Unterminated tuple constructor expression
                The input ends before the bracket that closes this one.
            error main.tf:10,1-18 Invalid value for input variable
                Unsuitable value for var.number set using -var="number=...": a number is required.
            error main.tf:27,1-18 Invalid value for input variable
                Unsuitable value for var.object set using -var="object=...": attribute "a" is required.
        "#]],
    );
}

#[test]
fn a_variable_values_file_contains_only_constants() {
    let file = r#"
text = var.x
list = [upper("x")]
foo {}
"#;
    check_inputs(
        VARIABLES,
        &[],
        file,
        &expect![[r#"
            any = null
            firm = "firm"
            list = list[]
            number = 5
            object = null
            secret = {"sensitive"}("s")
            text = "x"
            untyped = 1
            error terraform.tfvars:4,1-4 Unexpected "foo" block
                Blocks are not allowed here. To set "foo", write foo = followed by its value.
            error terraform.tfvars:2,8-11 Variables not allowed
                Variables may not be used here. `var` was found; this value must be a constant.
            error terraform.tfvars:3,9-19 Function calls not allowed
                Functions may not be called here. This value must be a constant.
        "#]],
    );
}

#[test]
fn values_for_no_variable_are_an_error_only_on_the_command_line() {
    // As in Terraform, two of a file are named and the others counted.
    check_inputs(
        VARIABLES,
        &[("zz", "1")],
        "a1 = 1\na2 = 2\na3 = 3\na4 = 4\n",
        &expect![[r#"
            warning - Value for undeclared variable
                The root module does not declare a variable named "a1" but a value was found in file "terraform.tfvars". If you meant to use this value, add a "variable" block to the configuration. Did you mean `any`?

                To silence these warnings, use TF_VAR_... environment variables to provide certain "global" settings to all configurations in your organization. To reduce the verbosity of these warnings, use the -compact-warnings option.
            warning - Value for undeclared variable
                The root module does not declare a variable named "a2" but a value was found in file "terraform.tfvars". If you meant to use this value, add a "variable" block to the configuration. Did you mean `any`?

                To silence these warnings, use TF_VAR_... environment variables to provide certain "global" settings to all configurations in your organization. To reduce the verbosity of these warnings, use the -compact-warnings option.
            error - Value for undeclared variable
                A variable named "zz" was assigned on the command line, but the root module does not declare a variable of that name. To use this value, add a "variable" block to the configuration.
            warning - Values for undeclared variables
                In addition to the other similar warnings shown, 2 other variable(s) defined without being declared.
        "#]],
    );
}

#[test]
fn required_variable_must_be_set_and_not_null() {
    let module = r#"
variable "a" {}
variable "b" {
  nullable = false
}
variable "c" {
  type = list(string)
}
"#;
    check_inputs(
        module,
        &[],
        "b = null\nc = [1, {}]\n",
        &expect![[r#"
            error main.tf:1,1-13 No value for required variable
                The root module input variable "a" is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable.
            error terraform.tfvars:1,5-9 Required variable not set
                The given value is not suitable for var.b declared at main.tf:2,1-13: required variable may not be set to null.
            error terraform.tfvars:2,5-12 Invalid value for input variable
                The given value is not suitable for var.c declared at main.tf:5,1-13: element 1: string required.
        "#]],
    );
}
