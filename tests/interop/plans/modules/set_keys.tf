#= file child/main.tf
variable "v" {}
output "v" {
  value = "<${var.v}>"
}
#= apply
module "m" {
  source   = "./child"
  for_each = toset(["b", "a"])
  v        = each.value
}
output "all" {
  value = [for m in module.m : m.v]
}
