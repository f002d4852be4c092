#= file child/main.tf
variable "trigger" {}
resource "terraform_data" "a" {
  triggers_replace = var.trigger
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
output "id" {
  value = terraform_data.a.id
}
#= apply
module "m" {
  source  = "./child"
  trigger = 1
}
module "n" {
  source  = "./child"
  trigger = module.m.id
}
resource "terraform_data" "end" {
  triggers_replace = module.n.id
}
#= apply
module "m" {
  source  = "./child"
  trigger = 2
}
module "n" {
  source  = "./child"
  trigger = module.m.id
}
resource "terraform_data" "end" {
  triggers_replace = module.n.id
}
#= apply -destroy
