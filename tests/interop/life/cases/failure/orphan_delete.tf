#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= fail delete b-1
#= apply
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
#= fail
#= apply
