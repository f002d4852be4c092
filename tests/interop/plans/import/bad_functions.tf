#= validate
import {
  for_each = { a = "x" }
  to       = terraform_data.a[upper(each.key)]
  id       = "x"
}
resource "terraform_data" "a" {
  for_each = toset(["A"])
}
