//! Tests that decide between constants and other values.

use expect_test::expect;
use formwork_value::{Diagnostics, Value};

use super::ConstantCandidate;
use crate::config::config_from_text::format_value;
use crate::eval::testing::EvalFixture;

const LOCALS_CONFIG: &str = r#"
variable "v" {}
locals {
  a_number    = 2
  b_sum       = sum([for n in range(3) : n * local.a_number])
  c_of_both   = "${local.b_sum} in ${path.root}"
  d_variable  = var.v
  e_behind_it = [local.d_variable, local.a_number]
  f_tried     = try(var.v.missing, local.a_number)
  g_time      = plantimestamp()
  h_random    = uuid()
  i_file      = fileexists("/nowhere")
  j_text      = "$${n}"
  k_template  = templatestring(local.j_text, { n = local.a_number })
  l_text      = "$${plantimestamp()}"
  m_template  = templatestring(local.l_text, {})
  n_workspace = terraform.workspace
}
"#;

/// Lists the local values in the order of their names. Constants are marked with a star.
fn describe_constants(bench: &EvalFixture) -> String {
    let (constants, scope) = (bench.results.known_constants(), bench.root_scope());
    let mut output = String::new();
    for (name, local) in &bench.config.root.locals {
        let (mut diags, wanted) = (Diagnostics::new(), ConstantCandidate::Local(name));
        let value = constants.evaluate_or_recall(&mut diags, wanted, &local.expr, &scope).unwrap();
        let is_constant = constants.is_constant_local(bench.config.root_node().index, name);
        output +=
            &format!("{}{name} = {}\n", if is_constant { "* " } else { "" }, format_value(&value));
        bench.results.root().locals.set(name, value);
    }
    output
}

/// A run that finds the values another time, when more is known.
fn reevaluate_with_more_known(bench: EvalFixture) -> EvalFixture {
    let mut later = EvalFixture::from_fixture(LOCALS_CONFIG);
    later.results = bench.results.new_for_same_config(&later.config);
    // Everything that a constant must not depend on is another now.
    later.world.workspace = "other".into();
    later.world.plan_time = Some(time::OffsetDateTime::UNIX_EPOCH);
    later.results.root().variables.set("v", Value::object([("missing", Value::int(7))]));
    later
}

#[test]
fn only_expressions_of_constants_are_constants() {
    let bench = EvalFixture::from_fixture(LOCALS_CONFIG);
    bench.results.root().variables.set("v", Value::object([("other", Value::int(1))]));
    expect![[r#"
        * a_number = 2
        * b_sum = 6
        * c_of_both = "6 in ."
        d_variable = {other = 1}
        e_behind_it = [{other = 1}, 2]
        f_tried = 2
        g_time = unknown string
        h_random = unknown string
        i_file = false
        * j_text = "${n}"
        * k_template = "2"
        * l_text = "${plantimestamp()}"
        m_template = unknown string
        n_workspace = "default"
    "#]]
    .assert_eq(&describe_constants(&bench));
    expect![[r#"
        * a_number = 2
        * b_sum = 6
        * c_of_both = "6 in ."
        d_variable = {missing = 7}
        e_behind_it = [{missing = 7}, 2]
        f_tried = 7
        g_time = "1970-01-01T00:00:00Z"
        h_random = unknown string
        i_file = false
        * j_text = "${n}"
        * k_template = "2"
        * l_text = "${plantimestamp()}"
        m_template = "1970-01-01T00:00:00Z"
        n_workspace = "other"
    "#]]
    .assert_eq(&describe_constants(&reevaluate_with_more_known(bench)));
}

#[test]
fn a_constant_is_not_evaluated_again() {
    let bench = EvalFixture::from_fixture("locals { a = 1 }");
    let (constants, a) = (bench.results.known_constants(), &bench.config.root.locals["a"]);
    let value = |text: &str| {
        let elsewhere = EvalFixture::from_fixture(text);
        let expr = &elsewhere.config.root.locals["a"].expr;
        let wanted = ConstantCandidate::Local(&a.name);
        constants.evaluate_or_recall(&mut Diagnostics::new(), wanted, expr, &bench.root_scope())
    };
    assert_eq!(value("locals { a = 1 }").unwrap(), Value::int(1));
    assert_eq!(value("locals { a = 2 }").unwrap(), Value::int(1), "it was evaluated again");
}
