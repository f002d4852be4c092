#= plan -generate-config-out=gen.tf
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
provider "random" {
  alias = "other"
}
import {
  to       = random_pet.p
  id       = "a-b"
  provider = random.other
}
