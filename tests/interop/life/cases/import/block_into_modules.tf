#= file m/main.tf
variable "name" {}
resource "test_thing" "a" {
  count = 2
  name  = var.name
}
output "id" {
  value = test_thing.a[*].id
}
#= world 'id of p'
#= world 'id of q'
#= plan
locals {
  keys = { p = 0, q = 1 }
}
import {
  for_each = local.keys
  to       = module.m[each.key].test_thing.a[each.value]
  id       = "id of ${each.key}"
}
module "m" {
  source   = "./m"
  for_each = local.keys
  name     = each.key
}
output "ids" {
  value = { for key, one in module.m : key => one.id }
}
#= apply
#= plan
