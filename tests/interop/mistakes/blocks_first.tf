# Blocks that cannot be read hide what only an evaluation shows.
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
resource "terraform_data" {
}
resource "terraform_data" "m2" {
  nope = 1
}
resource "test_thing" "h3" {
  value = local.nope
}
#= validate
variable "m1" {
  type = object({ a = optional(number, "x") })
}
resource "test_thing" "m2" {
  fails = "validate"
  name  = local.nope
}
resource "test_thing" "h3" {
  tags = { a = test_thing.ok["name"] }
}
#= validate
resource "terraform_data" "m1" {
  count    = 1
  for_each = {}
}
resource "test_blocks" "m2" {
  dynamic "list" {
    for_each = [1]
    nope     = 2
    content {
      text = list.foo
    }
  }
}
resource "test_thing" "h3" {
  list = [local.mp.b]
}
#= validate
resource "terraform_data" "m1" {
  provisioner "local-exec" {
    when       = nope
    on_failure = nope
    command    = "x"
  }
}
resource "terraform_data" "m2" {
  count = var.sec
}
data "test_data" "h3" {
  name = { for x in ["a", "a"] : x => 1 }
}
#= validate
module "m1" {
  source = "./mod"
  a      = 1
  a      = 2
}
resource "terraform_data" "m2" {
  lifecycle {
    replace_triggered_by = [local.ok]
  }
}
data "test_data" "h3" {
  value = tonumber("x")
}
#= validate
provider {
}
check "m2" {
  data "test_data" "c2" {
    name = "x"
  }
  assert {
    condition     = data.test_data.c2.result == "x"
    error_message = "x"
  }
}
output "m2" {
  value = data.test_data.c2.result
}
module "h3" {
  source = "./mod"
  a      = max()
}
#= validate
removed {
  from = data.test_data.m1
}
variable "m2" {
  validation {
    condition     = length(var.m2) > 0 && local.nope
    error_message = "x"
  }
}
module "h3" {
  source = "./mod"
  a      = "x"
  obj    = { x = provider::nope::x(1) }
}
#= validate
resource "terraform_data" "a" "b" {
}
terraform {
  provider_meta "test" {
    nope = 1
  }
}
resource "terraform_data" "h3" {
  count = local.lst[foo()]
}
