#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= fail delete a-1
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= fail create a
#= apply
#= fail
#= apply
