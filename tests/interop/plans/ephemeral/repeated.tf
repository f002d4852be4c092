#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

locals {
  keys = toset(["a", "b"])
}
ephemeral "test_token" "each" {
  for_each = local.keys
  name     = each.key
  value    = { k = each.value }
}
ephemeral "test_token" "none" {
  count = 0
  name  = "none"
}
resource "test_thing" "a" {
  for_each  = local.keys
  name      = each.key
  secret_wo = ephemeral.test_token.each[each.key].echo.k
}
locals {
  all = [for token in values(ephemeral.test_token.each) : token.token]
}
resource "test_thing" "b" {
  name      = "b"
  secret_wo = join(",", local.all)
}
output "length" {
  value = test_thing.b.secret_wo_length
}
