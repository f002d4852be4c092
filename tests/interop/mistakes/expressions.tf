# Wrong expressions in every place that takes one.
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
resource "test_thing" "h1" {
  value = local.nope
}
resource "terraform_data" "h2" {
  input = var.s.x
}
module "h3" {
  source = "./mod"
  a      = split(",")
}
output "dep3" {
  value = module.h3.o
}
resource "terraform_data" "h4" {
  input = var.s == foo()
}
output "dep4" {
  value = terraform_data.h4.output
}
#= validate
resource "terraform_data" "h1" {
  lifecycle {
    precondition {
      condition     = var.nope
      error_message = "no"
    }
  }
}
resource "terraform_data" "h2" {
  for_each = var.s[0]
}
module "h3" {
  source = "./mod"
  a      = max()
}
resource "test_thing" "h4" {
  list = [var.s && true]
}
#= validate
provider "test" {
  alias = "h1"
  name  = terraform_data.nope.id
}
variable "h2" {
  validation {
    condition     = var.l.x
    error_message = "no"
  }
}
check "h3" {
  assert {
    condition     = min("x")
    error_message = "no"
  }
}
resource "terraform_data" "h4" {
  lifecycle {
    precondition {
      condition     = true
      error_message = 1 < "x"
    }
  }
}
#= validate
resource "test_blocks" "h1" {
  map "k" {
    text = data.test_data.nope.result
  }
}
resource "test_blocks" "h2" {
  list {
    text = var.l["x"]
  }
}
output "h3" {
  value      = 1
  depends_on = [index(["a"], "b")]
}
import {
  to = terraform_data.each[each.key]
  id = "a"
  for_each = "a" < "b"
}
#= validate
locals {
  h1 = module.nope.o
}
output "dep1" {
  value = local.h1
}
resource "terraform_data" "dep1" {
  count = local.h1
}
resource "terraform_data" "h2" {
  count = 2
  input = [count.index, var.obj.c]
}
ephemeral "test_token" "h3" {
  name = zipmap(["a"], [1, 2])
}
resource "test_nested" "h4" {
  single = { text = upper(local.nope) }
}
#= validate
data "test_data" "h1" {
  name = module.good.nope
}
resource "test_thing" "h2" {
  value = var.obj["c"]
}
resource "terraform_data" "h3" {
  input = slice(["a"], 1, 5)
}
module "h4" {
  source = "./mod"
  a      = upper(foo())
}
output "dep4" {
  value = module.h4.o
}
#= validate
output "h1" {
  value = 1
  precondition {
    condition     = module.goods.o
    error_message = "no"
  }
}
resource "terraform_data" "h2" {
  lifecycle {
    precondition {
      condition     = var.n.x
      error_message = "no"
    }
  }
}
resource "terraform_data" "h3" {
  for_each = substr("a", "x", 1)
}
module "h4" {
  source = "./mod"
  a      = upper(terraform_data.one.nope)
}
#= validate
resource "terraform_data" "h1" {
  lifecycle {
    replace_triggered_by = [module.goods[0].nope]
  }
}
provider "test" {
  alias = "h2"
  name  = [for x in 1 : x]
}
variable "h3" {
  validation {
    condition     = parseint("z", 10)
    error_message = "no"
  }
}
check "h4" {
  assert {
    condition     = upper("a", local.nope)
    error_message = "no"
  }
}
#= validate
resource "test_nested" "h1" {
  map = { k = { number = foo() } }
}
resource "test_blocks" "h2" {
  map "k" {
    text = [for x in var.n : x]
  }
}
resource "test_blocks" "h3" {
  list {
    text = setproduct()
  }
}
output "h4" {
  value      = 1
  depends_on = [nonsensitive(1, 2)]
}
#= validate
output "h1" {
  value = upper(1, 2)
}
locals {
  h2 = { for k, v in var.l : k => v.x }
}
output "dep2" {
  value = local.h2
}
resource "terraform_data" "dep2" {
  count = local.h2
}
resource "terraform_data" "h3" {
  count = 2
  input = [count.index, flatten(1)]
}
ephemeral "test_token" "h4" {
  name = sensitive()
}
#= validate
module "h1" {
  source = "./mod"
  a      = "x"
  obj    = { x = upper() }
}
data "test_data" "h2" {
  name = { for x in ["a", "a"] : x => 1 }
}
resource "test_thing" "h3" {
  value = sum(["a"])
}
resource "terraform_data" "h4" {
  input = ephemeralasnull()
}
#= validate
check "h1" {
  assert {
    condition     = true
    error_message = upper([])
  }
}
output "h2" {
  value = 1
  precondition {
    condition     = { for x in [1] : null => x }
    error_message = "no"
  }
}
resource "terraform_data" "h3" {
  lifecycle {
    precondition {
      condition     = sum([])
      error_message = "no"
    }
  }
}
resource "terraform_data" "h4" {
  for_each = data.test_data.ok.nope
}
#= validate
resource "terraform_data" "h1" {
  provisioner "local-exec" {
    command = terraform_data.many.id
  }
}
resource "terraform_data" "h2" {
  lifecycle {
    replace_triggered_by = [[for x in var.l : y]]
  }
}
provider "test" {
  alias = "h3"
  name  = range(0)
}
variable "h4" {
  validation {
    condition     = data.test_data.ok[0].result
    error_message = "no"
  }
}
#= validate
resource "test_strict" "h1" {
  needed = terraform_data.each.id
  one {
    needed = "a"
  }
  must {
    needed = "a"
  }
}
resource "test_nested" "h2" {
  map = { k = { number = [for x in var.l : x.y] } }
}
resource "test_blocks" "h3" {
  map "k" {
    text = base64decode("!")
  }
}
resource "test_blocks" "h4" {
  list {
    text = module.good
  }
}
#= validate
resource "terraform_data" "h1" {
  triggers_replace = [terraform_data.one[0].id]
}
output "h2" {
  value = nope
}
locals {
  h3 = one([1, 2])
}
output "dep3" {
  value = local.h3
}
resource "terraform_data" "dep3" {
  count = local.h3
}
resource "terraform_data" "h4" {
  count = 2
  input = [count.index, module.good.obj.k.x]
}
#= validate
module "h1" {
  source   = "./mod"
  for_each = terraform_data.one.nope
  a        = "x"
}
module "h2" {
  source = "./mod"
  a      = "x"
  obj    = { x = nope.x }
}
data "test_data" "h3" {
  name = try(local.nope)
}
resource "test_thing" "h4" {
  value = module.good.obj.z
}
#= validate
variable "h1" {
  validation {
    condition     = var.h1 == test_thing.ok.nope
    error_message = "no"
  }
}
check "h2" {
  assert {
    condition     = true
    error_message = nope.x.y
  }
}
output "h3" {
  value = 1
  precondition {
    condition     = try()
    error_message = "no"
  }
}
resource "terraform_data" "h4" {
  lifecycle {
    precondition {
      condition     = module.goods[0].obj.z
      error_message = "no"
    }
  }
}
#= validate
resource "test_blocks" "h1" {
  dynamic "list" {
    for_each = test_thing.ok.name.foo
    content {
      text = list.value
    }
  }
}
resource "terraform_data" "h2" {
  provisioner "local-exec" {
    command = data.x
  }
}
resource "terraform_data" "h3" {
  lifecycle {
    replace_triggered_by = [can(1, 2)]
  }
}
provider "test" {
  alias = "h4"
  name  = module.goods[*].nope
}
#= validate
resource "terraform_data" "h1" {
  for_each = { a = 1 }
  input = [each.value, test_thing.ok.list.foo]
}
resource "test_strict" "h2" {
  needed = data.test_data
  one {
    needed = "a"
  }
  must {
    needed = "a"
  }
}
resource "test_nested" "h3" {
  map = { k = { number = can(foo()) } }
}
resource "test_blocks" "h4" {
  map "k" {
    text = module.good["a"].o
  }
}
#= validate
resource "test_thing" "h1" {
  tags = { a = test_thing.ok["name"] }
}
resource "terraform_data" "h2" {
  triggers_replace = [resource.terraform_data.nope.id]
}
output "h3" {
  value = provider::test::nope(1)
}
locals {
  h4 = module.good[0].o
}
output "dep4" {
  value = local.h4
}
resource "terraform_data" "dep4" {
  count = local.h4
}
#= validate
resource "terraform_data" "h1" {
  lifecycle {
    postcondition {
      condition     = self.id == test_thing.ok.tags[0].x
      error_message = "no"
    }
  }
}
module "h2" {
  source   = "./mod"
  for_each = resource.terraform_data.one.nope
  a        = "x"
}
module "h3" {
  source = "./mod"
  a      = "x"
  obj    = { x = provider::nope::x(1) }
}
data "test_data" "h4" {
  name = var.any.x.y
}
#= validate
import {
  to = terraform_data.one
  id = count.index
}
variable "h2" {
  validation {
    condition     = var.h2 == "${local.nope}-${foo()}"
    error_message = "no"
  }
}
check "h3" {
  assert {
    condition     = true
    error_message = core::nope()
  }
}
output "h4" {
  value = 1
  precondition {
    condition     = path.module.x
    error_message = "no"
  }
}
#= validate
resource "test_nested" "h1" {
  list = [{ text = count.nope }]
}
resource "test_blocks" "h2" {
  dynamic "list" {
    for_each = "${[1]}"
    content {
      text = list.value
    }
  }
}
resource "terraform_data" "h3" {
  provisioner "local-exec" {
    command = core::upper(1, 2)
  }
}
resource "terraform_data" "h4" {
  lifecycle {
    replace_triggered_by = [terraform.workspace.x]
  }
}
#= validate
resource "terraform_data" "h1" {
  count = each.key
}
output "dep1" {
  value = terraform_data.h1[0].id
}
resource "terraform_data" "h2" {
  for_each = { a = 1 }
  input = [each.value, "${{}}"]
}
resource "test_strict" "h3" {
  needed = nope::upper("x")
  one {
    needed = "a"
  }
  must {
    needed = "a"
  }
}
resource "test_nested" "h4" {
  map = { k = { number = plantimestamp(1) } }
}
#= validate
data "test_data" "h1" {
  value = each.value
}
resource "test_thing" "h2" {
  tags = { a = "x ${null}" }
}
resource "terraform_data" "h3" {
  triggers_replace = [provider::test::upper()]
}
output "h4" {
  value = type(1)
}
#= validate
resource "terraform_data" "h2" {
  lifecycle {
    postcondition {
      condition     = self.id == jsondecode("{")
      error_message = "no"
    }
  }
}
module "h3" {
  source   = "./mod"
  for_each = [local.nope, var.nope]
  a        = "x"
}
module "h4" {
  source = "./mod"
  a      = "x"
  obj    = { x = defaults({}, {}) }
}
#= validate
resource "terraform_data" "h1" {
  depends_on = [path.nope]
}
import {
  to = terraform_data.one
  id = cidrsubnet("x", 1, 1)
}
variable "h3" {
  validation {
    condition     = var.h3 == [foo(), upper()]
    error_message = "no"
  }
}
check "h4" {
  assert {
    condition     = true
    error_message = list(1)
  }
}
#= validate
resource "test_nested" "h1" {
  list = terraform.nope
}
resource "test_nested" "h2" {
  list = [{ text = file("nope.txt") }]
}
resource "test_blocks" "h3" {
  dynamic "list" {
    for_each = { a = local.nope, b = foo() }
    content {
      text = list.value
    }
  }
}
resource "terraform_data" "h4" {
  provisioner "local-exec" {
    command = map("a", 1)
  }
}
#= validate
locals {
  h1 = terraform.env
}
resource "terraform_data" "h2" {
  count = templatefile("nope.tpl", {})
}
output "dep2" {
  value = terraform_data.h2[0].id
}
resource "terraform_data" "h3" {
  for_each = { a = 1 }
  input = [each.value, { (local.nope) = 1 }]
}
resource "test_strict" "h4" {
  needed = issensitive()
  one {
    needed = "a"
  }
  must {
    needed = "a"
  }
}
#= validate
resource "terraform_data" "h1" {
  count = 1 + "a"
}
data "test_data" "h2" {
  value = tonumber("x")
}
resource "test_thing" "h3" {
  tags = { a = { (null) = 1 } }
}
resource "terraform_data" "h4" {
  triggers_replace = [strcontains("a")]
}
#= validate
check "h1" {
  data "test_data" "c1" {
    name = "a" + "b"
  }
  assert {
    condition     = true
    error_message = "no"
  }
}
output "h2" {
  value = 1
  precondition {
    condition     = var.s == "x"
    error_message = tobool("x")
  }
}
resource "terraform_data" "h3" {
  lifecycle {
    postcondition {
      condition     = self.id == { ([]) = 1 }
      error_message = "no"
    }
  }
}
module "h4" {
  source   = "./mod"
  for_each = ephemeral.nope.x.y
  a        = "x"
}
#= validate
resource "terraform_data" "h1" {
  connection {
    host = !"x"
  }
}
resource "terraform_data" "h2" {
  depends_on = [tolist(1)]
}
import {
  to = terraform_data.one
  id = local.lst[*].x
}
variable "h4" {
  validation {
    condition     = var.h4 == ephemeral.test_token.nope.value
    error_message = "no"
  }
}
#= validate
resource "test_strict" "h1" {
  needed = "a"
  one {
    needed = -"x"
  }
  must {
    needed = "b"
  }
}
resource "test_nested" "h2" {
  list = toset("x")
}
resource "test_nested" "h3" {
  list = [{ text = terraform_data.many[*].nope }]
}
resource "test_blocks" "h4" {
  dynamic "list" {
    for_each = "a".b
    content {
      text = list.value
    }
  }
}
#= validate
resource "test_thing" "h1" {
  name = [1, 2].a
}
locals {
  h2 = lookup({ a = 1 }, "b")
}
resource "terraform_data" "h3" {
  count = terraform_data.many[0].nope
}
output "dep3" {
  value = terraform_data.h3[0].id
}
resource "terraform_data" "h4" {
  for_each = { a = 1 }
  input = [each.value, (local.nope)]
}
#= validate
module "h1" {
  source = "./mod"
  count  = [1, 2][5]
  a      = "x"
}
resource "terraform_data" "h2" {
  count = element([], 0)
}
data "test_data" "h3" {
  value = terraform_data.many["a"].id
}
resource "test_thing" "h4" {
  tags = { a = (1).x }
}
#= validate
variable "h1" {
  validation {
    condition     = var.h1 == 1
    error_message = [1, 2]["x"]
  }
}
check "h2" {
  data "test_data" "c2" {
    name = merge(1, 2)
  }
  assert {
    condition     = true
    error_message = "no"
  }
}
output "h3" {
  value = 1
  precondition {
    condition     = var.s == "x"
    error_message = terraform_data.each[0].id
  }
}
resource "terraform_data" "h4" {
  lifecycle {
    postcondition {
      condition     = self.id == upper("a").x
      error_message = "no"
    }
  }
}
#= validate
resource "test_blocks" "h1" {
  dynamic "list" {
    for_each = ["a"]
    content {
      text = { a = 1 }.b
    }
  }
}
resource "terraform_data" "h2" {
  connection {
    host = regex("(", "x")
  }
}
resource "terraform_data" "h3" {
  depends_on = [terraform_data.each["a"].nope]
}
import {
  to = terraform_data.one
  id = upper("a")[0]
}
#= validate
resource "terraform_data" "h1" {
  input = { a = 1 }["b"]
}
output "dep1" {
  value = terraform_data.h1.output
}
resource "test_strict" "h2" {
  needed = "a"
  one {
    needed = regex("a", "b")
  }
  must {
    needed = "b"
  }
}
resource "test_nested" "h3" {
  list = terraform_data.many[5].id
}
resource "test_nested" "h4" {
  list = [{ text = "${var.l}" }]
}
#= validate
resource "test_thing" "h1" {
  list = [local.mp.b]
}
resource "test_thing" "h2" {
  name = format("%d", "x")
}
locals {
  h3 = local.lst[local.nope]
}
resource "terraform_data" "h4" {
  count = "a${var.obj}b"
}
output "dep4" {
  value = terraform_data.h4[0].id
}
#= validate
resource "terraform_data" "h1" {
  lifecycle {
    precondition {
      condition     = true
      error_message = local.mp["b"]
    }
  }
}
module "h2" {
  source = "./mod"
  count  = formatdate("x", "y")
  a      = "x"
}
resource "terraform_data" "h3" {
  count = local.lst[foo()]
}
data "test_data" "h4" {
  value = "%{ if local.nope }a%{ endif }"
}
#= validate
import {
  to = terraform_data.each[each.key]
  id = "a"
  for_each = local.lst[7]
}
variable "h2" {
  validation {
    condition     = var.h2 == 1
    error_message = timeadd("x", "1h")
  }
}
check "h3" {
  data "test_data" "c3" {
    name = local.lst["a"]
  }
  assert {
    condition     = true
    error_message = "no"
  }
}
output "h4" {
  value = 1
  precondition {
    condition     = var.s == "x"
    error_message = "%{ for x in 1 }a%{ endfor }"
  }
}
#= validate
resource "test_nested" "h1" {
  single = { text = local.lst.x }
}
resource "test_blocks" "h2" {
  dynamic "list" {
    for_each = ["a"]
    content {
      text = coalesce()
    }
  }
}
resource "terraform_data" "h3" {
  connection {
    host = local.nope ? 1 : 2
  }
}
resource "terraform_data" "h4" {
  depends_on = ["%{ if 1 }a%{ endif }"]
}
#= validate
module "h1" {
  source = "./mod"
  a      = local.str.x
}
output "dep1" {
  value = module.h1.o
}
resource "terraform_data" "h2" {
  input = coalesce("", "")
}
output "dep2" {
  value = terraform_data.h2.output
}
resource "test_strict" "h3" {
  needed = "a"
  one {
    needed = "x" ? 1 : 2
  }
  must {
    needed = "b"
  }
}
resource "test_nested" "h4" {
  list = <<-E
    ${local.nope}
    ${foo()}
  E
}
#= validate
module "h1" {
  source = "./mod"
  a      = local.str[0]
}
resource "test_thing" "h2" {
  list = [concat("a", "b")]
}
resource "test_thing" "h3" {
  name = [] ? 1 : 2
}
locals {
  h4 = upper(var.l...)
}
#= validate
check "h1" {
  assert {
    condition     = local.ok.x
    error_message = "no"
  }
}
resource "terraform_data" "h2" {
  lifecycle {
    precondition {
      condition     = true
      error_message = keys("a")
    }
  }
}
module "h3" {
  source = "./mod"
  count  = null ? 1 : 2
  a      = "x"
}
resource "terraform_data" "h4" {
  count = upper([]...)
}
#= validate
output "h1" {
  value      = 1
  depends_on = [null.x]
}
import {
  to = terraform_data.each[each.key]
  id = "a"
  for_each = length(1)
}
variable "h3" {
  validation {
    condition     = var.h3 == 1
    error_message = true ? "a" : []
  }
}
check "h4" {
  data "test_data" "c4" {
    name = upper(1...)
  }
  assert {
    condition     = true
    error_message = "no"
  }
}
#= validate
ephemeral "test_token" "h1" {
  name = true ? 1 : [1, 2][9]
}
resource "test_nested" "h2" {
  single = { text = join(1, 2) }
}
resource "test_blocks" "h3" {
  dynamic "list" {
    for_each = ["a"]
    content {
      text = true ? foo() : local.nope
    }
  }
}
resource "terraform_data" "h4" {
  connection {
    host = max([]...)
  }
}
