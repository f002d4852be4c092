#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  name  = "x"
  fails = "validate"
}
resource "test_thing" "p" {
  secret_wo = ephemeral.test_token.a.token
}
