#= plan
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "test" {
    nope = "x"
  }
}
resource "test_thing" "a" {}
