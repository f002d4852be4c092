#= validate
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "true"
    comand  = "x"
  }
}
#= validate
resource "terraform_data" "a" {
  provisioner "local-exec" {
  }
}
#= validate
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = self.nope
  }
}
#= validate
resource "terraform_data" "a" {
  provisioner "local-exec" {
    when    = sometimes
    command = "true"
  }
}
#= validate
resource "terraform_data" "a" {
  provisioner "local-exec" {
    on_failure = "ignore"
    command    = "true"
  }
}
#= validate
resource "terraform_data" "a" {
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${terraform_data.b.id}"
  }
}
resource "terraform_data" "b" {}
#= validate
resource "terraform_data" "a" {
  provisioner "magic" {
    command = "true"
  }
}
#= validate
resource "terraform_data" "a" {
  provisioner "chef" {}
}
#= validate
resource "terraform_data" "a" {
  connection {
    host = "h"
  }
  connection {
    host = "h"
  }
}
#= validate
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "true"
    lifecycle {}
  }
}
#= validate
data "terraform_remote_state" "d" {
  backend = "local"
  provisioner "local-exec" {
    command = "true"
  }
}
#= validate
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "true"
    connection {
      host = "h"
      zork = 1
    }
  }
}
