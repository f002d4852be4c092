# An object that its successor deposes has the order of the configuration in the state, although it was
# made with the other one.
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  provisioner "local-exec" {
    command = "exit 1"
  }
}
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
  provisioner "local-exec" {
    command = "exit 1"
  }
}
#= plan
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
#= apply
