//! Values for variables, from all the places where they may be given.

use expect_test::{Expect, expect};

use super::*;
use crate::config::testing::{load_ok, report, show};

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

/// Resolves values given as `-var` text, and in a file that comes before.
fn check(module: &str, texts: &[(&str, &str)], file: &str, expect: &Expect) {
    let (config, mut sources) = load_ok(module);
    let mut diags = Diagnostics::new();
    let mut given =
        read_values(&mut diags, &mut sources, "terraform.tfvars", file.into()).unwrap_or_default();
    given.extend(texts.iter().map(|(name, text)| VariableInput {
        name: (*name).into(),
        value: GivenValue::Text((*text).into()),
        origin: Origin::Option,
    }));
    let mut out = String::new();
    if let Ok(inputs) = resolve(&mut diags, &mut sources, &config.root, given, Unset::Refused) {
        for (name, input) in inputs {
            out += &format!("{name} = {}\n", show(&input.value));
        }
    }
    expect.assert_eq(&(out + &report(&sources, &diags)));
}

#[test]
fn variables_nobody_gives_have_their_defaults() {
    check(
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
fn text_is_read_as_the_type_demands() {
    let texts = [
        ("untyped", "[1, 2]"),
        ("any", "[1, \"x\"]"),
        ("text", "null"),
        ("number", "12.50"),
        ("list", "[\"1\", 2]"),
        ("secret", "t"),
        ("object", "{ a = 1 }"),
    ];
    check(
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
fn the_last_value_counts_and_null_falls_back_where_null_may_not_be() {
    let file = r#"
text    = "file"
number  = 1
firm    = null
untyped = null
object  = { a = "x", b = null, c = true, d = 1 }
"#;
    check(
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
fn text_that_does_not_fit_is_refused() {
    let texts = [("number", "0x10"), ("list", "[1"), ("any", "var.x"), ("object", "{}")];
    check(
        VARIABLES,
        &texts,
        "",
        &expect![[r#"
            error <value for var.any>:1,1-4 Variables not allowed
                Variables may not be used here. `var` was found; this value must be a constant.
            error <value for var.list>:1,1-2 Unterminated tuple constructor expression
                The text ends before the bracket that closes this one.
            error main.tf:10,1-18 Invalid value for input variable
                The value that the option -var="number=..." gives for `var.number` does not fit: a number is required.
            error main.tf:27,1-18 Invalid value for input variable
                The value that the option -var="object=..." gives for `var.object` does not fit: attribute "a" is required.
        "#]],
    );
}

#[test]
fn a_file_of_values_holds_only_constants() {
    let file = r#"
text = var.x
list = [upper("x")]
foo {}
"#;
    check(
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
    check(
        VARIABLES,
        &[("zz", "1")],
        "a1 = 1\na2 = 2\na3 = 3\na4 = 4\n",
        &expect![[r#"
            warning - Value for undeclared variable
                The file `terraform.tfvars` gives a value for `a1`, but the root module has no such variable. Did you mean `any`? Values meant for many configurations can stand in TF_VAR_ environment variables.
            warning - Value for undeclared variable
                The file `terraform.tfvars` gives a value for `a2`, but the root module has no such variable. Did you mean `any`? Values meant for many configurations can stand in TF_VAR_ environment variables.
            error - Value for undeclared variable
                The option `-var` gives a value for `zz`, but the root module has no such variable. Declare it with a block `variable "zz" {}`.
            warning - Values for undeclared variables
                2 more such values were found.
        "#]],
    );
}

#[test]
fn what_is_required_must_be_given_and_not_null() {
    let module = r#"
variable "a" {}
variable "b" {
  nullable = false
}
variable "c" {
  type = list(string)
}
"#;
    check(
        module,
        &[],
        "b = null\nc = [1, {}]\n",
        &expect![[r#"
        error main.tf:1,1-13 No value for required variable
            The variable `a` has no default, so it must be given a value: with -var, -var-file, a .tfvars file, or TF_VAR_a in the environment.
        error terraform.tfvars:1,5-9 Required variable not set
            The value that `terraform.tfvars` gives for `var.b` does not fit: it must not be null.
        error terraform.tfvars:2,5-12 Invalid value for input variable
            The value that `terraform.tfvars` gives for `var.c` does not fit: element 1: string required.
    "#]],
    );
}
