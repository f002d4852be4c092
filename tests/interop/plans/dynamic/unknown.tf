#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "t" {
  name = "t"
}
resource "test_blocks" "list" {
  name = "a"
  dynamic "list" {
    for_each = [test_thing.t.id]
    content {
      text = list.value
    }
  }
}
resource "test_blocks" "sets" {
  name = "b"
  dynamic "set" {
    for_each = toset([test_thing.t.id])
    content {
      text = set.value
    }
  }
}
resource "test_blocks" "lists" {
  name = "c"
  dynamic "list" {
    for_each = toset([test_thing.t.id])
    content {
      text = "fixed"
    }
  }
}
#= plan
