#= plan
#= validate
locals {
  names = sensitive(toset(["x"]))
}
import {
  for_each = local.names
  to       = terraform_data.a[each.value]
  id       = each.key
}
resource "terraform_data" "a" {
  for_each = toset(["x"])
}
