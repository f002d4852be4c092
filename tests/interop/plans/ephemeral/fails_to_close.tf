#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  name  = "x"
  fails = "close"
}
resource "test_thing" "p" {
  secret_wo = ephemeral.test_token.a.token
}
