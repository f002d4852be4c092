#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

provider "test" {
  alias = "opener"
}
ephemeral "test_token" "a" {
  provider = test.opener
  name     = "a"
}
provider "test" {
  value  = ephemeral.test_token.a.token
  secret = ephemeral.test_token.a.secret
}
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "a" {
  name = "a"
}
#= plan
