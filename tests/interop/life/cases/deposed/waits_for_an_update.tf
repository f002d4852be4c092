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
#= fail update a-2
#= apply
#~ .apply.state.resources[0].instances[1].create_before_destroy: the same once more: it stays what it was
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  value  = "new"
  lifecycle {
    create_before_destroy = true
  }
}
#= fail
#= apply
#< update a-2, delete a-1
