#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= fail update a-1
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
#= fail update a-1 late
#= apply
#= fail
#= apply
