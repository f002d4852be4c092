#= file m/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
  provider_meta "test" {
    module = 5
  }
}
resource "test_thing" "b" {
  count = 2
  name  = "b"
}
#= apply
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "test" {
    module = "root"
  }
}
resource "test_thing" "a" { name = "a" }
data "test_data" "d" {
  name = test_thing.a.id
}
module "m" {
  source = "./m"
}
#= plan -destroy
#= apply -destroy
