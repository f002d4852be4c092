# A deposed object was made after another one, which is now replaced in the other order, and its own
# resource is not created first any more.
#= apply
resource "test_thing" "b" {
  name   = "b"
  forced = "1"
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
  forced = "1"
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
#~ .: Terraform finds a cycle here, and in each later run
resource "test_thing" "b" {
  name   = "b"
  forced = "2"
}
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  value  = test_thing.b.id
}
#= apply
#~ .: Terraform finds a cycle here, and in each later run
