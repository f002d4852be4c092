#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

variable "s" {
  default   = "s"
  sensitive = true
}
ephemeral "test_token" "a" {
  name = var.s
}
resource "test_thing" "a" {
  secret_wo = ephemeral.test_token.a.secret
  tags      = { k = nonsensitive(ephemeralasnull(ephemeral.test_token.a.secret)) }
}
