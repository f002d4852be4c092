#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply
#< delete b-1, update a-1, create c
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.a.id
}
