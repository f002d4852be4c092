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
moved {
  from = module.m.test_thing.a
  to   = test_thing.z
}
resource "test_thing" "z" {
  name  = "a"
  value = ""
}
