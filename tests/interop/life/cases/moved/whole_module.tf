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
  from = module.m
  to   = module.n["k"]
}
module "n" {
  source   = "./m"
  for_each = toset(["k", "l"])
}
#= apply
moved {
  from = module.n["k"]
  to   = module.o
}
moved {
  from = module.n["l"]
  to   = module.p
}
module "o" {
  source = "./m"
}
module "p" {
  source = "./m"
}
