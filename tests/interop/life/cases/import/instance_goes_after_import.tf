#= world 'id of a'
#= world 'id of b'
#= apply
import {
  for_each = { x = "a", y = "b" }
  to       = test_thing.t[each.key]
  id       = "id of ${each.value}"
}
resource "test_thing" "t" {
  for_each = { x = "a", y = "b" }
  name     = each.value
}
#= apply
import {
  for_each = { x = "a", y = "b" }
  to       = test_thing.t[each.key]
  id       = "id of ${each.value}"
}
resource "test_thing" "t" {
  for_each = { x = "a" }
  name     = each.value
}
#= plan
