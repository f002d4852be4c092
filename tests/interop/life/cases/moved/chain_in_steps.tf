#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= apply
moved {
  from = test_thing.a
  to   = test_thing.b
}
resource "test_thing" "b" {
  name   = "a"
}
#= apply
moved {
  from = test_thing.a
  to   = test_thing.b
}
moved {
  from = test_thing.b
  to   = test_thing.c
}
resource "test_thing" "c" {
  name   = "a"
}
#= apply -destroy
