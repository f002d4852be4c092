#= file child/main.tf
variable "x" {
  default = 1
}
#= validate
module "a" {
  source = "./child"
  thing {
    x = 1
  }
}
#= validate
module "a" {
  source = "./child"
  lifecycle {
    create_before_destroy = true
  }
  locals {}
  provider "x" {}
}
#= validate
module "a" {
  source   = "./child"
  count    = 1
  for_each = {}
}
#= validate
module "a" {
  count = 1
}
#= validate
module "a-ü b" {
  source = "./child"
}
module "a" {
  source = "./child"
}
module "a" {
  source = "./child"
}
