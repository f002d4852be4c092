#= apply
resource "terraform_data" "a" {
  input            = 1
  triggers_replace = 1
  provisioner "local-exec" {
    command = "echo hello >> log"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye >> log"
  }
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
resource "terraform_data" "a" {
  input            = 1
  triggers_replace = 2
  provisioner "local-exec" {
    command = "echo again >> log"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye >> log"
  }
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
resource "terraform_data" "a" {
  input            = 1
  triggers_replace = 2
}
output "log" {
  value = file("log")
}
