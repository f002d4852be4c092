#= file m/main.tf
resource "test_thing" "a" {
  name = "a"
}
output "id" {
  value = test_thing.a.id
}
#= apply
module "m" {
  source = "./m"
}
resource "test_thing" "y" {
  name  = "y"
  value = module.m.id
}
#= apply -destroy
#< delete y-1, delete a-1
moved {
  from = module.m
  to   = module.n
}
module "n" {
  source = "./m"
}
resource "test_thing" "y" {
  name  = "y"
  value = module.n.id
}
