#= file main.tf.json
{
  "resource": {"terraform_data": {"x": {"input": 1, "triggers_replace": 2, "lifecycle": {"ignore_changes": ["input"]}}}},
  "output": {"o": {"value": "${terraform_data.x.input}", "description": "d"}}
}
#= file override.tf.json
{"output": [{"o": {"value": ["${terraform_data.x.input}"]}}]}
#= file b_override.tf
resource "terraform_data" "x" {
  input = 3
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
