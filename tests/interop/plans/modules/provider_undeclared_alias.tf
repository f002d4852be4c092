#= file child/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "it" {
  provider = test.nowhere
  name     = "it"
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  alias = "nowhere"
}
module "child" {
  source = "./child"
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  alias = "nowhere"
}
module "child" {
  source = "./child"
  providers = {
    test.nowhere = test.nowhere
  }
}
