# A duplicate is reported with the place of the first.
#= file b.tf
variable "v" {
}
locals {
  l = 2
}
output "o" {
  value = 2
}
resource "terraform_data" "a" {
}
check "c" {
  assert {
    condition     = var.v == 1
    error_message = "no"
  }
}
provider "terraform" {
}
#= validate
variable "v" {
}
locals {
  l = 1
}
output "o" {
  value = 1
}
resource "terraform_data" "a" {
}
check "c" {
  assert {
    condition     = var.v == 1
    error_message = "no"
  }
}
provider "terraform" {
}
