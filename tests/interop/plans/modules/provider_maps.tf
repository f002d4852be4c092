#= file child/main.tf
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
  providers = {
    test  = test
    other = test
  }
}
#= validate
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
}
module "child" {
  source = "./child"
  providers = {
    test = random
  }
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source = "./child"
  providers = {
    test = test
    null = null
  }
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source = "./child"
  providers = {
    test = test.a.b
  }
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source    = "./child"
  providers = [test]
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source = "./child"
  providers = {
    test = test
    test = test
  }
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
module "child" {
  source = "./child"
  providers = {
    "test" = test
  }
}
