#= apply
resource "test_thing" "m" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "y" {
  name   = "y"
  forced = "1"
  value  = test_thing.m.id
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
#< create a, create y, delete y-1, delete a-1
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
  lifecycle {
    create_before_destroy = true
  }
}
