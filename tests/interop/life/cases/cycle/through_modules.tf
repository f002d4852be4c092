#= file m/main.tf
variable "in" {}
resource "test_thing" "x" {
  name  = "x"
  value = var.in
}
output "out" {
  value = test_thing.x.id
}
#= plan
module "m" {
  source = "./m"
  in     = test_thing.a.id
}
resource "test_thing" "a" {
  name  = "a"
  value = module.m.out
}
