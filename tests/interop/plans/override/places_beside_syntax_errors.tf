#= file main_override.tf
resource "terraform_data" "a" {
  input = 2
}
resource "terraform_data" "nope" {}
variable "x" { typo = 1 }
locals {
  one = 2
  two = 2
}
output "nope" { value = 1 }
#= file locals.tf
locals {
  one = 1
  bad = [
}
#= validate
resource "terraform_data" "a" {
  input =
}
variable "x" { default = 1 }
