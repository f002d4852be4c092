#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "t" {
  name = "t"
}
locals {
  # Once it is known, there is one.
  some = split(",", test_thing.t.id)
  none = []
}
resource "test_blocks" "single" {
  name = "a"
  dynamic "single" {
    for_each = local.some
    content {
      text = "x"
      inner {
        text = "x"
      }
    }
  }
}
resource "test_blocks" "group" {
  name = "b"
  dynamic "group" {
    for_each = local.some
    content {
      dynamic "inner" {
        for_each = local.some
        content {
          text = "y"
        }
      }
    }
  }
}
resource "test_blocks" "never" {
  name = "c"
  dynamic "list" {
    for_each = test_thing.t.id == "" ? [1] : []
    content {
      text = local.none[0]
      inner {
        number = "none"
      }
    }
  }
}
resource "test_strict" "must" {
  name   = "d"
  needed = "x"
  dynamic "one" {
    for_each = local.some
    content {
      needed = "x"
    }
  }
  dynamic "must" {
    for_each = local.some
    content {
      needed = "x"
    }
  }
}
output "text" {
  value = test_blocks.single.single.text
}
#= plan
