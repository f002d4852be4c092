#= plan -generate-config-out=gen.tf
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
import {
  to = random_pet.p
  id = "a-b"
}
output "o" {
  value = random_pet.p.id
}
