#= file m/main.tf
variable "on" {
  default = ""
}
resource "test_thing" "a" {
  name  = "a"
  value = var.on
}
output "id" {
  value = test_thing.a.id
}
#= apply
module "m" {
  source = "./m"
}
#= apply
removed {
  from = module.m
  lifecycle {
    destroy = false
  }
}
