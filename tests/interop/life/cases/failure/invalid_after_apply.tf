#= apply
resource "test_thing" "a" {
  name   = "a"
  fails  = "create"
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  fails  = "update"
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  fails  = "update"
  list   = ["x"]
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  fails  = "delete"
}
#= apply -destroy
#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= apply -destroy
