#= validate
terraform {
  required_providers {
    test   = { source = "formwork/test" }
    random = { source = "hashicorp/random" }
  }
  provider_meta "test" {
    module = var.v
  }
  provider_meta "random" {
    module = upper("x")
  }
  provider_meta "TEST" {
    module = "x"
  }
}
variable "v" { default = "x" }
#= plan
