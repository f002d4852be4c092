# What depends on a broken value has no errors of its own.
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
resource "terraform_data" "h1" {
  input = "x" ? 1 : 2
}
output "dep1" {
  value = terraform_data.h1.output
}
locals {
  h2 = "${var.l}"
}
output "dep2" {
  value = local.h2
}
resource "terraform_data" "dep2" {
  count = local.h2
}
#= validate
resource "terraform_data" "h1" {
  count = path.module.x
}
output "dep1" {
  value = terraform_data.h1[0].id
}
module "h2" {
  source = "./mod"
  a      = test_thing.ok.nope
}
output "dep2" {
  value = module.h2.o
}
#= validate
locals {
  h1 = nonsensitive(1, 2)
}
output "dep1" {
  value = local.h1
}
resource "terraform_data" "dep1" {
  count = local.h1
}
module "h2" {
  source = "./mod"
  a      = test_thing.ok.nope
}
output "dep2" {
  value = module.h2.o
}
resource "terraform_data" "h3" {
  count = -"x"
}
output "dep3" {
  value = terraform_data.h3[0].id
}
#= validate
module "h1" {
  source = "./mod"
  a      = (1).x
}
output "dep1" {
  value = module.h1.o
}
resource "terraform_data" "h2" {
  input = type(1)
}
output "dep2" {
  value = terraform_data.h2.output
}
#= validate
resource "terraform_data" "h1" {
  input = "x" ? 1 : 2
}
output "dep1" {
  value = terraform_data.h1.output
}
resource "terraform_data" "h2" {
  count = data.test_data.nope.result
}
output "dep2" {
  value = terraform_data.h2[0].id
}
module "h3" {
  source = "./mod"
  a      = null.x
}
output "dep3" {
  value = module.h3.o
}
#= validate
locals {
  h1 = nonsensitive(1, 2)
}
output "dep1" {
  value = local.h1
}
resource "terraform_data" "dep1" {
  count = local.h1
}
locals {
  h2 = "${var.l}"
}
output "dep2" {
  value = local.h2
}
resource "terraform_data" "dep2" {
  count = local.h2
}
