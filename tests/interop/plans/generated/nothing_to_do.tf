#= plan -generate-config-out=gen.tf
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
output "o" {
  value = 1
}
#= plan -generate-config-out=gen.tf -target=random_pet.other
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
