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
#= fail create a
#= apply
#~ .apply.state.resources[0].instances[1].create_before_destroy: the same once more: it stays what it was
resource "test_thing" "a" {
  name   = "a"
  forced = "3"
  lifecycle {
    create_before_destroy = true
  }
}
#= fail
#= apply
#< create a, delete a-1
#< create a, delete a-2
