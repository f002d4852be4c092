# An object that its successor deposes has the order of the configuration in the state, also without a
# refresh.
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  provisioner "local-exec" {
    command = "exit 1"
  }
}
#= apply -refresh=false
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
