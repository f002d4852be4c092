#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
variable "v" {
  sensitive = true
  default   = "hush"
}
resource "test_blocks" "a" {
  name = "a"
  dynamic "list" {
    for_each = [var.v]
    content {
      text = list.value
    }
  }
}
