# References in arguments and blocks that the schema lacks do not count.
#= file base.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
variable "l" {
  type = list(string)
}
resource "test_thing" "ok" {
  name = "x"
}
resource "test_thing" "bad" {
  nope = 1
}
data "test_data" "bad" {
  name = "x"
  nope = 1
}
locals {
  bad = "${var.l}"
}
#= file mod/main.tf
variable "a" {
  default = 1
}
#= validate
resource "test_thing" "a" {
  first  = test_thing.bad.id
  second = 1
}
#= validate
resource "test_thing" "a" {
  block {
    id = test_thing.bad.id
  }
  second = 1
  third {
  }
}
#= validate
resource "test_thing" "a" {
  name  = test_thing.bad.id
  first = 1
}
#= validate
resource "test_thing" "a" {
  first = data.test_data.bad.result
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = local.bad
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = nope.nope.id
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = var.nope
  other = local.nope
  more  = module.nope.x
  data  = data.test_data.nope.id
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = test_thing.ok.nope
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = nope
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = var
  other = each.key
  more  = count.index
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = self.id
  other = path.nope
  more  = terraform.nope
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = nope(1)
  other = upper()
  more  = provider::test::nope(1)
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = test_thing.a.id
  name  = []
}
#= validate
resource "test_thing" "a" {
  first = test_thing.b.id
}
resource "test_thing" "b" {
  first = test_thing.a.id
}
#= validate
resource "test_thing" "a" {
  name = test_thing.b.id
}
resource "test_thing" "b" {
  first = test_thing.a.id
}
#= validate
resource "test_nope" "a" {
  name = test_thing.bad.id
}
resource "test_nope" "b" {
  count = test_thing.bad.id
}
resource "test_nope" "c" {
  depends_on = [test_thing.bad]
}
data "test_nope" "a" {
  name = test_thing.bad.id
}
#= validate
resource "test_nope" "a" {
  name  = nope.nope.id
  other = var.nope
  more  = nope
}
#= validate
resource "test_legacy" "a" {
  made {
    first = test_thing.bad.id
  }
  first = 1
}
#= validate
resource "test_legacy" "a" {
  dynamic "nope" {
    for_each = test_thing.bad.tags
    content {
      id = local.bad
    }
  }
  dynamic "made" {
    for_each = []
    content {
      first = test_thing.bad.id
    }
  }
  first = 1
}
#= validate
resource "test_legacy" "a" {
  dynamic "made" {
    for_each = test_thing.bad.tags
    content {
      first = 1
    }
  }
  first = 1
}
#= validate
resource "test_legacy" "a" {
  made = test_thing.bad.id
  part = [{ first = local.bad }]
  rule {
    first = local.bad
    name  = []
  }
}
#= validate
resource "test_nested" "a" {
  one {
    text = test_thing.bad.id
  }
  list {
    text = local.bad
  }
  first = 1
}
#= validate
provider "test" {
  first = test_thing.bad.id
  fails = []
}
#= validate
provider "test" {
  first {
    id = local.bad
  }
  fails = []
}
#= validate
provider "test" {
  fails = test_thing.bad.id
  first = 1
}
#= validate
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = 1
    first   = test_thing.bad.id
    second  = 1
  }
}
resource "terraform_data" "b" {
  connection {
    host   = "x"
    first  = test_thing.bad.id
    second = 1
  }
  provisioner "local-exec" {
    command = "x"
  }
}
resource "terraform_data" "c" {
  provisioner "local-exec" {
    command = test_thing.bad.id
    first   = 1
  }
}
#= validate
data "test_data" "a" {
  first  = test_thing.bad.id
  second = 1
  name   = []
}
#= validate
ephemeral "test_token" "a" {
  first  = test_thing.bad.id
  second = 1
}
#= validate
resource "test_thing" "a" {
  first = test_thing.bad.id
  lifecycle {
    precondition {
      condition     = 1
      error_message = ""
    }
    ignore_changes = [nope]
  }
}
resource "test_thing" "b" {
  first = test_thing.bad.id
  lifecycle {
    precondition {
      condition     = test_thing.bad.id == 1
      error_message = ""
    }
    ignore_changes = [nope]
  }
}
#= validate
resource "test_thing" "a" {
  first = test_thing.ok.old
}
#= validate
resource "test_thing" "a" {
  first = test_thing.bad.id
}
output "a" {
  value = test_thing.a.nope
}
output "b" {
  first = test_thing.bad.id
  value = 1
}
check "c" {
  first = test_thing.bad.id
}
variable "v" {
  first = test_thing.bad.id
}
#= validate
module "m" {
  source = "./mod"
  first  = test_thing.bad.id
  second = 1
}
#= validate
module "m" {
  source = "./mod"
  first  = test_thing.bad.id
  a      = nope.nope
}
resource "test_thing" "a" {
  first = test_thing.bad.id
}
#= validate
resource "test_thing" "a" {
  first = [for s in test_thing.bad.list : s]
  list  = [for s in 1 : s]
}
