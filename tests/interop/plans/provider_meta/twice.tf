#= validate
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "test" {
    module = "x"
  }
  provider_meta "test" {
    module = "y"
  }
}
#= plan
