#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

variable "v" {
  default   = "d"
  ephemeral = true
}
output "o" {
  value = var.v
}
resource "terraform_data" "a" {
  input = upper(var.v)
}
locals {
  l = { a = var.v, b = 1 }
}
output "part" {
  value = local.l
}
output "other_part" {
  value = local.l.b
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

variable "v" {
  default   = "d"
  ephemeral = true
  validation {
    condition     = var.v == "e"
    error_message = "Not e: ${var.v}."
  }
}
