#= file child/main.tf
module "deep" {
  source = "./deep"
  providers = {
    test = test
  }
}
#= file child/deep/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "it" {
  name = "it"
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
#= file child/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "deep" {
  source = "./deep"
  providers = {
    test = test
  }
}
#= validate
#= plan
