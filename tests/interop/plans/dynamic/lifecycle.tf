#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_blocks" "a" {
  name = "a"
  dynamic "lifecycle" {
    for_each = ["x"]
    content {
      prevent_destroy = true
    }
  }
}
