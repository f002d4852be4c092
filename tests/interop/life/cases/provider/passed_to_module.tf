#= file m/main.tf
terraform {
  required_providers {
    test = {
      source                = "formwork/test"
      configuration_aliases = [test.inner]
    }
  }
}
resource "test_thing" "a" {
  provider = test.inner
  name     = "a"
}
#= file required.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
#= apply
provider "test" {
  alias = "x"
  value = "x"
}
module "m" {
  source    = "./m"
  providers = { test.inner = test.x }
}
#= apply
provider "test" {
  alias = "x"
  value = "x"
}
