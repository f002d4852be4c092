# A value that is never written down.
#= apply -var e=x
variable "e" {
  ephemeral = true
}
variable "f" {
  ephemeral = true
  default   = "d"
}
locals {
  e = "${var.e}-"
}
resource "terraform_data" "a" {
  input = 1
}
#= plan -var e=x
variable "e" {
  ephemeral = true
}
resource "terraform_data" "a" {
  input = var.e
}
output "o" {
  value = var.e
}
