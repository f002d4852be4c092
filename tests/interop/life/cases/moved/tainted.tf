#= fail create a late
#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= fail
#= apply
moved {
  from = test_thing.a
  to   = test_thing.z
}
resource "test_thing" "z" {
  name   = "a"
}
