#= apply
resource "test_thing" "a" {
  name   = "a"
}
#= gone a-1
#= apply
moved {
  from = test_thing.a
  to   = test_thing.z
}
resource "test_thing" "z" {
  name   = "a"
}
