#= file child/main.tf
variable "a" {}
variable "b" {}
output "a" {
  value = "${var.a}!"
}
output "b" {
  value = "${var.b}!"
}
#= apply
module "m" {
  source = "./child"
  a      = "start"
  b      = module.m.a
}
output "b" {
  value = module.m.b
}
#= plan
module "m" {
  source = "./child"
  count  = 1
  a      = "start"
  b      = module.m[0].a
}
