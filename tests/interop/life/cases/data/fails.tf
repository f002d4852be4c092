#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
data "test_data" "d" {
  fails = "no"
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  list   = ["y"]
}
data "test_data" "d" {
  fails = test_thing.b.id
}
resource "test_thing" "b" {
  name   = "b"
}
