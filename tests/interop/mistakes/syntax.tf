# Syntax errors beside other mistakes.
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
output "m1" {
  value = 
}
resource "terraform_data" {
}
#= validate
output "m1" {
  value = 1 +
}
resource "terraform_data" "m2" {
  depends_on = local.x
}
#= validate
output "m1" {
  value = "${}"
}
resource "terraform_data" "m2" {
  lifecycle {
    replace_triggered_by = [foo(), 1]
  }
}
#= validate
resource "terraform_data" "m1" {
  input 1
}
terraform {
  backend "local" {
  }
  backend "local" {
  }
}
#= validate
resource "terraform_data" "m1" {
  input = 1 triggers_replace = 2
}
check "m2" {
}
#= validate
resource "terraform_data" "m1" { input = 1
}
variable "m2" {
  type = object({ a = optional(number, "x") })
}
#= validate
output "m1" {
  value = [for x in]
}
terraform {
  nope = 1
}
#= validate
output "m1" {
  value = 1
}
variable "m2" {
  sensitive = "x"
  nullable  = []
  ephemeral = 1
}
#= validate
output "m1" {
  value = true ? 1
}
data "test_data" "m2" {
  count      = 1
  for_each   = {}
  depends_on = [1]
}
#= validate
output "m1" {
  value = "a\qb"
}
removed {
  from = terraform_data.m2
  provisioner "local-exec" {
    command = "x"
  }
}
#= validate
output "m1" {
  "value" = 1
}
resource "terraform_data" "m2" {
  count    = 1
  for_each = {}
}
#= validate
output "m1" {
  value == 1
}
variable "m2" {
  type = foo
}
#= validate
output "m1" {
  value = a.0x
}
locals {
  m2 = 1
}
locals {
  m2 = 1
}
#= validate
output "m1" {
  value = a.*.b[*].
}
resource "terraform_data" "m2" {
  provisioner "local-exec" {
    command = "a"
    connection {}
    connection {}
    nope {}
    lifecycle {}
  }
}
#= validate
output "m1" {
  value = 1
}}
removed {
}
#= validate
output "m1" {
  value = "\u12"
}
nope "x" {
}
#= validate
output "m1" {
  value = 1 & 2
}
output "m2" {
  value = 1
}
output "m2" {
  value = 2
}
#= validate
output "m1" {
  value = 1; b = 2
}
module "0m2" {
  source = "./mod"
  a      = "x"
}
#= validate
resource "terraform_data" "m1" {
  foo = 1
  lifecycle {
    prevent_destroy = "x"
    ignore_changes  = ["input"]
    nope            = 1
    bar {}
  }
  depends_on = ["terraform_data.one"]
  input      = 1 2
}
#= validate
variable "m1" {
  type      = strin
  default   = 1 2
  sensitive = "x"
  foo       = 1
}
module "m2" {
  source  = "./mod"
  a       = "x"
  count   = 1
  providers = 5
}
