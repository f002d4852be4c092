#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  name = "x"
}
resource "test_thing" "each" {
  for_each  = { a = ephemeral.test_token.a.token }
  name      = each.key
  secret_wo = each.value
}
resource "test_nested" "deep" {
  list = [{ inner = [{ password = ephemeral.test_token.a.token }] }]
}
resource "test_blocks" "deep" {
  map "k" {
    inner "l" {
      password = ephemeral.test_token.a.token
    }
  }
  dynamic "list" {
    for_each = ["a"]
    content {
      password = "${list.value}${ephemeral.test_token.a.token}"
    }
  }
}
output "null" {
  value = ephemeralasnull(ephemeral.test_token.a.token)
}
output "partly" {
  value = ephemeralasnull({ a = ephemeral.test_token.a.token, b = 1 })
}
output "applying" {
  value = ephemeralasnull(terraform.applying)
}
#= plan
