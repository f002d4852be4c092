#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a-${count.index}"
}
#= apply
moved {
  from = test_thing.a[0]
  to   = test_thing.a["x"]
}
moved {
  from = test_thing.a[1]
  to   = test_thing.a["y"]
}
resource "test_thing" "a" {
  for_each = { x = 0, y = 1 }
  name     = "a-${each.value}"
}
#= apply
moved {
  from = test_thing.a["x"]
  to   = test_thing.a
}
resource "test_thing" "a" {
  name = "a-0"
}
