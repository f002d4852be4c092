#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_blocks" "a" {
  name = "a"
  dynamic "single" {
    for_each = ["x", "y"]
    content {
      text = single.value
    }
  }
}
