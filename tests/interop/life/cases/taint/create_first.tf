#= apply
resource "test_thing" "a" {
  name   = "a"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= run taint test_thing.a
#= apply
#< create a, update b-1, delete a-1
