#= file child/main.tf
provider "test" {}
provider "test" {
  alias = "slot"
}
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "it" {
  name = "it"
}
resource "test_thing" "slot" {
  provider = test.slot
  name     = "slot"
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  value = "root"
}
module "child" {
  source = "./child"
  providers = {
    test      = test
    test.slot = test
  }
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  value = "root"
}
module "child" {
  source = "./child"
}
