#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_blocks" "a" {
  name = "a"
  dynamic "list" {
    for_each = { x = ["p", "q"], y = [] }
    iterator = outer
    content {
      text = outer.key
      dynamic "inner" {
        for_each = outer.value
        iterator = deep
        content {
          text = "${outer.key}.${deep.value}"
        }
      }
    }
  }
}
