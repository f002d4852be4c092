//! Other findings in a configuration whose references lead nowhere.

use std::collections::BTreeMap;

use expect_test::expect;
use formwork_value::Diagnostics;

use super::{EngineFixture, LoadedConfig};
use crate::config::config_from_text;

#[test]
fn other_errors_are_reported_together_with_undeclared_references() {
    let text = r#"
output "a" {
  value = local.missing
}
output "b" {
  value = nothing()
}
output "c" {
  value = [module.missing.x, each.key, terraform_data.missing.id, data.a.b.c, var.missing]
}
locals {
  one = var.missing + 1
  two = local.one + "x"
  sum = 1 + "x"
}
resource "terraform_data" "a" {
  count      = local.missing
  input      = count.index
  wrong      = terraform_data.missing[0].id
  depends_on = [terraform_data.missing]
}
module "m" {
  source = "./m"
  x      = terraform_data.a[local.missing].missing
}
//- m/main.tf
variable "x" {}
output "y" {
  value = var.z + upper(1, 2)
}
"#;
    let (config, sources, dangling) = config_from_text::load_fixture_unvalidated(text);
    let messages = config_from_text::format_diagnostics(&sources, &dangling);
    assert!(messages.matches("missing").count() > 8, "{messages}");
    let bench = EngineFixture::new();
    let loaded = LoadedConfig { config, sources, variables: BTreeMap::new() };
    let summaries = |diags: &Diagnostics| -> Vec<String> {
        // Errors at the same position may be consequences: only others count.
        let known: Vec<_> = dangling.iter().map(|problem| problem.subject).collect();
        let new = diags.iter().filter(|problem| !known.contains(&problem.subject));
        new.map(|problem| problem.summary.clone()).collect()
    };
    let run = bench.validate_loaded(loaded);
    expect![[r#"
        Invalid operand
        Call to unknown function
        Unsupported argument"#]]
    .assert_eq(&summaries(&run.diags).join("\n"));
}
