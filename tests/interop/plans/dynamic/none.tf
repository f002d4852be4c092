#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_blocks" "a" {
  name = "a"
  dynamic "list" {
    for_each = []
    content {
      text = list.value
    }
  }
  dynamic "single" {
    for_each = toset([])
    content {
      text = single.value
    }
  }
}
