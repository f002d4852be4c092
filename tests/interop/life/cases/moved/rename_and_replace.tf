#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply
#< delete a-1, create a, update b-1
moved {
  from = test_thing.a
  to   = test_thing.z
}
resource "test_thing" "z" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.z.id
}
