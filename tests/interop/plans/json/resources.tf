#= file main.tf.json
{
  "resource": {
    "terraform_data": {
      "one": {"input": {"a": [1, 2]}, "triggers_replace": "${local.x}"},
      "counted": {"count": "${1 + 1}", "input": "${count.index}"},
      "keyed": {"for_each": {"a": 1, "b": 2}, "input": "${each.key}-${each.value}", "depends_on": ["terraform_data.one"]},
      "several": [{"input": "${terraform_data.one.id}", "lifecycle": [{"create_before_destroy": true, "ignore_changes": ["input"], "replace_triggered_by": ["terraform_data.one"]}]}],
      "all": {"provider": "terraform", "lifecycle": {"ignore_changes": "all", "prevent_destroy": "false"}}
    }
  },
  "locals": [{"x": 1}, {"y": 2}],
  "output": {"keyed": {"value": "${{ for k, r in terraform_data.keyed : k => r.input }}", "depends_on": ["terraform_data.one"]}}
}
#= apply
