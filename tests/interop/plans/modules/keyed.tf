#= file child/main.tf
variable "key" {}
variable "value" {}
resource "terraform_data" "it" {
  for_each = toset(["x", "y"])
  input    = "${var.key}-${var.value}-${each.key}"
}
output "ids" {
  value = { for key, it in terraform_data.it : key => it.output }
}
#= apply
module "m" {
  source   = "./child"
  for_each = { a = 1, "b c" = 2, "${"$"}{d}" = 3 }
  key      = each.key
  value    = each.value
}
output "one" {
  value = module.m["a"].ids["x"]
}
output "every" {
  value = { for key, it in module.m : key => it.ids }
}
output "keys" {
  value = keys(module.m)
}
#= apply
module "m" {
  source   = "./child"
  for_each = { a = 1, new = 5 }
  key      = each.key
  value    = each.value
}
output "every" {
  value = { for key, it in module.m : key => it.ids }
}
#= apply -destroy
