#= file child/main.tf
variable "trigger" {}
resource "terraform_data" "a" {
  triggers_replace = var.trigger
}
resource "terraform_data" "b" {
  triggers_replace = terraform_data.a.id
}
output "id" {
  value = terraform_data.b.id
}
#= file user/main.tf
variable "id" {}
resource "terraform_data" "user" {
  triggers_replace = var.id
  lifecycle {
    create_before_destroy = true
  }
}
#= apply
module "m" {
  source  = "./child"
  trigger = 1
}
module "user" {
  source = "./user"
  id     = module.m.id
}
#= apply
module "m" {
  source  = "./child"
  trigger = 2
}
module "user" {
  source = "./user"
  id     = module.m.id
}
#= apply
module "m" {
  source  = "./child"
  trigger = 2
}
#= apply
