#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_blocks" "a" {
  _ {
    name = "a"
    list {
      text = "x"
    }
    dynamic "list" {
      for_each = ["y"]
      content {
        text = list.value
      }
    }
  }
}
