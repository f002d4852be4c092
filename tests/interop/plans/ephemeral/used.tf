#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "terraform_data" "u" {
  input = "x"
}
ephemeral "test_token" "known" {
  name = "known"
}
ephemeral "test_token" "later" {
  name = terraform_data.u.id
}
ephemeral "test_token" "chained" {
  count = 2
  name  = ephemeral.test_token.later.token
}
ephemeral "test_token" "unused" {
  name = "unused"
}
resource "test_thing" "a" {
  name              = "a"
  secret_wo         = ephemeral.test_token.known.token
  secret_wo_version = 1
}
resource "test_thing" "b" {
  name              = "b"
  secret_wo         = ephemeral.test_token.chained[1].token
  secret_wo_version = 1
}
#= plan
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "terraform_data" "u" {
  input = "x"
}
