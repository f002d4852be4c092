#= file child/main.tf
terraform {
  required_providers {
    test = {
      source                = "formwork/test"
      configuration_aliases = [test.extra]
    }
  }
}
resource "test_thing" "extra" {
  provider = test.extra
  name     = "extra"
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
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
module "child" {
  source = "./child"
  providers = {
    test.extra = test.nowhere
  }
}
#= plan
