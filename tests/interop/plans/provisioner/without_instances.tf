#= apply
variable "create" {
  default = true
}
resource "terraform_data" "source" {
  count = var.create ? 1 : 0
  input = "true"
}
resource "terraform_data" "user" {
  count = var.create ? 1 : 0
  connection {
    host = terraform_data.source[0].output
  }
  provisioner "local-exec" {
    command     = terraform_data.source[0].output
    environment = { A = terraform_data.source[0].output }
  }
}
#= apply
variable "create" {
  default = false
}
resource "terraform_data" "source" {
  count = var.create ? 1 : 0
  input = "true"
}
resource "terraform_data" "user" {
  count = var.create ? 1 : 0
  connection {
    host = terraform_data.source[0].output
  }
  provisioner "local-exec" {
    command     = terraform_data.source[0].output
    environment = { A = terraform_data.source[0].output }
  }
}
