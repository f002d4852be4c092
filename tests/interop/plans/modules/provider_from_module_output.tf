#= file child/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "it" {
  name = "base"
}
output "name" {
  value = test_thing.it.name
}
output "id" {
  value = test_thing.it.id
}
#= file user/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "it" {
  name = "user"
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "base" {
  source = "./child"
  count  = 2
}
provider "test" {
  alias = "configured"
  value = [module.base[0].name, module.base[1].id]
}
module "user" {
  source = "./user"
  providers = {
    test = test.configured
  }
}
#= apply -destroy
