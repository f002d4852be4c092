#= fail create a late
#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= fail
#= plan
#= apply
#< delete a-1, create a, create b
