#= file m/main.tf
variable "name" {
  type = string
}
resource "test_thing" "a" {
  name = var.name
}
output "chosen" {
  value = test_thing.a.chosen
}
#= apply
module "m" {
  source = "./m"
  count  = 2
  name   = "a${count.index}"
}
resource "test_thing" "b" {
  name  = "b"
  value = module.m[1].chosen
}
#= world a0-1 chosen=other
#= world a1-1 chosen=other
#= plan
#= apply
