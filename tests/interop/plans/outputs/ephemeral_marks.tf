# What must not be stored may be used where nothing is stored.
#= plan
variable "token" {
  default   = "t"
  ephemeral = true
}
locals {
  both   = sensitive("${var.token}!")
  stored = ephemeralasnull(var.token)
}
output "null" {
  value = local.stored == null
}
resource "terraform_data" "a" {
  input = local.stored
  lifecycle {
    precondition {
      condition     = var.token == "t"
      error_message = "other"
    }
  }
}
#= plan
variable "token" {
  default   = "t"
  ephemeral = true
}
resource "terraform_data" "a" {
  input = var.token
}
#= plan
variable "token" {
  default   = "t"
  ephemeral = true
}
output "o" {
  value = [var.token]
}
#= plan
variable "token" {
  default   = "t"
  ephemeral = true
}
output "o" {
  value     = var.token
  ephemeral = true
}
#= plan
variable "token" {
  default   = "t"
  ephemeral = true
}
resource "terraform_data" "a" {
  count = length(var.token)
}
