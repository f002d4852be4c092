#= file child/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "it" {
  name = "it"
}
#= apply
module "child" {
  source = "./child"
}
#= plan
