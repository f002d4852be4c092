#= file child/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
variable "value" {}
provider "test" {
  value = var.value
}
provider "test" {
  alias = "other"
  value = "other ${var.value}"
}
resource "test_thing" "it" {
  name = "it"
}
resource "test_thing" "other" {
  provider = test.other
  name     = "other"
}
module "deep" {
  source = "./deep"
}
#= file child/deep/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "deep" {
  name = "deep"
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source = "./child"
  value  = "given"
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source = "./child"
  count  = 1
  value  = "given"
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source     = "./child"
  value      = "given"
  depends_on = [test_thing.x]
}
resource "test_thing" "x" {
  name = "x"
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source = "./child"
  value  = "given"
  providers = {
    test = test
  }
}
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
#= apply -destroy
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source = "./child"
  value  = "given"
}
