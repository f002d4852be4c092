//! Tests of names while results come in, and of repetition.

use expect_test::{Expect, expect};
use formwork_value::diag::Severity;
use formwork_value::{Diagnostics, Marks, Type, Value};

use super::conditions::{self, ConditionKind};
use super::testing::EvalFixture;
use super::*;
use crate::addr::InstanceKey;
use crate::config::config_from_text::{format_diagnostics, format_value};

fn object_with_id(id: &str) -> Value {
    Value::object([("id", Value::string(id)), ("later", Value::unknown(Type::String))])
}

fn for_each_expansion(keys: &[&str]) -> Expansion {
    let pairs = keys.iter().map(|key| ((*key).into(), Value::string(*key))).collect();
    Expansion::ForEach(formwork_value::value::Map::new(Type::String, pairs))
}

const RESOURCES_CONFIG: &str = r#"
variable "v" {}
locals { l = 1 }
resource "x_y" "single" {}
resource "x_y" "counted" { count = 3 }
resource "x_y" "each" { for_each = {} }
resource "x_y" "none" { count = 0 }
data "x_y" "d" {}
"#;

fn fixture_with_outputs(outputs: &str) -> EvalFixture {
    let bench = EvalFixture::from_fixture(&format!("{RESOURCES_CONFIG}{outputs}"));
    let root = bench.results.root();
    root.variables.set("v", Value::string("b").mark(Marks::SENSITIVE));
    root.locals.set("l", Value::int(1));
    bench.resource_results("x_y.single").set_expansion(Expansion::Single);
    bench.resource_results("x_y.single").set_instance(&InstanceKey::None, object_with_id("s"));
    // The third one is left out, as if its turn had not come.
    bench.resource_results("x_y.counted").set_expansion(Expansion::Count(3));
    bench.resource_results("x_y.counted").set_instance(&InstanceKey::Int(0), object_with_id("c0"));
    bench.resource_results("x_y.counted").set_instance(&InstanceKey::Int(1), object_with_id("c1"));
    bench.resource_results("x_y.each").set_expansion(for_each_expansion(&["a", "b"]));
    bench
        .resource_results("x_y.each")
        .set_instance(&InstanceKey::Str("a".into()), object_with_id("ea"));
    bench
        .resource_results("x_y.each")
        .set_instance(&InstanceKey::Str("b".into()), object_with_id("eb"));
    bench.resource_results("x_y.none").set_expansion(Expansion::Count(0));
    bench
        .resource_results("data.x_y.d")
        .set_placeholder(Value::unknown(Type::object([("id", Type::String)])));
    bench
}

fn check_outputs(outputs: &str, expect: &Expect) {
    let bench = fixture_with_outputs(outputs);
    expect.assert_eq(&bench.evaluate_outputs(&bench.root_scope()));
}

