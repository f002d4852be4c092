#= plan
import {
  for_each = toset([terraform_data.b.id])
  to       = terraform_data.a[each.key]
  id       = each.key
}
resource "terraform_data" "a" {
  for_each = toset(["x"])
}
resource "terraform_data" "b" {}
#= validate
