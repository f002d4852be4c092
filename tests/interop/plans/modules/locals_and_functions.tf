#= file child/main.tf
variable "items" {
  type = map(object({ size = number, on = optional(bool, true) }))
}
locals {
  on    = { for name, item in var.items : name => item if item.on }
  total = sum([for item in local.on : item.size])
}
resource "terraform_data" "item" {
  for_each = local.on
  input    = "${each.key}: ${each.value.size} of ${local.total}"
}
output "text" {
  value = join("\n", [for item in terraform_data.item : item.output])
}
#= apply
module "m" {
  source = "./child"
  items = {
    a = { size = 1 }
    b = { size = 2, on = false }
    c = { size = 3 }
  }
}
output "text" {
  value = module.m.text
}
