#= apply
#= world 'id of x'
#= world 'id of y'
#= apply
import {
  for_each = toset(["x", "y"])
  to       = test_thing.a[each.key]
  id       = "id of ${each.key}"
}
resource "test_thing" "a" {
  for_each = toset(["x", "y"])
  name     = each.key
}
#= plan
import {
  for_each = toset(["x", "y"])
  to       = test_thing.a[each.key]
  id       = "id of ${each.key}"
}
moved {
  from = test_thing.a
  to   = test_thing.b
}
resource "test_thing" "b" {
  for_each = toset(["x", "y"])
  name     = each.key
}
#= apply
import {
  for_each = toset(["x", "y"])
  to       = test_thing.b[each.key]
  id       = "id of ${each.key}"
}
moved {
  from = test_thing.a
  to   = test_thing.b
}
resource "test_thing" "b" {
  for_each = toset(["x", "y"])
  name     = each.key
}
#= apply
moved {
  from = test_thing.a
  to   = test_thing.b
}
moved {
  from = test_thing.b["x"]
  to   = test_thing.c[0]
}
resource "test_thing" "b" {
  for_each = toset(["y"])
  name     = each.key
}
resource "test_thing" "c" {
  count = 1
  name  = "x"
}
#= plan
