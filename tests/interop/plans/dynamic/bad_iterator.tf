#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_blocks" "a" {
  name = "a"
  dynamic "list" {
    for_each = ["x"]
    iterator = "it"
    content {
      text = it.value
    }
  }
}
