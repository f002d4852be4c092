#= file m/main.tf
variable "f" {
  default = null
}
variable "on" {
  default = null
}
variable "p" {
  default = ""
}
resource "test_thing" "a" {
  name   = "${var.p}a"
  forced = var.f
  value  = var.on
}
resource "test_thing" "b" {
  name  = "${var.p}b"
  value = test_thing.a.id
}
output "id" {
  value = test_thing.b.id
}
#= apply
module "x" {
  source = "./m"
  p      = "x"
}
module "y" {
  source = "./m"
  p      = "y"
  on = module.x.id
}
#= apply
#< delete yb-1, delete ya-1
module "x" {
  source = "./m"
  p      = "x"
}
#= apply
#< delete xb-1, delete xa-1
locals {}
