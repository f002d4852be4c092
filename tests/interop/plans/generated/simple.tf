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
import {
  to = test_thing.t
  id = "id of x"
}
import {
  to = random_pet.written
  id = "c-d"
}
resource "random_pet" "written" {}
#= validate
#= plan
