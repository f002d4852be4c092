#= file child/main.tf
variable "name" {}
resource "terraform_data" "it" {
  input = "hello ${var.name}"
}
output "greeting" {
  value = terraform_data.it.output
}
output "name" {
  value = var.name
}
#= apply
module "greeter" {
  source = "./child"
  name   = "world"
}
output "said" {
  value = module.greeter.greeting
}
output "name" {
  value = module.greeter.name
}
output "whole" {
  value = module.greeter
}
#= plan
#= apply
module "greeter" {
  source = "./child"
  name   = "moon"
}
output "said" {
  value = module.greeter.greeting
}
