#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b0" {
  name   = "b0"
  value  = test_thing.a.id
}
resource "test_thing" "b1" {
  name   = "b1"
  value  = test_thing.a.id
}
resource "test_thing" "b2" {
  name   = "b2"
  value  = test_thing.a.id
}
resource "test_thing" "b3" {
  name   = "b3"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  list   = [test_thing.b0.id, test_thing.b3.id]
}
#= apply
#< delete a-1, create a, update b0-1
#< create a, update b3-1
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "b0" {
  name   = "b0"
  value  = test_thing.a.id
}
resource "test_thing" "b1" {
  name   = "b1"
  value  = test_thing.a.id
}
resource "test_thing" "b2" {
  name   = "b2"
  value  = test_thing.a.id
}
resource "test_thing" "b3" {
  name   = "b3"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  list   = [test_thing.b0.id, test_thing.b3.id]
}
