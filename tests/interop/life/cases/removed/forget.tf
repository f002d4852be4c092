#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply
removed {
  from = test_thing.b
  lifecycle {
    destroy = false
  }
}
resource "test_thing" "a" {
  name   = "a"
}
#= apply -destroy
