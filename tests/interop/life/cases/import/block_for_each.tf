#= world 'id of x'
#= world 'id of y'
#= plan
locals {
  names = { x = "id of x", y = "id of y" }
}
import {
  for_each = local.names
  to       = test_thing.a[each.key]
  id       = each.value
}
resource "test_thing" "a" {
  for_each = local.names
  name     = each.key
}
#= apply
#= plan
locals {
  names = { x = "id of x" }
}
resource "test_thing" "a" {
  for_each = local.names
  name     = each.key
}
#= apply
