#= file child/main.tf
terraform {
  required_providers {
    one = { source = "formwork/test" }
    two = { source = "formwork/test" }
  }
}
resource "test_thing" "it" {
  provider = one
  name     = "it"
}
#= validate
terraform {
  required_providers {
    mine = { source = "hashicorp/null" }
    test = { source = "formwork/test" }
  }
}
resource "null_resource" "x" {}
provider "null" {}
module "child" {
  source = "./child"
}
