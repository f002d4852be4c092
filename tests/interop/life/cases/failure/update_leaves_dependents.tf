#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.a.id
}
#= fail update b-1
#= apply
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
  list   = ["x"]
}
resource "test_thing" "c" {
  name   = "c"
  value  = test_thing.a.id
  list   = ["x"]
}
#= fail
#= apply
