#= apply
resource "test_thing" "m" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "y" {
  name   = "y"
  forced = "1"
  value  = test_thing.m.id
}
#= apply
#< delete y-1, delete a-1, create a, create y
moved {
  from = test_thing.m
  to   = test_thing.b
}
resource "test_thing" "b" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "y" {
  name   = "y"
  forced = "2"
  value  = test_thing.b.id
}
