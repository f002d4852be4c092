# Calls of modules beside other mistakes.
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
  a      = []
}
module "m2" {
  source = "./mod"
  a      = "x"
  b      = "x"
  obj    = { y = 1 }
}
resource "terraform_data" "m3" {
  nope = 1
}
resource "terraform_data" "m4" {
  nope {}
}
#= validate
module "m1" {
  source = "./mod"
  count  = "x"
  a      = []
}
module "m2" {
  source   = "./mod"
  for_each = ["a"]
  a        = "x"
}
resource "terraform_data" "m3" {
  id   = "x"
  nope = 1
}
resource "test_nope" "m4" {
}
#= validate
module "m1" {
  source = "./mod"
  a      = var.eph
}
module "m2" {
  source     = "./mod"
  a          = "x"
  depends_on = [local.nope, module.nope, terraform_data.one.id]
}
ephemeral "test_nope" "m3" {
}
resource "test_thing" "m4" {
  list = "x"
}
#= file pass/main.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
variable "a" {}
#= validate
module "m1" {
  source    = "./pass"
  zz        = 1
  providers = { test = test.x }
}
