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
resource "test_thing" "c" {
  name   = "c"
  forced = "1"
  value  = module.x.id
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
#< create xa, update xb-1, create c, delete c-1, delete xa-1
module "x" {
  source = "./m"
  p      = "x"
  f = "1"
}
resource "test_thing" "c" {
  name   = "c"
  forced = "2"
  value  = module.x.id
  lifecycle {
    create_before_destroy = true
  }
}
