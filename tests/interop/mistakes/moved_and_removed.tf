# Moved and removed objects beside other mistakes.
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
moved {
  from = terraform_data.x1
  to   = terraform_data.one
}
moved {
  from = terraform_data.x1
  to   = terraform_data.many
}
moved {
  from = terraform_data.m2
  to   = terraform_data.m2
}
removed {
  from = terraform_data.one
  lifecycle {
    destroy = false
  }
}
resource "terraform_data" "m4" {
  nope = 1
}
resource "terraform_data" "m5" {
  nope {}
}
#= validate
moved {
  from = terraform_data.one
  to   = terraform_data.m1
}
moved {
  from = terraform_data.nope2
  to   = terraform_data.nope22
}
removed {
  from = terraform_data.m3
  lifecycle {
    destroy = true
  }
  provisioner "local-exec" {
    when    = destroy
    command = local.nope
  }
}
resource "test_thing" "m4" {
  list = "x"
}
resource "test_thing" "m5" {
  name = []
}
#= validate
moved {
  from = terraform_data.m1
  to   = test_thing.ok
}
moved {
  from = module.good.terraform_data.in
  to   = module.good.terraform_data.y2
}
resource "test_strict" "m3" {
}
resource "test_strict" "m4" {
  needed = "x"
  one {}
  one {}
  must {}
}
