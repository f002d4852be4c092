# Every block may stand in any file.
#= file b.tf
locals {
  b = "${local.a} and b"
}
resource "terraform_data" "b" {
  input = [local.b, terraform_data.a.id]
}
output "late" {
  value = terraform_data.c.input
}
#= file a.tf
variable "v" {
  type    = number
  default = 1
}
locals {
  a = "a"
}
check "c" {
  assert {
    condition     = terraform_data.a.input == "2"
    error_message = "not ${var.v}"
  }
}
#= file z.tf.json
{
  "resource": { "terraform_data": { "c": { "input": "${terraform_data.b.input}" } } },
  "output": { "early": { "value": "${var.v + 1}" } }
}
#= file terraform.tfvars
v = 2
#= apply
resource "terraform_data" "a" {
  input = tostring(var.v)
}
#= plan -var=v=3
#= plan -destroy
