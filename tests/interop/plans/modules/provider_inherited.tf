#= file child/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "it" {
  name = "child"
}
module "deep" {
  source = "./deep"
}
#= file child/deep/main.tf
terraform {
  required_providers {
    renamed = { source = "formwork/test", version = ">= 0.0.0" }
  }
}
resource "test_thing" "it" {
  provider = renamed
  name     = "deep"
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
#= plan
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  alias = "other"
}
module "child" {
  source = "./child"
}
