#= apply
resource "test_thing" "a" {
  count = 3
  name  = "a${count.index}"
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a[0].id
}
#= plan
removed {
  from = test_thing.a
  lifecycle {
    destroy = false
  }
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a[0].id
}
#= apply
removed {
  from = test_thing.a
  lifecycle {
    destroy = false
  }
}
moved {
  from = test_thing.a[1]
  to   = test_thing.kept
}
resource "test_thing" "kept" {
  name = "a1"
}
resource "test_thing" "b" {
  name = "b"
}
#= plan
#= plan
removed {
  from = test_thing.b
}
resource "test_thing" "b" {
  name = "b"
}
#= apply
removed {
  from = test_thing.b
  lifecycle {
    destroy = false
  }
}
#= apply
import {
  to = test_thing.b
  id = "id of b"
}
resource "test_thing" "b" {
  name = "b"
}
