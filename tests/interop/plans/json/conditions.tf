#= file main.tf.json
{
  "locals": {"n": 3},
  "resource": {"terraform_data": {"a": {"input": "${local.n}", "lifecycle": {
    "precondition": [
      {"condition": "${local.n > 1}", "error_message": "too small"},
      {"condition": "${local.n > 5}", "error_message": "n is ${local.n}"}
    ]
  }}}}
}
#= plan
#= file main.tf.json
{
  "locals": {"n": 3},
  "output": {"x": {"value": 1, "precondition": {"condition": "${local.n == 4}", "error_message": "n must be 4"}}}
}
#= plan
