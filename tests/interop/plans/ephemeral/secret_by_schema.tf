#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  name = "n"
}
resource "test_thing" "a" {
  secret_wo = ephemeral.test_token.a.secret
}
resource "terraform_data" "a" {
  input = {
    secret       = ephemeralasnull(ephemeral.test_token.a.secret)
    is_sensitive = issensitive(ephemeralasnull(ephemeral.test_token.a.secret))
  }
}
output "secret" {
  value = ephemeralasnull(ephemeral.test_token.a.secret)
}
