#= validate
import {
  for_each = { a = "x" }
  to       = terraform_data.a[local.x]
  id       = "x"
}
locals {
  x = "a"
}
resource "terraform_data" "a" {
  for_each = toset(["a"])
}
