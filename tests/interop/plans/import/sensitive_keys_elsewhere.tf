#= plan
locals {
  ids = sensitive({ x = "secret" })
}
import {
  for_each = { x = sensitive("secret") }
  to       = terraform_data.a[each.key]
  id       = each.value
}
import {
  for_each = local.ids
  to       = terraform_data.b
  id       = each.value
}
resource "terraform_data" "a" {
  for_each = toset(["x"])
}
resource "terraform_data" "b" {}
import {
  for_each = local.ids
  to       = terraform_data.c[each.key]
  id       = each.value
}
resource "terraform_data" "c" {
  for_each = toset(["x"])
}
