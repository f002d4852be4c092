#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_blocks" "a" {
  for_each = { x = ["p"], y = ["q", "r"] }
  name     = each.key
  dynamic "list" {
    for_each = each.value
    content {
      text = "${each.key} ${list.value}"
    }
  }
}
