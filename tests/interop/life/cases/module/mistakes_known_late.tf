#= file m/main.tf
variable "x" {
  validation {
    condition = var.x != "a-1"
    error_message = "invalid late"
  }
}
locals {
  l = tonumber(var.x)
}
output "y" {
  value = tonumber(var.x)
}
#= apply
resource "test_thing" "a" {
  name = "a"
}
module "m" {
  source = "./m"
  x = test_thing.a.id
}
#= plan
