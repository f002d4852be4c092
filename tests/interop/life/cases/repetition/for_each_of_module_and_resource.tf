#= file m/main.tf
variable "each" {}
variable "list" {}
resource "test_thing" "in" {
  for_each = var.list
  name     = "${var.each}${each.key}"
  value    = each.value
}
output "all" {
  value = { for key, one in test_thing.in : key => one.id }
}
#= apply
module "m" {
  source   = "./m"
  for_each = { a = { x = 1 }, b = { x = 2, y = 3 } }
  each     = each.key
  list     = each.value
}
resource "test_thing" "user" {
  for_each = merge([for name, one in module.m : { for key, id in one.all : "${name}-${key}" => id }]...)
  name     = each.key
}
#= apply
module "m" {
  source   = "./m"
  for_each = { a = { x = 1 }, b = { x = 2, y = 3 } }
  each     = each.key
  list     = each.value
}
resource "test_thing" "user" {
  for_each = toset(flatten([for name, one in module.m : [for key in keys(one.all) : "${name}-${key}"]]))
  name     = each.key
}
#= apply
module "m" {
  source   = "./m"
  for_each = { b = { y = 3, z = 4 }, c = {} }
  each     = each.key
  list     = each.value
}
resource "test_thing" "user" {
  for_each = toset(flatten([for name, one in module.m : [for key in keys(one.all) : "${name}-${key}"]]))
  name     = each.key
}
#= plan
#= apply -destroy
