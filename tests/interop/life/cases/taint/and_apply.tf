#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= run taint test_thing.a
#= plan
#= apply
#< delete a-1, create a, update b-1
