# Blocks that cannot be read, several in a module.
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
locals {
  m2 = 1
  m2 = 2
}
data "test_data" "m3" {
  count      = 1
  for_each   = {}
  depends_on = [1]
}
terraform {
  backend "nope" {
  }
}
#= validate
resource "terraform_data" "a" "b" {
}
locals {
  m2 = 1
}
locals {
  m2 = 1
}
ephemeral "test_token" "m3" {
  lifecycle {
    prevent_destroy = true
  }
}
terraform {
  backend {
  }
}
#= validate
resource terraform_data "m1" "x" {
}
locals {
  nope {}
}
ephemeral "test_token" "m3" {
  connection {}
  count    = 1
  for_each = {}
}
terraform {
  provider_meta "test" {
  }
  provider_meta "test" {
  }
}
#= validate
resource "terraform_data" "0m1" {
}
locals "x" {
  y2 = 1
}
module "m3" {
}
required_providers {
}
#= validate
resource "0terraform" "m1" {
}
resource "terraform_data" "m2" {
  count    = 1
  for_each = {}
}
module "m3" {
  source = local.x
}
moved {
  from = terraform_data.m4
}
#= validate
nope "x" {
}
resource "terraform_data" "m2" {
  input = 1
  input = 2
}
module "m3" {
  source = "./nothere"
}
moved {
  from = foo()
  to   = "x"
}
#= validate
nope = 1
resource "terraform_data" "m2" {
}
resource "terraform_data" "m2" {
}
module "m3" {
  source  = "./mod"
  version = "1.0"
  a       = "x"
}
moved {
  from = terraform_data.m4
  to   = module.good
}
#= validate
variable "m1" {
  nope = 1
}
resource "terraform_data" "m2" {
  lifecycle {
    nope = 1
  }
}
module "m3" {
  source  = "./mod"
  version = "x y"
  a       = "x"
}
moved {
  from = terraform_data.m4
  to   = terraform_data.n4
  nope = 1
}
#= validate
variable "m1" {
  type = foo
}
resource "terraform_data" "m2" {
  lifecycle {
    create_before_destroy = "x"
    prevent_destroy       = local.ok
    ignore_changes        = "x"
  }
}
module "m3" {
  source = "./mod"
  a      = 1
  a      = 2
}
moved {
  from = data.test_data.m4
  to   = data.test_data.n4
}
#= validate
variable "m1" {
  type = "string"
}
resource "terraform_data" "m2" {
  lifecycle {
  }
  lifecycle {
  }
}
module "m3" {
  source   = "./mod"
  a        = 1
  count    = 1
  for_each = {}
}
moved "x" {
  from = terraform_data.m4
  to   = terraform_data.n4
}
#= validate
variable "m1" {
  type = list
}
resource "terraform_data" "m2" {
  lifecycle {
    ignore_changes = ["*"]
  }
}
module "m3" {
  source    = "./mod"
  a         = "x"
  providers = "x"
}
removed {
}
#= validate
variable "m1" {
  type    = number
  default = "x"
}
resource "terraform_data" "m2" {
  lifecycle {
    ignore_changes = [foo(), local.x.y]
  }
}
module "m3" {
  source = "./mod"
  a      = "x"
  providers = {
    test  = test
    test  = test
    "a b" = test
    test2 = foo()
  }
}
removed {
  from = terraform_data.m4[0]
}
#= validate
variable "m1" {
  default = local.x
}
resource "terraform_data" "m2" {
  lifecycle {
    precondition {
      condition = true
    }
    postcondition {
    }
  }
}
module "m3" {
  source = "./mod"
  a      = "x"
  nope {
  }
  lifecycle {
  }
}
removed {
  from = data.test_data.m4
}
#= validate
variable "m1" {
  default = foo()
}
resource "terraform_data" "m2" {
  lifecycle {
    replace_triggered_by = [foo(), 1]
  }
}
module "m3" {
  source = "./mod"
  a      = "x"
}
module "m3" {
  source = "./mod"
  a      = "x"
}
removed {
  from = terraform_data.m4
  lifecycle {
  }
}
#= validate
variable "m1" {
  sensitive = "x"
  nullable  = []
  ephemeral = 1
}
resource "terraform_data" "m2" {
  lifecycle {
    replace_triggered_by = 1
  }
}
module "0m3" {
  source = "./mod"
  a      = "x"
}
removed {
  from = terraform_data.m4
  lifecycle {
    destroy = "x"
    nope    = 1
  }
}
#= validate
variable "m1" {
  description = 1
  type        = object({ a = strin })
}
resource "terraform_data" "m2" {
  depends_on = [1, "a b", foo()]
}
module {
  source = "./mod"
}
removed {
  from = module.x4
  provisioner "local-exec" {
    command = "x"
  }
}
#= validate
variable "m1" {
  type = object({ a = optional(string, 1, 2) })
}
resource "terraform_data" "m2" {
  depends_on = local.x
}
module "m3" {
  source = ""
}
removed {
  from = terraform_data.m4
  provisioner "local-exec" {
    command = "x"
  }
}
#= validate
variable "m1" {
  type = object({ a = optional(number, "x") })
}
resource "terraform_data" "m2" {
  provider = "x y"
}
module "m3" {
  source     = "./mod"
  a          = "x"
  depends_on = 1
}
import {
}
#= validate
variable "m1" {
  nullable = false
  default  = null
}
resource "terraform_data" "m2" {
  provider = foo()
}
provider "test" {
  alias = 1
}
import {
  to = foo()
  id = "x"
}
#= validate
variable "m1" {
  validation {
  }
}
resource "terraform_data" "m2" {
  provider = a.b.c
}
provider "test" {
  alias = "0x y"
}
import {
  to = terraform_data.one
}
#= validate
variable "m1" {
  validation {
    condition = var.m1 == 1
  }
}
resource "terraform_data" "m2" {
  provisioner {
  }
}
provider "test" {
  alias   = "m3"
  version = "x"
}
import {
  to   = terraform_data.one
  id   = "x"
  nope = 1
}
#= validate
variable "m1" {
  validation {
    condition     = var.m1 == 1
    error_message = "x"
    nope          = 1
  }
  nope {}
}
resource "terraform_data" "m2" {
  provisioner "local-exec" {
    when       = nope
    on_failure = nope
    command    = "x"
  }
}
provider "test" {
  alias  = "m3"
  count  = 1
  source = "x"
  nope {}
}
import {
  to       = terraform_data.one
  id       = "x"
  provider = foo()
}
#= validate
variable "source" {
}
variable "for_each" {
}
resource "terraform_data" "m2" {
  provisioner "local-exec" {
    when    = destroy
    command = local.ok
  }
}
provider "test" {
  alias = "m3"
}
provider "test" {
  alias = "m3"
}
check "m4" {
}
#= validate
variable "0m1" {
}
resource "terraform_data" "m2" {
  connection {
  }
  connection {
  }
}
provider "a b" {
}
check {
  assert {
    condition     = true
    error_message = "x"
  }
}
#= validate
variable "m1" {
}
variable "m1" {
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
provider "Test_x" {
}
check "m4" {
  nope = 1
  assert {
  }
}
#= validate
output "m1" {
}
resource "terraform_data" "m2" {
  locals {
  }
  escape {
  }
  _ {
  }
  _ {
  }
}
provider {
}
check "m4" {
  assert {
    condition     = var.s == "x"
    error_message = "x"
  }
}
check "m4" {
  assert {
    condition     = var.s == "x"
    error_message = "x"
  }
}
#= validate
output "m1" {
  value = 1
  nope  = 2
}
data "test_data" "m2" {
  lifecycle {
    create_before_destroy = true
  }
}
terraform {
  nope = 1
}
check "m4" {
  data "test_data" "c4" {
    count = 1
    lifecycle {
    }
  }
  data "test_data" "d4" {
  }
  assert {
    condition     = var.s == "x"
    error_message = "x"
  }
}
#= validate
output "m1" {
  value       = 1
  description = []
  sensitive   = "y"
  depends_on  = 1
}
data "test_data" "m2" {
  provisioner "local-exec" {
    command = "x"
  }
  connection {
  }
}
terraform {
  nope {}
}
check "0m4" {
  assert {
    condition     = var.s == "x"
    error_message = "x"
  }
}
#= validate
output "m1" {
  value = 1
}
output "m1" {
  value = 2
}
data "test_data" "m2" {
}
data "test_data" "m2" {
}
terraform {
  required_providers {
    foo3 = 1
  }
}
#= validate
output "m1" {
  value = 1
  precondition {
  }
}
data "test_data" {
}
terraform {
  backend "local" {
  }
  backend "local" {
  }
}
