#= apply
resource "test_thing" "a" {
  count = 2
  name  = "a-${count.index}"
}
#= apply
removed {
  from = test_thing.a
  lifecycle {
    destroy = false
  }
}
