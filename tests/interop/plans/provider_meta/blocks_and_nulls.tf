#= validate
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "test" {
    module {
    }
  }
}
#= apply
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "test" {
    module = null
  }
}
resource "test_thing" "a" {}
#= apply
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "test" {
  }
}
resource "test_thing" "a" {}
#= plan
terraform {
  required_providers {
    test   = { source = "formwork/test" }
  }
  provider_meta {
  }
  provider_meta "test" "x" {
  }
}