#[test]
fn names_resolve_to_recorded_values() {
    // An index is converted to the type that the value requires: `"0"` is the first instance.
    check_outputs(
        r#"
output "a" { value = [var.v, local.l] }
output "b" { value = x_y.single.id }
output "c" { value = x_y.counted[1].id }
output "d" { value = x_y.counted[local.l].id }
output "e" { value = x_y.each["a"].id }
output "f" { value = x_y.each[var.v].id }
output "g" { value = x_y.each }
output "h" { value = [x_y.counted, length(x_y.counted)] }
output "i" { value = x_y.counted[*].id }
output "j" { value = [for k, y in x_y.each : "${k}-${y.id}"] }
output "k" { value = x_y.single.later }
output "l" { value = data.x_y.d.id }
output "m" { value = x_y.none }
output "n" { value = resource.x_y.single.id }
output "o" { value = x_y.counted["0"].id }
"#,
        &expect![[r#"
            a = [{"sensitive"}("b"), 1]
            b = "s"
            c = "c1"
            d = "c1"
            e = "ea"
            f = "eb"
            g = {a = {id = "ea", later = unknown string}, b = {id = "eb", later = unknown string}}
            h = [[{id = "c0", later = unknown string}, {id = "c1", later = unknown string}], 2]
            i = ["c0", "c1"]
            j = ["a-ea", "b-eb"]
            k = unknown string
            l = unknown string
            m = []
            n = "s"
            o = "c0"
        "#]],
    );
}

#[test]
fn an_instance_that_is_not_recorded_yet_is_unknown() {
    check_outputs(
        "output \"a\" { value = x_y.counted[2].id }\n",
        &expect![[r#"
        a = unknown any
    "#]],
    );
}

#[test]
fn the_combined_value_is_cached_only_when_all_instances_are_recorded() {
    let bench = fixture_with_outputs("");
    let counted = bench.resource_results("x_y.counted");
    assert_eq!(counted.combined_value().unwrap().children().last(), Some(&object_with_id("c1")));
    counted.set_instance(&InstanceKey::Int(2), object_with_id("c2"));
    assert_eq!(counted.combined_value().unwrap().children().last(), Some(&object_with_id("c2")));
    assert_eq!(counted.combined_value(), counted.combined_value());
}

#[test]
fn computed_keys_must_select_an_instance() {
    check_outputs(
        r#"
output "a" { value = x_y.counted[local.l + 2].id }
output "b" { value = x_y.counted[-1] }
output "c" { value = x_y.each["z"].id }
output "d" { value = x_y.none[0] }
output "e" { value = x_y.counted["x"] }
output "f" { value = x_y.each[5] }
output "g" { value = x_y.counted[data.x_y.d.id] }
"#,
        &expect![[r#"
            error main.tf:9,33-46 Invalid index
                `x_y.counted` has no instance with the given key: its instances are numbered from 0 to 2.
            error main.tf:10,33-37 Invalid index
                `x_y.counted` has no instance with the given key: its instances are numbered from 0 to 2.
            error main.tf:11,30-35 Invalid index
                `x_y.each` has no instance with the given key: its `for_each` has no such key.
            error main.tf:12,30-33 Invalid index
                `x_y.none` has no instance with the given key: it has no instances.
            error main.tf:13,33-38 Invalid index
                | x_y.counted is tuple with 2 elements
                The given key does not identify an element in this collection value: a number is required.
            error main.tf:14,30-33 Invalid index
                | x_y.each is object with 2 attributes
                The given key does not identify an element in this collection value. An object only supports looking up attributes by name, not by numeric index.
            g = unknown any
        "#]],
    );
}

#[test]
fn path_and_terraform_attributes_are_resolved() {
    let bench = fixture_with_outputs(
        r#"
output "a" { value = [path.module, path.root, path.cwd] }
output "b" { value = terraform.workspace }
output "c" { value = terraform.applying }
output "f" { value = timestamp() }
output "g" { value = uper("x") }
"#,
    );
    // As in Terraform, whether it applies is ephemeral: no plan may depend on it.
    expect![[r#"
        a = [".", ".", "/work"]
        b = "default"
        c = {"ephemeral"}(false)
        f = unknown string
        error main.tf:13,22-26 Call to unknown function
            There is no function named "uper". Did you mean "upper"?
    "#]]
    .assert_eq(&bench.evaluate_outputs(&bench.root_scope()));
}

#[test]
fn count_each_and_self_have_values_within_an_instance() {
    let source = r#"
resource "x_y" "a" {
  count = 2
  value = [count.index, self.id]
}
resource "x_y" "b" {
  for_each = {}
  value    = "${each.key}=${each.value}"
}
"#;
    let fixture = EvalFixture::from_fixture(source);
    let value = |text: &str, scope: &ModuleScope<'_>| {
        let name = text.parse::<crate::addr::ResourceAddr>().unwrap().resource;
        let body = &fixture.config.root.resources[&name].body;
        let mut diags = Diagnostics::new();
        match formwork_lang::eval::evaluate(&mut diags, &body.attributes[0].expr, scope) {
            Ok(value) => format_value(&value),
            Err(_) => format_diagnostics(&fixture.sources, &diags),
        }
    };
    let keys = for_each_expansion(&["k"]);
    let scope =
        fixture.root_scope().with_repetition(keys.repetition_data(&InstanceKey::Str("k".into())));
    expect![[r#""k=k""#]].assert_eq(&value("x_y.b", &scope));
    let scope = fixture
        .root_scope()
        .with_repetition(Expansion::Count(2).repetition_data(&InstanceKey::Int(1)));
    expect![[r#"
        error main.tf:3,25-29 Invalid "self" reference
            The "self" object is not available in this context. This object can be used only in resource provisioner, connection, and postcondition blocks.
    "#]]
    .assert_eq(&value("x_y.a", &scope));
    // As for an instance that is only in the state.
    let without_value =
        RepetitionData { each_value: None, ..keys.repetition_data(&InstanceKey::Str("k".into())) };
    expect![[r#"
        error main.tf:7,29-39 each.value cannot be used in this context
            A reference to "each.value" has been used in a context in which it is unavailable, such as when the configuration no longer contains the value in its "for_each" expression. Remove this reference to each.value in your configuration to work around this error.
    "#]]
    .assert_eq(&value("x_y.b", &fixture.root_scope().with_repetition(without_value)));
}

fn describe_expansions(fixture: &str) -> String {
    let bench =
        EvalFixture::from_fixture(&format!("variable \"u\" {{}}\nvariable \"s\" {{}}\n{fixture}"));
    let variables = &bench.results.root().variables;
    variables.set("u", Value::unknown(Type::String));
    variables.set("s", Value::int(2).mark(Marks::SENSITIVE));
    let mut out = String::new();
    for resource in bench.config.root.resources.values() {
        let mut diags = Diagnostics::new();
        let description = match expand::expand_repetition(
            &mut diags,
            &bench.root_scope(),
            &resource.repetition,
        ) {
            Ok(expansion) => {
                let keys: Vec<String> = expansion.keys().map(|key| key.to_string()).collect();
                format!("{} {}\n", resource.name, keys.join(" "))
            }
            Err(_) => format_diagnostics(&bench.sources, &diags),
        };
        out += &description;
    }
    out
}

#[test]
fn count_expands_to_keys_from_zero() {
    expect![[r#"
        x_y.a [0] [1]
        x_y.b [0] [1] [2]
        x_y.c 
        x_y.d [0] [1]
        x_y.e 
        error main.tf:9,30-32 Invalid count argument
            The given "count" argument value is unsuitable: must be greater than or equal to zero.
        error main.tf:10,30-33 Invalid count argument
            The given "count" argument value is unsuitable: value must be a whole number, between -9223372036854775808 and 9223372036854775807.
        error main.tf:11,30-34 Invalid count argument
            The given "count" argument value is null. An integer is required.
        error main.tf:12,30-33 Incorrect value type
            Invalid expression value: a number is required.
        error main.tf:13,30-33 Incorrect value type
            Invalid expression value: number required.
        error main.tf:14,30-35 Invalid count argument
            The "count" value depends on resource attributes that cannot be determined until apply, so Formwork cannot predict how many instances will be created. To work around this, use the -target argument to first apply only the resources that the count depends on.
        error main.tf:15,30-33 Invalid count argument
            `count` is 1000000000; at most 1000000 are allowed.
        error main.tf:16,30-56 Invalid count argument
            The given "count" is derived from an ephemeral value, which means that Formwork cannot persist it between plan/apply rounds. Use only non-ephemeral values to specify the number of resource instances.
    "#]].assert_eq(&describe_expansions(
        r#"
resource "x_y" "a" { count = 2 }
resource "x_y" "b" { count = "3" }
resource "x_y" "c" { count = 0 }
resource "x_y" "d" { count = var.s }
resource "x_y" "e" {}
resource "x_y" "f" { count = -1 }
resource "x_y" "g" { count = 1.5 }
resource "x_y" "h" { count = null }
resource "x_y" "i" { count = "x" }
resource "x_y" "j" { count = [1] }
resource "x_y" "k" { count = var.u }
resource "x_y" "l" { count = 1e9 }
resource "x_y" "m" { count = terraform.applying ? 1 : 2 }
"#,
    ));
}

#[test]
fn for_each_expands_to_the_keys_of_a_map_or_set_of_strings() {
    expect![[r#"
        x_y.a ["a"] ["b"]
        x_y.b [""] ["a"] ["x"]
        x_y.c 
        x_y.d ["a"] ["b"]
        error main.tf:8,33-38 Invalid for_each argument
            The given "for_each" argument value is unsuitable: the "for_each" argument must be a map, or set of strings, and you have provided a value of type tuple. Use `toset` to convert a list of strings to a set.
        error main.tf:9,33-37 Invalid for_each argument
            The given "for_each" argument value is unsuitable: the given "for_each" argument value is null. A map, or set of strings is allowed.
        error main.tf:10,33-36 Invalid for_each argument
            The given "for_each" argument value is unsuitable: the "for_each" argument must be a map, or set of strings, and you have provided a value of type string.
        error main.tf:11,33-43 Invalid for_each set argument
            The given "for_each" argument value is unsuitable: "for_each" supports maps and sets of strings, but you have provided a set containing type number.
        error main.tf:12,33-51 Invalid for_each set argument
            The given "for_each" argument value is unsuitable: "for_each" sets must not contain null values.
        error main.tf:13,33-47 Invalid for_each argument
            | var.u is a string, known only after apply
            The "for_each" set includes values derived from resource attributes that cannot be determined until apply, and so Formwork cannot determine the full set of keys that will identify the instances of this resource.

            When working with unknown values in for_each, it's better to use a map value where the keys are defined statically in your configuration and where only the values contain apply-time results.

            Alternatively, you could use the -target planning option to first apply only the resources that the for_each value depends on, and then apply a second time to fully converge.
        error main.tf:14,33-48 Invalid for_each argument
            | var.u is a string, known only after apply
            The "for_each" map includes keys derived from resource attributes that cannot be determined until apply, and so Formwork cannot determine the full set of keys that will identify the instances of this resource.

            When working with unknown values in for_each, it's better to define the map keys statically in your configuration and place apply-time results only in the map values.

            Alternatively, you could use the -target planning option to first apply only the resources that the for_each value depends on, and then apply a second time to fully converge.
        error main.tf:15,33-47 Invalid for_each argument
            | var.s has a sensitive value
            Sensitive values, or values derived from sensitive values, cannot be used as for_each arguments. If used, the sensitive value could be exposed as a resource instance key. If the keys themselves are not secret, unmark them with `nonsensitive`.
        error main.tf:16,33-38 Invalid for_each argument
            | var.u is a string, known only after apply
            The "for_each" map includes keys derived from resource attributes that cannot be determined until apply, and so Formwork cannot determine the full set of keys that will identify the instances of this resource.

            When working with unknown values in for_each, it's better to define the map keys statically in your configuration and place apply-time results only in the map values.

            Alternatively, you could use the -target planning option to first apply only the resources that the for_each value depends on, and then apply a second time to fully converge.
    "#]].assert_eq(&describe_expansions(
        r#"
resource "x_y" "a" { for_each = { b = 1, a = var.u } }
resource "x_y" "b" { for_each = toset(["x", "a", ""]) }
resource "x_y" "c" { for_each = toset([]) }
resource "x_y" "d" { for_each = { a = var.s, b = null } }
resource "x_y" "f" { for_each = ["x"] }
resource "x_y" "g" { for_each = null }
resource "x_y" "h" { for_each = "x" }
resource "x_y" "i" { for_each = toset([1]) }
resource "x_y" "j" { for_each = toset(["x", null]) }
resource "x_y" "k" { for_each = toset([var.u]) }
resource "x_y" "l" { for_each = { (var.u) = 1 } }
resource "x_y" "m" { for_each = toset([var.s]) }
resource "x_y" "n" { for_each = var.u }
"#,
    ));
}

#[test]
fn invalid_repetition_is_refused_before_its_value_is_known() {
    let bench = EvalFixture::from_fixture(
        r#"
variable "u" {}
resource "x_y" "a" { for_each = toset([var.u]) }
resource "x_y" "b" { for_each = [var.u] }
resource "x_y" "c" { count = var.u }
"#,
    );
    bench.results.root().variables.set("u", Value::unknown(Type::String));
    let mut out = String::new();
    for resource in bench.config.root.resources.values() {
        let mut diags = Diagnostics::new();
        match expand::check_repetition(&mut diags, &bench.root_scope(), &resource.repetition) {
            Ok(expansion) => out += &format!("{} {expansion:?}\n", resource.name),
            Err(_) => out += &format_diagnostics(&bench.sources, &diags),
        }
    }
    expect![[r#"
        x_y.a None
        error main.tf:3,33-40 Invalid for_each argument
            | var.u is a string
            The given "for_each" argument value is unsuitable: the "for_each" argument must be a map, or set of strings, and you have provided a value of type tuple. Use `toset` to convert a list of strings to a set.
        x_y.c None
    "#]].assert_eq(&out);
}

const CONDITIONS_CONFIG: &str = r#"
variable "v" {
  validation {
    condition     = length(var.v) > 2
    error_message = "${var.v} is too short"
  }
}
variable "s" {}
variable "u" {}
resource "x_y" "a" {
  lifecycle {
    precondition {
      condition     = var.v == "ab"
      error_message = "holds"
    }
    precondition {
      condition     = var.u == "x"
      error_message = "not known yet"
    }
    precondition {
      condition     = var.v != "ab"
      error_message = "it is ${var.v}"
    }
    precondition {
      condition     = var.v
      error_message = "x"
    }
    precondition {
      condition     = var.v == "" ? null : null
      error_message = "x"
    }
    precondition {
      condition     = var.v == ""
      error_message = "secret ${var.s}"
    }
    precondition {
      condition     = var.v == "ab"
      error_message = tonumber(var.v)
    }
    precondition {
      condition     = var.v == ""
      error_message = null
    }
    postcondition {
      condition     = self.id == var.v
      error_message = "id is ${self.id}"
    }
  }
}
"#;

#[test]
fn failed_conditions_report_their_message() {
    let bench = EvalFixture::from_fixture(CONDITIONS_CONFIG);
    let variables = &bench.results.root().variables;
    variables.set("s", Value::int(2).mark(Marks::SENSITIVE));
    variables.set("u", Value::unknown(Type::String));
    let mut diags = Diagnostics::new();
    let variable = &bench.config.root.variables["v"];
    let judged = Value::string("ab");
    let verdicts = &bench.results.verdicts;
    let _ = conditions::validate_variable(
        &mut diags,
        &bench.root_scope(),
        conditions::VariableValue { variable, value: &judged, span: variable.span },
        verdicts,
    );
    variables.set("v", judged);
    let lifecycle = &bench.config.root.resources.values().next().unwrap().lifecycle;
    let kind = ConditionKind::ResourcePrecondition;
    let subject = &condition_results::ConditionSubject::of_instance(&"t.a".parse().unwrap());
    let judging =
        conditions::ConditionContext { object: subject, verdicts, failure: Severity::Error };
    let _ = conditions::check_conditions(
        &mut diags,
        &bench.root_scope(),
        kind,
        &lifecycle.preconditions,
        judging,
    );
    let scope = bench.root_scope().with_self(object_with_id("made"));
    let kind = ConditionKind::ResourcePostcondition;
    let _ =
        conditions::check_conditions(&mut diags, &scope, kind, &lifecycle.postconditions, judging);
    expect![[r#"
        error main.tf:1,1-13 Invalid value for variable
            | var.v is "ab"
            ab is too short

            This was checked by the validation rule at main.tf:2,3-13.
        error main.tf:20,23-36 Resource precondition failed
            | var.v is "ab"
            it is ab
        error main.tf:24,23-28 Invalid condition result
            | var.v is "ab"
            A condition must be true or false: a bool is required.
        error main.tf:28,23-48 Invalid condition result
            | var.v is "ab"
            A condition must be true or false, but this one is null.
        warning main.tf:33,23-40 Error message refers to sensitive values
            The message of this condition contains a sensitive value, so it is not shown. Remove the value, or use `nonsensitive` if it is not a secret.
        error main.tf:32,23-34 Resource precondition failed
            | var.v is "ab"
            The condition is not met. Its message cannot be shown: it is sensitive, ephemeral, or not known yet.
        error main.tf:37,32-37 Invalid function argument
            | var.v is "ab"
            Invalid value for "v" parameter: cannot convert "ab" to number; given string must be a decimal representation of a number.
        error main.tf:41,23-27 Invalid error message
            A message must be a string, but this one is null.
        error main.tf:44,23-39 Resource postcondition failed
            | self.id is "made"
            | var.v is "ab"
            id is made
    "#]].assert_eq(&format_diagnostics(&bench.sources, &diags));
}

#[test]
fn outputs_of_a_called_module_are_read_one_by_one() {
    let bench = EvalFixture::from_fixture(
        r#"
//- main.tf
module "one" {
  source = "./child"
}
module "many" {
  source = "./child"
  count  = 2
}
//- child/main.tf
output "a" { value = 1 }
output "b" { value = 2 }
"#,
    );
    let root = bench.results.root();
    root.record_call_expansion(&bench.config, "one", Expansion::Single);
    root.record_call_expansion(&bench.config, "many", Expansion::Count(2));
    let module = |text: &str| bench.results.module_instance(&text.parse().unwrap()).unwrap();
    module("module.one").outputs.set("a", Value::int(1));
    module("module.many[1]").outputs.set("a", Value::int(11));
    let mut out = String::new();
    for text in [
        "module.one.a",
        "module.one",
        "module.many[1].a",
        "module.many[*].a",
        "module.many[0].a",
        "module.many.a",
        "module.one.z",
        "module.none.a",
    ] {
        out += &bench.evaluate(text);
    }
    expect![[r#"
        module.one.a = 1
        module.one = {a = 1, b = unknown any}
        module.many[1].a = 11
        module.many[*].a = [unknown any, 11]
        module.many[0].a = unknown any
        module.many.a: error expression:1,12-14 Unsupported attribute
            | module.many is tuple with 2 elements
            This value does not have any attributes. It is a tuple.
        module.one.z: error expression:1,11-13 Unsupported attribute
            | module.one is object with 2 attributes
            This object does not have an attribute named "z". Did you mean "a"?
        module.none.a: error expression:1,1-12 Reference to undeclared module
            No module call named "none" is declared in the root module. Did you mean `module.one`?
    "#]]
    .assert_eq(&out);
}
