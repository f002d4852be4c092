#= apply
resource "test_thing" "b" {
  name   = "b"
}
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  value  = test_thing.b.id
  lifecycle {
    create_before_destroy = true
  }
}
#= fail delete a-1
#= apply
#~ .apply.state.resources[0].instances[: an object whose end fails stays what it was
resource "test_thing" "b" {
  name   = "b"
}
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  value  = test_thing.b.id
  lifecycle {
    create_before_destroy = true
  }
}
#= fail
#= apply
#< delete a-1, delete b-1
#< delete a-2, delete b-1
locals {}
