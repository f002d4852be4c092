#= fail create a late
#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
}
#= fail
#= apply
locals {}
