#= plan
import {
  for_each = toset(["a", "b"])
  to       = terraform_data.c[each.key]
  id       = "x"
}
resource "terraform_data" "c" {
  for_each = toset(["a"])
}
#= validate
