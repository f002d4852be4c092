#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= fail read a-1
#= plan
#= apply -refresh=false
#= fail
#= apply
