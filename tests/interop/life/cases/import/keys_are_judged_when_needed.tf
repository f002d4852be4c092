resource "test_thing" "a" {
  for_each = toset(["x", "z"])
  name     = each.key
}
#= plan
import {
  for_each = {}
  to       = test_thing.a[nope]
  id       = "id of x"
}
#= plan
import {
  for_each = { a = "x" }
  to       = test_thing.a[nope]
  id       = "id of x"
}
#= plan
import {
  for_each = { a = true }
  to       = test_thing.a[each.value]
  id       = "id of x"
}
#= plan
import {
  for_each = { a = "x" }
  to       = test_thing.a["${each.value}${each.nope}"]
  id       = "id of x"
}
