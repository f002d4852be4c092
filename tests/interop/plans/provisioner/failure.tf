#= apply
resource "terraform_data" "a" {
  input = 1
  provisioner "local-exec" {
    command    = "exit 3"
    on_failure = continue
  }
  provisioner "local-exec" {
    command = "echo out; exit 4"
  }
  provisioner "local-exec" {
    command = "echo not reached >> log"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo not run >> log"
  }
}

resource "terraform_data" "b" {
  input = terraform_data.a.id
}
#= plan
#= apply
resource "terraform_data" "a" {
  input = 1
  provisioner "local-exec" {
    command = "echo good >> log"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "false"
  }
}

resource "terraform_data" "b" {
  input = terraform_data.a.output
}
#= apply -destroy
#= apply
output "log" {
  value = file("log")
}
