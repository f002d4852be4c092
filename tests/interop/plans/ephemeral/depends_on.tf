#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

resource "test_thing" "first" {
  name = "first"
}
ephemeral "test_token" "a" {
  name       = "x"
  depends_on = [test_thing.first]
}
resource "test_thing" "second" {
  name       = "second"
  depends_on = [ephemeral.test_token.a]
}
#= plan
