# Where exactly a complaint points, and how the function is called that it is about.
#= validate
variable "s" {
  default = "x"
}
output "o" {
  value = [1, cidrsubnet(var.s, 1, "a"), format("%d", var.s)]
}
output "p" {
  value = upper(var.s, var.s)
}
output "q" {
  value = core::tonumber([var.s])
}
output "r" {
  value = templatefile("nofile", {})
}
output "t" {
  value = setproduct(1, 2)
}
resource "terraform_data" "x" {
  input = merge(1, 2)
  count = tonumber("z")
}
#= validate
import {
  to = terraform_data.x
}
resource "terraform_data" "x" {}
#= validate
resource "terraform_nonesuch" "a" {
}
#= validate
variable "v" {
  default = "x"
}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = upper(var.v, 1) == 1
      error_message = "No ${tonumber([var.v])}."
    }
    postcondition {
      condition     = self.nonesuch == 1 && upper(var.v, 1) == 1
      error_message = "No ${self.bogus}."
    }
  }
}
#= validate
variable "v" {
  default = "x"
}
check "c" {
  assert {
    condition     = upper(var.v, 1) == 1
    error_message = "No ${tonumber([var.v])}."
  }
}
#= validate
output "a" {
  value = [1, 2
}
#= validate
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = self.id == 1
      error_message = "No."
    }
  }
}
#= validate
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  count      = 2
  depends_on = [terraform_data.a.input]
}
output "a" {
  value      = 1
  depends_on = [terraform_data.b[0].input.x, terraform_data.a.id]
}
#= validate
variable "a" {
  type = optional(string)
}
variable "b" {
  type = tuple([string, optional(number)])
}
