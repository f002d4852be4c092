# Instances by key from maps and sets.
#= apply
locals {
  names = { one = 1, two = 2, "three four" = 34 }
}
resource "terraform_data" "map" {
  for_each = local.names
  input    = "${each.key}=${each.value}"
}
resource "terraform_data" "set" {
  for_each = toset(["x", "y"])
  input    = each.value
}
resource "terraform_data" "chained" {
  for_each = terraform_data.map
  input    = each.value.id
}
output "ids" {
  value = { for key, one in terraform_data.map : key => one.output }
}
#= plan
#= plan
resource "terraform_data" "map" {
  for_each = { two = 2, five = 5 }
  input    = "${each.key}=${each.value}"
}
resource "terraform_data" "set" {
  count = 2
  input = count.index
}
