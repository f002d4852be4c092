#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply
#< delete b-1, delete a-1
removed {
  from = test_thing.b
  lifecycle {
    destroy = true
  }
}
