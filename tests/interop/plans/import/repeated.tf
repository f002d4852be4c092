#= apply
import {
  for_each = { a = "one", b = "two" }
  to       = terraform_data.each[each.key]
  id       = each.value
}
import {
  for_each = ["x", "y"]
  to       = terraform_data.counted[each.key]
  id       = "${each.value}-${each.key}"
}
import {
  for_each = toset(["s"])
  to       = terraform_data.set["${each.value}!"]
  id       = each.key
}
import {
  to = terraform_data.counted[2]
  id = "z"
}
import {
  for_each = {}
  to       = terraform_data.none
  id       = each.value
}
resource "terraform_data" "each" {
  for_each = toset(["a", "b", "c"])
}
resource "terraform_data" "counted" {
  count = 3
}
resource "terraform_data" "set" {
  for_each = toset(["s!"])
}
resource "terraform_data" "none" {}
#= plan
