#= file b.tf.json
{"locals": {"from_json": "${local.from_native}-j"}, "resource": {"terraform_data": {"j": {"input": "${terraform_data.n.input}"}}}}
#= plan
locals {
  from_native = "n"
}
resource "terraform_data" "n" {
  input = local.from_json
}
output "o" {
  value = terraform_data.j.input
}
#= plan
locals {
  from_native = "n"
  from_json   = "twice"
}
resource "terraform_data" "j" {}
