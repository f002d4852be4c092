#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.name
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
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.name
}
#= fail
#= plan -target=test_thing.b
#= plan -target=test_thing.a
#= apply -target=test_thing.a
