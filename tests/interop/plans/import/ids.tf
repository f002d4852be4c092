#= plan
locals {
  suffix = "x"
}
variable "number" {
  default = 12
}
variable "secret" {
  sensitive = true
  default   = "hidden"
}
import {
  to = terraform_data.a
  id = "id-${local.suffix}"
}
import {
  to = terraform_data.b
  id = var.number
}
import {
  to = terraform_data.c
  id = true
}
import {
  to = terraform_data.d
  id = var.secret
}
resource "terraform_data" "a" {}
resource "terraform_data" "b" {}
resource "terraform_data" "c" {}
resource "terraform_data" "d" {}
#= validate
