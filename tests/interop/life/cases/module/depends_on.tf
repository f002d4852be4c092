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
#< create xb, create ya
module "x" {
  source = "./m"
  p      = "x"
}
module "y" {
  source = "./m"
  p      = "y"
  depends_on = [module.x]
}
#= apply
module "x" {
  source = "./m"
  p      = "x"
  f = "1"
}
module "y" {
  source = "./m"
  p      = "y"
  depends_on = [module.x]
  f = "1"
}
#= apply -destroy
#< delete yb-1, delete xb-1, delete xa-2
