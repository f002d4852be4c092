#= apply
resource "test_thing" "a" {
  for_each = toset(["x", "y"])
  name     = each.key
}
resource "test_thing" "b" {
  for_each = test_thing.a
  name     = "b${each.key}"
  value    = each.value.id
}
#= apply
#< delete by-1, delete y-1
resource "test_thing" "a" {
  for_each = toset(["x"])
  name     = each.key
}
resource "test_thing" "b" {
  for_each = test_thing.a
  name     = "b${each.key}"
  value    = each.value.id
}
