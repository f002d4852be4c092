#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
#= fail delete a-1
#= apply
#~ .apply.state.resources[0].instances[: an object whose end fails stays what it was
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}
#= gone a-2
#= fail create a
#= apply
#~ .apply.state.resources[0].instances[0].create_before_destroy: the same once more: it stays what it was
#= fail
#= apply
#< create a, delete a-1
