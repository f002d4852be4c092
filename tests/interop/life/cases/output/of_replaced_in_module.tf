#= file m/main.tf
variable "f" {}
resource "test_thing" "a" {
  name   = "a"
  forced = var.f
}
output "id" {
  value = test_thing.a.id
}
#= apply
module "m" {
  source = "./m"
  f      = "1"
}
output "id" {
  value = module.m.id
}
#= apply
module "m" {
  source = "./m"
  f      = "2"
}
output "id" {
  value = module.m.id
}
