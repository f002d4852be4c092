#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  provisioner "local-exec" {
    command = "exit 1"
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
#= plan
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  provisioner "local-exec" {
    command = "echo hi >> log"
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
