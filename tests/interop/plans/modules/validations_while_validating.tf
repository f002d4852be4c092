#= file child/main.tf
variable "test" {
  type = string
  validation {
    condition     = var.test != "nope"
    error_message = "This is nope."
  }
}
output "o" {
  value = var.test
  precondition {
    condition     = var.test != "nope"
    error_message = "Here it could be anything."
  }
}
#= validate
variable "given" {
  default = "nope"
}
locals {
  l = "nope"
}
module "constant" {
  source = "./child"
  test   = "nope"
}
module "local" {
  source = "./child"
  test   = local.l
}
module "given" {
  source = "./child"
  test   = var.given
}
module "counted" {
  source = "./child"
  count  = 2
  test   = "nope"
}
module "each" {
  source   = "./child"
  for_each = toset(["nope"])
  test     = each.key
}
