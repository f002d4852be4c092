#= apply
resource "test_thing" "m" {
  name = "a"
}
resource "test_thing" "y" {
  name  = "y"
  value = test_thing.m.id
}
#= apply -destroy
#< delete y-1, delete a-1
moved {
  from = test_thing.m
  to   = test_thing.b
}
resource "test_thing" "b" {
  name = "a"
}
resource "test_thing" "y" {
  name  = "y"
  value = test_thing.b.id
}
