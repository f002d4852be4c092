#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
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
#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
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
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
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
