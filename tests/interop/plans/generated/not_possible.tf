#= plan -generate-config-out=gen.tf
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
import {
  to = random_pet.p["a"]
  id = "a-b"
}
import {
  to = random_pet.q[0]
  id = "a-b"
}
#= plan -generate-config-out=gen.tf -destroy
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
#= plan -generate-config-out=gen.tf -refresh-only
