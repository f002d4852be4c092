#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  forced = "1"
  value  = test_thing.b.id
}
#= apply
#< delete c-1, delete b-1, delete a-1, create a, create c
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "c" {
  name   = "c"
  forced = "2"
  value  = test_thing.a.id
}
