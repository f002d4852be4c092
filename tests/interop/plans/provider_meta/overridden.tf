#= file a_override.tf
terraform {
  provider_meta "test" {
    nope = "y"
  }
}
#= plan
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "test" {
    module = "x"
  }
}
resource "test_thing" "a" {}
