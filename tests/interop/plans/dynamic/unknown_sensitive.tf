#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "t" {
  name = "t"
}
locals {
  some = sensitive(split(",", test_thing.t.id))
}
resource "test_blocks" "a" {
  name = "a"
  dynamic "single" {
    for_each = local.some
    content {
      text = "x"
    }
  }
  dynamic "list" {
    for_each = local.some
    content {
      text = "x"
    }
  }
}
output "list" {
  value = test_blocks.a.list
}
