# Mistakes that are found before anything is evaluated: all else waits.
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
#= validate
module "m1" {
  source = "./mod"
}
data "test_data" "m2" {
  provider = nope
  name     = "x"
}
resource "terraform_data" "m3" {
  nope = 1
}
#= validate
module "m1" {
  source = "./mod"
  a      = "x"
  nope   = 1
}
resource "terraform_data" "m2" {
  provisioner "nope" {
  }
}
resource "test_nope" "m3" {
}
#= validate
module "m1" {
  source = "./mod"
  a      = null
  nope {}
}
import {
  to       = terraform_data.one
  id       = "x"
  provider = test.nope
}
resource "test_thing" "m3" {
  name = []
}
#= validate
module "m1" {
  source = "./mod"
  a      = "x"
  providers = {
    test = test.nope
  }
}
resource "terraform_data" "a2" {
  input = terraform_data.b2.id
}
resource "terraform_data" "b2" {
  input = terraform_data.a2.id
}
resource "test_thing" "m3" {
  fails = "validate"
}
#= validate
module "m1" {
  source = "./mod"
  a      = "x"
  providers = {
    test.foo = test
  }
}
locals {
  a2 = local.b2
  b2 = local.a2
}
resource "test_strict" "m3" {
  needed = null
  one {
    needed = null
  }
  must {
    needed = "a"
  }
}
#= validate
resource "test_thing" "m1" {
  provider = test.nope
}
resource "test_blocks" "m2" {
  list "x" {
    text = "x"
  }
}
