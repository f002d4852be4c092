//! Modules: values that flow in and out of their instances, and changes of the objects in them.

use expect_test::expect;

use super::EngineFixture;

#[test]
fn nested_repetition_is_refused_before_there_are_too_many_instances() {
    // A hundred at each of four levels would be 100 million.
    let level =
        |inner: &str| format!("module \"m\" {{\n  source = \"{inner}\"\n  count  = 100\n}}\n");
    let files = [
        level("./a"),
        format!("//- a/main.tf\n{}", level("./b")),
        format!("//- a/b/main.tf\n{}", level("./c")),
        format!("//- a/b/c/main.tf\n{}", level("./d")),
        "//- a/b/c/d/main.tf\n".to_owned(),
    ];
    let story = EngineFixture::new().plan(&files.concat()).describe_run();
    expect![[r#"
        calls: 
        error -: Too many module instances
    "#]]
    .assert_eq(&story);
}

const CHAIN_CONFIG: &str = r#"
//- main.tf
module "one" {
  source = "./child"
  name   = "one"
}
module "many" {
  source = "./child"
  count  = 2
  name   = "many-${count.index}-${module.one.id}"
}
module "each" {
  source   = "./child"
  for_each = { a = "x", b = "y" }
  name     = "${each.key}-${each.value}"
}
resource "test_thing" "last" {
  name = join(",", concat(module.many[*].id, [for k, m in module.each : "${k}=${m.id}"]))
}
output "each" {
  value = module.each["b"].id
}
//- child/main.tf
variable "name" {
  type = string
}
resource "test_thing" "it" {
  name = var.name
}
output "id" {
  value = test_thing.it.id
}
"#;

#[test]
fn values_flow_through_every_instance_of_a_module() {
    let mut bench = EngineFixture::new();
    let run = bench.apply(CHAIN_CONFIG);
    let again = bench.plan(CHAIN_CONFIG);
    let story =
        format!("{}{}again: {}", run.describe_run(), bench.describe_state(), again.describe_run());
    expect![[r#"
        + test_thing.last
        + module.each["a"].test_thing.it
        + module.each["b"].test_thing.it
        + module.many[0].test_thing.it
        + module.many[1].test_thing.it
        + module.one.test_thing.it
        + output.each unknown string
        calls: create a-x, create b-y, create one, create many-0-one-1, create many-1-one-1, create many-0-one-1-1,many-1-one-1-1,a=a-x-1,b=b-y-1
        test_thing.last many-0-one-1-1,many-1-one-1-1,a=a-x-1,b=b-y-1-1 after module.each.test_thing.it module.many.test_thing.it module.one.test_thing.it
        module.each["a"].test_thing.it a-x-1
        module.each["b"].test_thing.it b-y-1
        module.many[0].test_thing.it many-0-one-1-1 after module.one.test_thing.it
        module.many[1].test_thing.it many-1-one-1-1 after module.one.test_thing.it
        module.one.test_thing.it one-1
        output.each "b-y-1"
        again: nothing
        calls: 
    "#]].assert_eq(&story);
}

#[test]
fn removed_instances_and_modules_are_destroyed_with_their_content() {
    let mut bench = EngineFixture::with_applied(CHAIN_CONFIG);
    let less = CHAIN_CONFIG
        .replace("count  = 2", "count  = 1")
        .replace("{ a = \"x\", b = \"y\" }", "{ b = \"y\" }");
    let run = bench.apply(&less);
    let mut story = run.describe_run();
    let remaining_config =
        "//- main.tf\nresource \"test_thing\" \"other\" {\n  name = \"other\"\n}\n";
    let run = bench.apply(remaining_config);
    story += &run.describe_run();
    story += &bench.describe_state();
    expect![[r#"
        ~ test_thing.last
        - module.each["a"].test_thing.it DeleteBecauseNoModule
        - module.many[1].test_thing.it DeleteBecauseNoModule
        calls: delete a-x-1, delete many-1-one-1-1, update many-0-one-1-1,many-1-one-1-1,a=a-x-1,b=b-y-1-1
        - test_thing.last DeleteBecauseNoResourceConfig
        + test_thing.other
        - module.each["b"].test_thing.it DeleteBecauseNoResourceConfig
        - module.many[0].test_thing.it DeleteBecauseNoResourceConfig
        - module.one.test_thing.it DeleteBecauseNoResourceConfig
        - output.each null
        calls: delete many-0-one-1-1,many-1-one-1-1,a=a-x-1,b=b-y-1-1, create other, delete b-y-1, delete many-0-one-1-1, delete one-1
        test_thing.other other-1
    "#]].assert_eq(&story);
}

const CONDITIONS_CONFIG: &str = r#"
//- main.tf
variable "given" {
  default = "nope"
}
module "constant" {
  source = "./child"
  name   = "nope"
}
module "given" {
  source = "./child"
  name   = var.given
}
//- child/main.tf
variable "name" {
  validation {
    condition     = var.name != "nope"
    error_message = "Anything else."
  }
}
output "name" {
  value = var.name
  precondition {
    condition     = var.name != "nope"
    error_message = "A module is valid whatever it is given."
  }
}
"#;

#[test]
fn module_arguments_are_validated_as_soon_as_they_are_known() {
    let mut bench = EngineFixture::new();
    // What is constant is judged before anything is planned, and ends that as well.
    let (validated, planned) = (bench.validate(CONDITIONS_CONFIG), bench.plan(CONDITIONS_CONFIG));
    let story = format!(
        "validating\n{}planning\n{}",
        validated.describe_diagnostics(),
        planned.describe_diagnostics()
    );
    expect![[r#"
        validating
        error -: Invalid value for variable
        planning
        error -: Invalid value for variable
    "#]]
    .assert_eq(&story);
}
