#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
ephemeral "test_token" "each" {
  for_each = { a = "x", b = "y" }
  name     = each.value
}
ephemeral "test_token" "counted" {
  count = 2
  name  = "n${count.index}"
}
resource "test_nested" "map" {
  map = { for k, t in ephemeral.test_token.each : k => { password = t.token, text = k } }
}
resource "test_nested" "list" {
  list = [for t in ephemeral.test_token.counted : { password = t.token, text = "x" }]
}
output "keys" {
  value = keys(ephemeral.test_token.each)
}
output "number" {
  value = length([for t in ephemeral.test_token.counted : t.token])
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
ephemeral "test_token" "each" {
  for_each = { a = "x", b = "y" }
  name     = each.value
}
output "token" {
  value = ephemeral.test_token.each["a"].token
}
