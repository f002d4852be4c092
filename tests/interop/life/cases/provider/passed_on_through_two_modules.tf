#= file inner/main.tf
terraform {
  required_providers {
    test = {
      source                = "formwork/test"
      configuration_aliases = [test.deep]
    }
  }
}
variable "name" {}
resource "test_thing" "in" {
  provider = test.deep
  name     = var.name
}
resource "terraform_data" "d" {
  input            = test_thing.in.id
  triggers_replace = test_thing.in.forced
}
output "d" {
  value = terraform_data.d.output
}
#= file outer/main.tf
terraform {
  required_providers {
    test = {
      source                = "formwork/test"
      configuration_aliases = [test.left, test.right]
    }
  }
}
module "i" {
  source    = "../inner"
  count     = 2
  name      = "in${count.index}"
  providers = { test.deep = test.left }
}
output "ds" {
  value = module.i[*].d
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  value = "default"
}
provider "test" {
  alias = "other"
  value = "other"
}
module "o" {
  source    = "./outer"
  providers = { test.left = test.other, test.right = test }
}
output "ds" {
  value = module.o.ds
}
#= plan
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  value = "default"
}
provider "test" {
  alias = "other"
  value = "other"
}
module "o" {
  source    = "./outer"
  providers = { test.left = test, test.right = test.other }
}
output "ds" {
  value = module.o.ds
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  value = "default"
}
