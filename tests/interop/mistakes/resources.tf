# Arguments, repetitions, conditions and provisioners of resources.
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
resource "terraform_data" "m1" {
  nope = 1
}
resource "test_blocks" "m2" {
  dynamic "list" {
    for_each = 1
    content {
      nope = 1
    }
  }
}
resource "terraform_data" "m3" {
  for_each = toset(["a", null])
}
provider "test" {
  alias = "m4"
  nope  = 1
}
#= validate
resource "terraform_data" "m1" {
  nope {}
}
resource "test_blocks" "m2" {
  dynamic "list" {
    for_each = [1]
  }
}
resource "terraform_data" "m3" {
  for_each = [var.l]
  input    = each.nope
}
provider "test" {
  alias = "m4"
  name  = []
}
#= validate
resource "terraform_data" "m1" {
  output = 1
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
resource "terraform_data" "m3" {
  lifecycle {
    ignore_changes = [nope]
  }
}
provider "test" {
  alias = "m4"
  name  = test_thing.ok.nope
}
#= validate
resource "terraform_data" "m1" {
  id   = "x"
  nope = 1
}
resource "test_blocks" "m2" {
  single {
    computed = "x"
  }
}
resource "test_thing" "m3" {
  lifecycle {
    ignore_changes = [name.foo, computed, nope]
  }
}
provider "test" {
  alias = "m4"
  fails = "validate"
}
#= validate
resource "test_nope" "m1" {
}
resource "test_nested" "m2" {
  list = [{ nope = 1 }]
}
resource "terraform_data" "m3" {
  lifecycle {
    replace_triggered_by = [local.ok]
  }
}
variable "m4" {
  validation {
    condition     = true
    error_message = "x"
  }
}
#= validate
data "test_nope" "m1" {
}
resource "test_nested" "m2" {
  single = { number = "x" }
}
resource "terraform_data" "m3" {
  depends_on = [terraform_data.nope, local.nope, terraform_data.one.id]
}
variable "m4" {
  type = string
  validation {
    condition     = var.m4 > 1
    error_message = var.nope
  }
}
#= validate
ephemeral "test_nope" "m1" {
}
resource "test_nested" "m2" {
  single {
    text = "x"
  }
}
resource "terraform_data" "m3" {
  input = terraform_data.m3.id
}
variable "m4" {
  validation {
    condition     = length(var.m4) > 0 && local.nope
    error_message = "x"
  }
}
#= validate
resource "test_thing" "m1" {
  list = "x"
}
resource "test_nested" "m2" {
  list = { a = 1 }
  map  = []
}
resource "terraform_data" "m3" {
  count = terraform_data.m3.id
}
variable "m4" {
  validation {
    condition     = var.m4 == "x"
    error_message = "not this ${foo()}"
  }
}
#= validate
resource "test_thing" "m1" {
  name = []
}
resource "terraform_data" "m2" {
  count = "x"
}
locals {
  a3 = local.a3
}
ephemeral "test_token" "m4" {
  nope = 1
}
#= validate
resource "test_thing" "m1" {
  name = { a = 1 }
  tags = ["x"]
  nope = local.nope
}
resource "terraform_data" "m2" {
  count = -1
}
output "m3" {
  value = var.eph
}
ephemeral "test_token" "m4" {
}
output "m4" {
  value = ephemeral.test_token.m4.nope
}
#= validate
resource "test_thing" "m1" {
  computed = "x"
}
resource "terraform_data" "m2" {
  count = 1.5
}
output "m3" {
  value = var.sec
}
ephemeral "test_token" "m4" {
}
resource "terraform_data" "m4" {
  input = ephemeral.test_token.m4.value
}
#= validate
resource "test_thing" "m1" {
  secret_wo_version = "x"
}
resource "terraform_data" "m2" {
  count = null
}
output "m3" {
  value     = var.eph
  ephemeral = true
}
data "test_data" "m4" {
  name = 1
  fails = local.nope
  nope  = foo()
}
#= validate
resource "test_thing" "m1" {
  fails = "validate"
}
resource "terraform_data" "m2" {
  count = [1]
}
resource "terraform_data" "m3" {
  input = var.eph
}
data "terraform_remote_state" "m4" {
  backend = "nope"
}
#= validate
resource "test_thing" "m1" {
  fails = "validate"
  name  = local.nope
}
resource "terraform_data" "m2" {
  count = "x"
  nope  = 1
}
resource "test_thing" "m3" {
  name      = var.eph
  secret_wo = var.eph
}
data "terraform_remote_state" "m4" {
}
#= validate
resource "test_strict" "m1" {
}
resource "terraform_data" "m2" {
  count = "x"
  input = local.nope
}
data "test_data" "m3" {
  name = var.eph
}
data "terraform_remote_state" "m4" {
  backend = "local"
  config  = "x"
}
#= validate
resource "test_strict" "m1" {
  needed = "x"
  one {}
  one {}
  must {}
}
resource "terraform_data" "m2" {
  count = var.sec
}
check "m3" {
  data "test_data" "c3" {
    nope = 1
  }
  assert {
    condition     = data.test_data.c3.nope
    error_message = "x"
  }
}
resource "terraform_data" "m4" {
  lifecycle {
    precondition {
      condition     = "x"
      error_message = "y"
    }
    postcondition {
      condition     = self.nope
      error_message = "y"
    }
    precondition {
      condition     = local.nope
      error_message = foo()
    }
  }
}
#= validate
resource "test_strict" "m1" {
  needed = null
  one {
    needed = null
  }
  must {
    needed = "a"
  }
}
resource "terraform_data" "m2" {
  count = var.eph
}
check "m3" {
  assert {
    condition     = "x"
    error_message = 1
  }
}
resource "terraform_data" "m4" {
  lifecycle {
    precondition {
      condition     = terraform_data.m4.id == "x"
      error_message = "y"
    }
    postcondition {
      condition     = terraform_data.m4.id == "x"
      error_message = "y"
    }
  }
}
#= validate
resource "test_strict" "m1" {
  needed = "x"
  one {
    needed = "a"
  }
  must {
    needed = "a"
  }
  must {
    needed = "b"
  }
  few {
    needed = "1"
  }
  few {
    needed = "2"
  }
  few {
    needed = "3"
  }
}
resource "terraform_data" "m2" {
  for_each = ["a"]
}
check "m3" {
  data "test_data" "c3" {
    name = "x"
  }
  assert {
    condition     = data.test_data.c3.result == "x"
    error_message = "x"
  }
}
output "m3" {
  value = data.test_data.c3.result
}
output "m4" {
  value = 1
  precondition {
    condition     = 1
    error_message = []
  }
}
#= validate
resource "test_blocks" "m1" {
  list = []
}
resource "terraform_data" "m2" {
  for_each = 1
}
resource "terraform_data" "m3" {
  provisioner "local-exec" {
  }
}
output "m4" {
  value     = 1
  ephemeral = true
}
#= validate
resource "test_blocks" "m1" {
  map {
    text = "x"
  }
}
resource "terraform_data" "m2" {
  for_each = null
}
resource "terraform_data" "m3" {
  provisioner "local-exec" {
    command = "x"
    nope    = 1
  }
}
terraform {
  provider_meta "test" {
    nope = 1
  }
}
#= validate
resource "test_blocks" "m1" {
  list "x" {
    text = "x"
  }
}
resource "terraform_data" "m2" {
  for_each = toset([1, null])
}
resource "terraform_data" "m3" {
  provisioner "local-exec" {
    command     = [1]
    environment = "x"
  }
}
terraform {
  provider_meta "test" {
    module = local.ok
  }
}
#= validate
resource "test_blocks" "m1" {
  list {
    nope = 1
    inner {
      nope = 2
    }
    zip {}
  }
}
resource "terraform_data" "m2" {
  for_each = toset([1, 2])
}
resource "terraform_data" "m3" {
  provisioner "local-exec" {
    command = self.nope
  }
}
terraform {
  provider_meta "test" {
    module = []
  }
}
#= validate
resource "test_blocks" "m1" {
  dynamic "nope" {
    for_each = [1]
    content {}
  }
}
resource "terraform_data" "m2" {
  for_each = toset([var.sec])
}
resource "terraform_data" "m3" {
  connection {
    host = "x"
    nope = 1
  }
  provisioner "file" {
    source = "x"
  }
}
resource "terraform_data" "m4" {
  input = provider::test::nope(1)
}
#= validate
resource "test_blocks" "m1" {
  dynamic "list" {
    content {}
  }
}
resource "terraform_data" "m2" {
  for_each = { a = var.sec }
  input    = each.value.x
}
resource "terraform_data" "m3" {
  provisioner "remote-exec" {
    inline = ["a"]
    script = "b"
    connection {
      port = "x"
    }
  }
}
resource "test_thing" "m4" {
  name = 1
  list = [1, []]
  tags = { b = {} }
}
