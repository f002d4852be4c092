#= file x_override.tf.json
{
  "resource": {"terraform_data": {"x": {"input": ["${local.a}"], "lifecycle": {"create_before_destroy": true}}}},
  "locals": {"a": "json"},
  "output": {"o": {"value": "${local.a}!"}}
}
#= file override.tf
locals {
  a = "native"
}
#= apply
resource "terraform_data" "x" {
  input            = 1
  triggers_replace = "t"
  lifecycle {
    ignore_changes = [input]
  }
}
locals {
  a = 1
}
output "o" {
  value = local.a
}
