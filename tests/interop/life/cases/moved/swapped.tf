#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
}
#= plan
moved {
  from = test_thing.a
  to   = test_thing.b
}
moved {
  from = test_thing.b
  to   = test_thing.a
}
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
}
