#= file m/main.tf
variable "x" {
}
locals {
  l = tonumber(var.x)
}
#= apply
resource "test_thing" "a" {
  name = "a"
}
module "m" {
  source = "./m"
  x = test_thing.a.id
}
module "n" {
  source = "./m"
  for_each = toset([for k in ["q"] : "${k}"])
  x = test_thing.a.id
}
locals {
  q = tonumber(test_thing.a.id)
}
#= plan
