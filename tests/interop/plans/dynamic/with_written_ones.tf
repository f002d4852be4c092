#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_blocks" "a" {
  name = "a"
  list {
    text = "first"
  }
  dynamic "list" {
    for_each = ["second", "third"]
    content {
      text = list.value
    }
  }
  list {
    text = "fourth"
  }
}
