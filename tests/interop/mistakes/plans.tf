# Mistakes that only a plan finds, and those that a plan finds before it asks for anything.
#= file base.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
#= plan
resource "test_thing" "a" {
  count = 3
  fails = "plan"
}
resource "test_thing" "b" {
  for_each = toset(["x", "y"])
  fails    = "plan"
}
data "test_data" "a" {
  count = 2
  fails = "no"
}
output "a" {
  value = test_thing.a[0].id
}
#= plan
variable "a" {
  default = 1
  validation {
    condition     = var.a > 1
    error_message = "a must be greater"
  }
}
variable "b" {
  default = 1
  validation {
    condition     = var.b > 1
    error_message = "b must be greater"
  }
  validation {
    condition     = var.b > 2
    error_message = "b must be greater still"
  }
}
resource "terraform_data" "a" {
  count = 2
  lifecycle {
    precondition {
      condition     = count.index > 1
      error_message = "no instance is"
    }
  }
}
output "a" {
  value = 1
  precondition {
    condition     = terraform.workspace == "x"
    error_message = "wrong workspace"
  }
}
output "b" {
  value = var.a
}
#= plan
locals {
  n = tonumber("2")
  m = { a = 1 }
}
resource "terraform_data" "a" {
  count = local.n
}
output "a" {
  value = terraform_data.a[local.n].id
}
output "b" {
  value = local.m[terraform.workspace]
}
resource "terraform_data" "b" {
  input = terraform_data.a[5].id
}
resource "terraform_data" "c" {
  for_each = terraform_data.a[*].id
}
resource "terraform_data" "d" {
  count = length(terraform_data.a[0].id)
}
#= plan
resource "terraform_data" "one" {
}
resource "test_thing" "a" {
  fails = "plan"
}
resource "test_thing" "b" {
  name = test_thing.a.id
}
resource "test_thing" "c" {
  fails = "plan"
  name  = terraform_data.one.id
}
data "test_data" "a" {
  name  = "x"
  fails = "no"
}
data "test_data" "b" {
  name  = data.test_data.a.result
  fails = "no"
}
output "a" {
  value = data.test_data.b.result
}
check "a" {
  assert {
    condition     = data.test_data.a.result == "x"
    error_message = "no"
  }
}
#= plan
output "a" {
  value = local.nope
}
output "b" {
  value = foo()
}
output "c" {
  value = upper(1, 2)
}
output "d" {
  value = terraform_data.nope.id
}
resource "terraform_data" "a" {
  nope = 1
}
resource "terraform_data" "b" {
  count = "x"
}
resource "test_thing" "c" {
  list = "x"
}
resource "test_thing" "d" {
  fails = "validate"
}
