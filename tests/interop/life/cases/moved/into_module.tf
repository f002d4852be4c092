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
resource "test_thing" "a" {
  name   = "a"
  value  = ""
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply
moved {
  from = test_thing.a
  to   = module.m.test_thing.a
}
module "m" {
  source = "./m"
}
resource "test_thing" "b" {
  name  = "b"
  value = module.m.id
}
#= apply
#< delete b-1, delete a-1
locals {}
