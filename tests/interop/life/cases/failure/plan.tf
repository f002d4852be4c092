#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
  fails  = "plan"
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
  fails  = "create"
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
