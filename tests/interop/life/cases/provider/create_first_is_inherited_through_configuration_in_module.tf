#= file m/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
variable "forced" {
  default = null
}
resource "test_thing" "in" {
  name   = "in"
  forced = var.forced
}
output "id" {
  value = test_thing.in.id
}
#= apply
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "a" {
  name = "a"
}
provider "test" {
  alias = "late"
  value = test_thing.a.id
}
module "m" {
  source    = "./m"
  providers = { test = test.late }
}
resource "test_thing" "last" {
  name  = "last"
  value = module.m.id
  lifecycle {
    create_before_destroy = true
  }
}
#= plan
#= apply
#< create a, create in
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
provider "test" {
  alias = "late"
  value = test_thing.a.id
}
module "m" {
  source    = "./m"
  providers = { test = test.late }
  forced    = "1"
}
resource "test_thing" "last" {
  name   = "last"
  value  = module.m.id
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
#= plan
#= apply -destroy
