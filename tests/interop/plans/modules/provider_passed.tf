#= file child/main.tf
terraform {
  required_providers {
    test = {
      source                = "formwork/test"
      configuration_aliases = [test.extra]
    }
  }
}
resource "test_thing" "plain" {
  name = "plain"
}
resource "test_thing" "extra" {
  provider = test.extra
  name     = "extra"
}
module "deep" {
  source = "./deep"
  providers = {
    mine = test.extra
  }
}
#= file child/deep/main.tf
terraform {
  required_providers {
    mine = { source = "formwork/test" }
  }
}
resource "test_thing" "deep" {
  provider = mine
  name     = "deep"
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  alias = "one"
  value = 1
}
provider "test" {
  alias = "two"
  value = 2
}
module "child" {
  source = "./child"
  providers = {
    test       = test.one
    test.extra = test.two
  }
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  alias = "one"
  value = 1
}
provider "test" {
  alias = "two"
  value = 2
}
module "child" {
  source = "./child"
  count  = 2
  providers = {
    test       = test.two
    test.extra = test.one
  }
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  alias = "one"
}
#= plan -destroy
