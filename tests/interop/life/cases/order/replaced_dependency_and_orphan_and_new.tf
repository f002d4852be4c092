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
  value  = test_thing.b.id
}
#= apply
#< delete c-1, delete a-1, create a, update b-1
#< create a, create d
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
resource "test_thing" "d" {
  name   = "d"
  value  = test_thing.a.id
}
