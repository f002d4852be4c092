#= plan
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "test" {
    module = [1]
  }
}
resource "test_thing" "a" {}
