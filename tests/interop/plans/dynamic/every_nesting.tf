#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
locals {
  items = ["one", "two"]
}
resource "test_blocks" "a" {
  name = "a"
  dynamic "single" {
    for_each = [1]
    content {
      text = "x"
    }
  }
  dynamic "list" {
    for_each = local.items
    content {
      text = "${list.key}-${list.value}"
    }
  }
  dynamic "set" {
    for_each = toset(local.items)
    content {
      text = set.value
    }
  }
  dynamic "map" {
    for_each = { a = "x", b = "y" }
    labels   = [map.key]
    content {
      text = map.value
    }
  }
}
#= plan
