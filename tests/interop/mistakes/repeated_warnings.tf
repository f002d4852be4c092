# Warnings of validation, each as often as Terraform reports it: planning validates again.
#= file base.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
#= validate
resource "test_thing" "a" {
  lifecycle {
    ignore_changes = [computed]
  }
}
resource "test_thing" "b" {
  count = 2
  lifecycle {
    ignore_changes = [computed, id, chosen, name, computed]
  }
}
resource "test_legacy" "c" {
  name = "c"
  lifecycle {
    ignore_changes = [id, part[0].c, part]
  }
}
#= plan
#= validate
resource "test_thing" "a" {
  lifecycle {
    ignore_changes = all
  }
}
resource "test_thing" "b" {
  lifecycle {
    ignore_changes = ["computed"]
  }
}
resource "test_thing" "c" {
  lifecycle {
    ignore_changes = [computed.x, nope]
  }
}
data "test_data" "d" {
  name = "x"
}
#= plan
resource "test_thing" "a" {
  fails = "warn"
}
#= plan
resource "test_thing" "a" {
  count = 2
  fails = "warn"
}
resource "test_thing" "b" {
  for_each = toset(["x", "y"])
  fails    = "warn"
  name     = each.key
}
#= plan
variable "v" {
  default = "warn"
}
resource "test_thing" "a" {
  count = 2
  fails = var.v
}
resource "test_thing" "b" {
  name  = test_thing.a[0].id
  fails = "warn"
}
#= file mod/main.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
variable "n" {
  default = 1
}
resource "test_thing" "a" {
  count = var.n
  fails = "warn"
}
#= plan
module "m" {
  source = "./mod"
  count  = 2
  n      = 2
}
#= plan
module "m" {
  source = "./mod"
}
resource "test_thing" "b" {
  fails = "plan"
}
resource "test_thing" "c" {
  fails = "warn"
  lifecycle {
    precondition {
      condition     = module.m != null
      error_message = "x"
    }
  }
}
#= validate
resource "test_thing" "a" {
  old = "x"
}
resource "test_thing" "b" {
  count = 2
  name  = "${test_thing.a.old}${test_thing.a.old}"
  lifecycle {
    replace_triggered_by = [test_thing.a.old]
  }
}
output "o" {
  value = test_thing.a.old
}
check "c" {
  assert {
    condition     = test_thing.a.old != ""
    error_message = "old is ${test_thing.a.old}"
  }
}
module "m" {
  source = "./mod"
  n      = test_thing.a.old
}
