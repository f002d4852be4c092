#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  provisioner "local-exec" {
    command = "true"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "exit 1"
  }
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
}
#= apply -destroy
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  provisioner "local-exec" {
    command = "true"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${self.id} >> log"
  }
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
}
