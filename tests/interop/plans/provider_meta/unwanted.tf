#= validate
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "random" {
    module = "root"
  }
  provider_meta "nobody" {
    module = "root"
  }
}
resource "random_pet" "a" {}
#= plan
