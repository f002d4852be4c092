#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_blocks" "a" {
  name = "a"
  dynamic "nothing" {
    for_each = ["x"]
    content {
    }
  }
}
