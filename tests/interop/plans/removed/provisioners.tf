#= plan
removed {
  from = terraform_data.a
  provisioner "local-exec" {
    command = "true"
  }
}
#= plan
removed {
  from = module.x
  provisioner "local-exec" {
    when    = destroy
    command = "true"
  }
}
#= plan
removed {
  from = terraform_data.b
  connection {
    host = self.id
  }
  connection {
    host = self.id
  }
}
#= plan
removed {
  from = terraform_data.b
  provisioner "local-exec" {
    when    = destroy
    command = terraform_data.c.id
  }
}
#= apply
resource "terraform_data" "a" {
  input = "a"
}
#= apply
removed {
  from = terraform_data.a
  lifecycle {
    destroy = true
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${self.input} >> log"
  }
  provisioner "local-exec" {
    when       = destroy
    command    = "exit 1"
    on_failure = continue
  }
}
#= apply
output "log" {
  value = file("log")
}
