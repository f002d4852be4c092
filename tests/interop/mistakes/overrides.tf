# Mistakes in override files beside those of the module.
#= file base.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
variable "s" {
  type = string
}
variable "n" {
  type = number
}
variable "l" {
  type = list(string)
}
variable "any" {}
variable "sec" {
  type      = string
  sensitive = true
}
variable "eph" {
  type      = string
  ephemeral = true
}
variable "obj" {
  type = object({ a = string, b = optional(number) })
}
locals {
  ok  = 1
  str = "x"
  lst = ["a", "b"]
  mp  = { a = 1 }
}
resource "terraform_data" "one" {
  input = 1
}
resource "terraform_data" "many" {
  count = 2
}
resource "terraform_data" "each" {
  for_each = toset(["a"])
}
resource "test_thing" "ok" {
  name = "x"
}
data "test_data" "ok" {
  name = "x"
}
module "good" {
  source = "./mod"
  a      = "x"
}
module "goods" {
  source = "./mod"
  count  = 2
  a      = "x"
}
#= file mod/main.tf
variable "a" {
  type = string
}
variable "b" {
  type    = number
  default = 1
}
variable "obj" {
  type    = object({ x = string })
  default = null
}
resource "terraform_data" "in" {
  input = var.a
}
output "o" {
  value = terraform_data.in.id
}
output "obj" {
  value = { k = var.b }
}
#= file main_override.tf
resource "terraform_data" "one" {
  input = local.nope
}
module "nope" {
  a = 1
}
moved {
  from = terraform_data.x
  to   = terraform_data.y
}
#= validate
resource "terraform_data" "m1" {
  nope = 1
}
#= file main_override.tf
resource "terraform_data" "nope" {
}
module "good" {
  depends_on = [terraform_data.one]
}
import {
  to = terraform_data.one
  id = "x"
}
#= validate
resource "test_thing" "m1" {
  name = { a = 1 }
  tags = ["x"]
  nope = local.nope
}
#= file main_override.tf
variable "s" {
  type = foo
}
provider "test" {
  name = []
}
check "x" {
}
#= validate
resource "test_blocks" "m1" {
  list = []
}
#= file main_override.tf
variable "nope" {
}
data "test_data" "ok" {
  name = []
}
terraform {
  backend "local" {}
}
#= validate
resource "test_blocks" "m1" {
  single {
    computed = "x"
  }
}
#= file main_override.tf
locals {
  ok = foo()
}
resource "test_thing" "ok" {
  lifecycle {
    ignore_changes = [foo()]
  }
}
variable "s" {
  validation {
    condition     = true
    error_message = "x"
  }
}
#= validate
resource "terraform_data" "m1" {
  count = [1]
}
#= file main_override.tf
locals {
  nope = 1
}
resource "test_thing" "ok" {
  lifecycle {
    precondition {
      condition     = true
      error_message = "x"
    }
  }
}
resource "terraform_data" "one" {
  provisioner "nope" {}
}
#= validate
resource "terraform_data" "m1" {
  for_each = toset([1, 2])
}
#= file main_override.tf
output "nope" {
  value = 1
}
resource "terraform_data" "many" {
  for_each = {}
}
nope {
}
#= validate
resource "terraform_data" "m1" {
  input = terraform_data.m1.id
}
#= file main_override.tf
module "good" {
  a = local.nope
}
resource "terraform_data" "one" {
  depends_on = [terraform_data.many]
}
#= validate
check "m1" {
  data "test_data" "c1" {
    nope = 1
  }
  assert {
    condition     = data.test_data.c1.nope
    error_message = "x"
  }
}
