#= plan -generate-config-out=gen.tf
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
locals {
  parts = ["a", "b"]
}
resource "random_pet" "first" {
  length = 1
}
import {
  to = random_pet.p
  id = join("-", local.parts)
}
#= plan -generate-config-out=gen.tf
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
resource "random_pet" "first" {
  length = 1
}
import {
  to = random_pet.p
  id = random_pet.first.id
}
