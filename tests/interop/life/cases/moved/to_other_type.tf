#= apply
resource "test_thing" "a" {
  name = "a"
}
#= plan
moved {
  from = test_thing.a
  to   = test_nested.a
}
resource "test_nested" "a" {
  name = "a"
}
