#= file override.tf
variable "a" {
  nope = 1
}
nope {}
locals {
  a {}
}
#= validate
variable "a" {}
resource "terraform_data" "x" {}
